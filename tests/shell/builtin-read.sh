# read: splitting, escapes, limits, time, what is left unread. Compared with bash 5.2.
export LC_ALL=C.UTF-8
mkdir -p /tmp/shell-case-read; cd /tmp/shell-case-read || exit
t() { "$@"; echo "rc=$? "; declare -p a b c REPLY arr 2>/dev/null; unset a b c REPLY arr; }
t read a b c <<< "x y z w"
t read a b c <<< "  x   y  z w  "
t read a <<< "  x y  "
t read <<< "  x y  "
t read -r a <<< 'a\tb\\'
t read a <<< 'a\tb\\'
t read a b <<< 'a\ b c\ '
t read a b <<< $'a\\\nb c'
t read -r a b <<< $'a\\\nb c'
IFS=: t read a b c <<< "x:y:z:"
IFS=: t read a b c <<< "x:y:z::"
IFS=: t read a b c <<< "x:y:z:w:"
IFS=: t read a b c <<< "::"
IFS=: t read a b <<< ":x"
IFS=: t read a b <<< "x:"
IFS=: t read a <<< "x:"
IFS=: t read a <<< ":"
IFS=: t read a <<< "x::"
IFS=: t read a <<< "x:y:"
IFS=' :' t read a b c <<< " x : y  z : "
IFS=' :' t read a b <<< " x : y  z : "
IFS=' :' t read a b <<< "x y : "
IFS=' :' t read a b <<< "x y :: "
IFS=' :' t read a <<< "x : "
IFS=' :' t read a <<< "x :: "
IFS= t read a b <<< "  x y "
IFS= t read -a arr <<< "  x y "
t read -a arr <<< "  x y  z "
IFS=: t read -a arr <<< "x::y:"
IFS=: t read -a arr <<< ""
t read -a arr <<< ""
t read a < <(printf 'abc')
t read a < /dev/null
t read a b < <(printf 'abc def')
t read -n 3 a <<< "abcdef"
t read -n 3 a <<< "ab"
t read -n 3 a b <<< "a bcd"
t read -N 3 a <<< "ab"
t read -N 4 a b <<< "a bcd"
t read -N 4 a <<< $'a\nbcd'
t read -n 0 a <<< "abc"
t read -N 0 a <<< "abc"
t read -n 2 a <<< "日本語"
t read -N 2 a <<< "日本語"
t read -n 3 a <<< 'a\bcd'
t read -N 3 a <<< 'a\bcd'
t read -n 3 a <<< $'a\\\nbcd'
t read -d : a <<< "ab:cd"
t read -d '' a <<< "ab"
t read -d '' a < <(printf 'ab\0cd')
t read a < <(printf 'ab\0cd\n')
t read -d xyz a <<< "abxcd"
t read -n x a <<< "a"
t read -n -1 a <<< "a"
t read -N -1 a <<< "a"
t read -t x a <<< "a"
t read -t -1 a <<< "a"
t read -t 0 a <<< "a"
t read -t 0.1 a < <(sleep 0.5)
t read -t 0.2 a < <(printf abc; sleep 0.4)
t read -t 0 a < <(sleep 0.3)
t read -t 5 a <<< "a"
t read -u 9 a
t read -u x a
t read -u 3 a 3<<< "fd3"
t read -x a
t read 1a <<< x
t read a 1b c <<< "x y z"
t read 'a[2]' b <<< "x y"
t read -p prompt a <<< x
t read -s a <<< x
t read -e a <<< x
t read -i txt a <<< x
t read -ra arr <<< 'a\b c'
t read -a 1x <<< 'a'
t read -n
declare -r ro=1; t read ro <<< x; t read a ro b <<< "1 2 3"
t read -a 'arr[1]' <<< "x y"
declare -A h; t read -a h <<< "x y"
t read -a arr b <<< "x y"
t read '' <<< x
printf 'l1\nl2\nl3\n' | { read a; cat; }; printf 'l1\nl2\nl3\n' >lf; { read a; cat; } <lf
printf 'l1\nl2\nl3\n' | { read -N 4 a; cat; }; printf 'a:b:c' | { read -d : x; cat; }; echo
read -t 0.1 -n 5 a < <(printf ab; sleep 0.3); echo "$? $a"
read -t 0.1 -N 5 a < <(printf ab; sleep 0.3); echo "$? $a"
read -t 0.1 -a arr < <(printf 'ab cd'; sleep 0.3); echo "$? ${arr[*]}"
a=old; read -t 0.1 a < <(sleep 0.3); echo "$? [$a]"
a=old; read a </dev/null; echo "$? [$a]"
declare -i n; read n <<< 3+4; echo $n
declare -u up; read up <<< abc; echo $up
IFS=$'\t' read a b c <<< $'x\t\ty\t'; declare -p a b c
IFS=, read a b <<< "x , y ,"; declare -p a b
IFS=$' \t\n,' read a b <<< "x , y , "; declare -p a b
IFS=$' \t\n,' read a b <<< "x , y z , "; declare -p a b
IFS=é read a b <<< "xéyéz"; declare -p a b
read a b <<< 'x\  y'; declare -p a b
IFS=: read a b <<< 'x\:y:z\:'; declare -p a b
read a <<< 'x\ '; declare -p a
read a <<< '\ x '; declare -p a
read a b <<< '\ x \ y \ '; declare -p a b
IFS=x read a b <<< 'axxb'; declare -p a b
read -d $'\n' a b <<< "q r"; declare -p a b
read -d ' ' a <<< "q r"; declare -p a
read -d '\' a <<< 'q\r'; declare -p a
read -rd '\' a <<< 'q\r'; declare -p a
read a <<< 'q\'; declare -p a
printf 'q\\' | { read a; declare -p a; }
read -n 5 a < <(printf 'ab\\\n'; printf 'cdefg\n'); declare -p a
read -p; echo $?
read -t; echo $?
read -a; echo $?
read <&-; echo $?
read -t 1 <&-; echo $?
read -t 0 <&-; echo $?
read a < /; echo $?
cd /; rm -rf /tmp/shell-case-read
printf 'a b\nc d\n' | while read x y; do echo "$y $x"; done
while IFS= read -r l || [ -n "$l" ]; do echo "<$l>"; done < <(printf '1\n 2 \n3')
printf '%s\n' {1..300} | { s=0; while read n; do s=$((s+n)); done; echo $s; }
trap 'echo usr1' USR1; { sleep 0.2; kill -USR1 $$; } & read -t 1 x < <(sleep 0.6; echo late); echo "$? $x"; wait
echo 'x y' | { read a; read b; echo "$? [$a] [$b]"; }
read x y <<EOF
first second third
rest
EOF
echo "$x|$y"
{ read a; read -n 2 b; read c; } <<< $'one\ntwo\nthree'; echo "$a $b $c"
exec 5<<< $'l1\nl2'; read -u 5 a; read -u 5 b; read -u 5 c; echo "$? $a $b [$c]"; exec 5<&-
