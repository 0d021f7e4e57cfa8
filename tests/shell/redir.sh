### heredoc expansions
x=1; cat <<E; cat <<'E'; cat <<"E"; cat <<\E
$x ${x} $((x+1)) $(echo s) \$x \\ "q" 'q' `echo b`
E
$x
E
$x "y"
E
\$x
E
### heredoc tabs and nesting
if true; then
	cat <<-EOF
		a
	  b
	EOF
fi; cat <<A; cat <<B
a
A
b
B
### heredoc in pipeline and function
f() { cat <<E
in $1
E
}; f x; cat <<E | cat
p
E
while read l; do echo "[$l]"; done <<E
1
2
E
### heredoc with fd
cat 3<<E <&3
three
E
exec 4<<<here; cat <&4
### heredoc quotes in expansion
x='a b'; cat <<E
"$x" ${x:+"q"} ${y:-'s'} ${y:-"d"} `echo "$x"`
E
### redirect errors abort only command
cat < nosuch && echo no; echo $?; x=1 > nonexist/f; echo $? "[$x]"; : > nonexist/f; echo $?; eval : > nonexist/f; echo $?; f() { echo in; }; f < nosuch; echo $?; { echo a; } < nosuch; echo $?; (echo a) < nosuch; echo $?; while :; do break; done < nosuch; echo $?
### redirect order and targets
echo a 2>&1 >f; cat f; echo b >f 2>&1; cat f; cat nosuch 2>&1 >/dev/null | wc -l; echo c 1>&2 2>/dev/null; >f echo d; cat f; < f cat; 2>/dev/null nosuch; echo $?
### redirect expansions
f=out; echo a > $f; cat out; echo b > "$f.x"; cat out.x; echo d > $(echo sub); cat sub; echo e > *.x; cat out.x
### fd numbers
exec 20>f; echo a >&20; cat f; exec 20>&-; { echo b >&30; } 30>&1; echo $?
### close stdout
echo a >&-; echo $?; (exec >&-; echo b); echo $?; cat <&- 2>/dev/null; echo $?
### dev files
echo a > /dev/stdout; echo c > /dev/fd/1; cat /dev/null; echo d > /dev/null; cat < /dev/stdin <<< e; echo f | cat /dev/stdin
### read from redirected loops
printf '1\n2\n3\n' > f; while read a; do read b; echo "$a-$b"; done < f; exec 3< f; while read -u 3 x; do echo $x; done; exec 3<&-; { read a; read b; echo $b $a; } < f
### shared offsets
printf 'a\nb\nc\n' > f; { read x; cat; } < f; (read x; echo $x; cat) < f; exec 5<f; read x <&5; (read y <&5; echo $y); read z <&5; echo $x $z
### append and truncate
echo 1 > f; echo 2 >> f; : > g; cat f g; > f; wc -c < f; echo x > f; echo y 1<> f; cat f
### nested redirections restore
{ { echo a; } > f; echo b; } > g; cat f; cat g; f() { echo c; } > h; f; cat h; echo d
### exec in subshell
(exec > f; echo a; exec 2>&1; echo b >&2); cat f; echo c
### exec multiple
exec 3>a 4>b 5>&3; echo x >&3; echo y >&4; echo z >&5; exec 3>&- 4>&- 5>&-; cat a b
### redirect builtins
echo a > f; read x < f; echo $x; pwd > /dev/null; type nosuch 2> e; wc -l < e; eval 'echo q' > f; cat f; . /dev/null > g; command echo z > f; cat f
### redirect assignment only
x=5 > f; echo $x; ls f; > new; ls new; y=$(echo err >&2) 2> e; cat e; echo done
### varredir forms
exec {a}>f {b}<&0; echo $((a>9 && b>9)); echo hi >&$a; exec {a}>&-; cat f; exec {arr[2]}>g; echo yo >&${arr[2]}; cat g; : {c}>h; echo k >&$c; cat h
### varredir close option
shopt -s varredir_close; : {c}>h; echo k >&$c; echo $?
### here string forms
cat <<< "a
b"; cat <<< 'x'"y"; cat <<< $'t\tt'; x='a  b'; cat <<< $x; cat <<< ""; read -r a b <<< 'p q r'; echo "$b"
### dup to itself
exec 3>f; echo a 3>&3 >&3; exec 3>&3; echo b >&3; cat f
### noclobber details
set -o noclobber; echo a > f; echo b > f; echo $?; echo c >> f; echo d >| f; cat f; echo e > /dev/null; echo $?; echo x &> f; echo $?; : <> f; echo $?
### input from directory
cat < . ; echo $?; read x < .; echo $?
### output to directory
echo a > .; echo $?; echo b >> ./; echo $?
### pipe both
{ echo o; echo e >&2; } |& cat | sort; { echo o; echo e >&2; } 2>/dev/null |& cat | sort
### dev tcp refused
#@ err: any
exec 3<>/dev/tcp/127.0.0.1/1; echo $?
### posix redirect failure of special builtin
set -o posix; : > nonexist/x; echo no
### many redirections
echo a > 1 > 2 > 3; cat 1 2 3; cat < 3 < 3; echo b 3>1 4>2 >&3; cat 1
### fd inheritance
exec 7>f; bash -c 'echo child >&7'; (echo sub >&7); exec 7>&-; cat f
### cat heredoc large
i=0; x=; while [ $i -lt 200 ]; do x="$x line $i of a here document that must be larger than one pipe buffer or page
"; i=$((i+1)); done; cat <<E | wc -c
$x$x$x$x$x$x$x$x
E
### limit of descriptors
ulimit -n 64; ulimit -n; ulimit -Hn; ulimit -Sn
ulimit -Sn 20; ulimit -n; ulimit -Hn; (ulimit -n 10; ulimit -n); ulimit -n; bash -c 'ulimit -n'
ulimit -Sn 65; echo $?
ulimit -n hard; echo $?; ulimit -n
ulimit -Hn 30; echo $?; ulimit -Sn
ulimit -n 12; exec 12</dev/null; echo $?
cat <(echo a) <(echo b)
### no descriptor for a variable
#@ err: any
ulimit -n 6; unset v; exec {v}</dev/null; echo ${v-unset}
### process substitutions without end
for ((i = 0; i < 600; i++)); do read x < <(echo $i); done; echo $x
