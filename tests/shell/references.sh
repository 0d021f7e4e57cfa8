### references to references to elements
bar=(one two three four); typeset -n qux='bar[3]'
f() { echo $1 ${!1}; typeset -n s=$1; echo $s; s=x; }
f qux; echo ${bar[@]}; n=qux; echo ${!n}
typeset -n t=qux; echo $t; t=y; echo ${bar[@]} ${t} ${t:0:1} "${t/y/z}"; unset t; echo ${bar[@]}
declare -n a=b; declare -n b='c[1]'; a=foo; declare -p c; a+=x; declare -p c; read a <<< q; declare -p c
((a=5)); declare -p c; echo $((a+1)); printf -v b %s z; declare -p c; declare b=foo; declare -p c b
### taking the reference away with a value
declare -n r=x; declare +n r=y; declare -p r x
declare -n r=x; x=1; typeset +n r=other; declare -p r x
### read-only references
declare -rn r=x; r=3; declare -p r x; declare -n r=y; echo $?; declare +n r; echo $?; unset -n r; echo $?
### what cannot be a reference
x=1; declare -n x; echo $?; declare -p x; y=; declare -n y; echo $?; z=a; declare -n z; z=3; declare -p z a
### loops of references are told once
declare -n a=b; declare -n b=a; echo "[$a]"; [ -n "$a" ]; echo $?; echo ${a-unset} $a; x=$a; echo "$x"
### loops of references and set -u
#@ opts: -u
declare -n a=b; declare -n b=a; (echo "[$a]"; echo not here); echo $?
