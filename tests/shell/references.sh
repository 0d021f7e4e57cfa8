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
### references to themselves in functions
x=1; f() { declare -n x=x; echo "[$x]"; x=2; declare -p x; }; f; echo $x
declare -n s=s; echo $?; declare -n t=t[0]; echo $?; declare -n u=ab; declare -n u+=c; declare -p u; declare -n v=w v+=[@]; declare -p v
g() { local -n a=$1; a=X; declare -p a; }; a=(0); g a; declare -p a
### elements through references
declare -n r=q[0]; r[1]=x; echo $?; r+=([2]=y); echo $?; r=(); echo $?; mapfile r < /dev/null; echo $?; read -a r <<< a; echo $?; declare -p r
declare -n e; e[0]=x; echo $?; declare -p e; e=(1 2); declare -p e
declare -n w='k[@]'; w=1; echo $?; declare -p k
declare -n b=arr; arr=(1 2 3); declare -n c='b[1]'; echo "$c"; c=5; declare -p arr b
### references that end when they become arrays
declare -n r; declare -a r[1]=one; declare -p r; declare -n t=array; declare -a t[1]=one; declare -p t
declare -n a=b b; b='a[1]'; a=foo; declare -p a b
declare -n c=d d; d='c[1]'; declare c=foo; declare -p c d
declare -n n; declare -a n; declare -p n; n[0]=7; declare -p n
### declarations on references
declare -n r[3]=x; echo $?; declare -n r='(a b)'; echo $?; declare -n q=(1 2); echo $?; declare -p q
declare -n x; declare x=42; echo $?; declare -p x; declare -n y; declare -i y=7*6; echo $?; declare -p y; declare -n z; declare z=ok; declare -p z
f() { declare -n l; declare l=5x; echo $?; declare -p l; }; f
declare -nx e=var; declare -p e; var=1; env | grep -E '^(e|var)='
k=1; declare -in j='k'; echo $?; declare -p j; declare -n m='k[0]'; declare -ni m; declare -p m; m+=2; declare -p k
readonly n=5; declare -n o='v[0]'; readonly o; echo $?; declare -p o
declare -rn u; declare +r u; echo $?; declare +n u; declare -p u; declare -rn ro=pp; readonly pp; declare +r ro; echo $?
### declarations in functions follow the references of the call
f() { declare -n r=v; declare r=(X); declare -p r v; }; f; declare -p r v
f() { declare -n r=v; declare -a r; r=(X); declare -p r v; }; f; declare -p r v
f() { local -n r=v; local -A r=([1]=); declare -p r v; }; v=0; f; declare -p v
f() { local -n r=v; local -i r=1+1; declare -p r v; }; f
declare -n r=glob; f() { declare -n r=v; declare -g r=(X); declare -p r; }; f; declare -p glob; unset -n r
declare -n r=v; f() { local r=Y; declare -p r; }; f; declare -p r
### unset -n of what is no reference
y=2; unset -n y; echo $? $y; declare -n y; echo $?; r=/; declare -n r; echo $?; unset -n r; declare -p r
### names told with the builtin that took them
declare -n a; printf -v a /; echo $?; declare -n b; read b <<< '?'; declare -n c; getopts x c -h; declare -n d; ((d=0)); echo $?; declare -n e; e=/; echo $?
