### cr
$'foo\r'; ./$'foo\r'; cd $'/x\r'; . $'y\r'; . ./$'y\r'; cat < $'z\r'; echo > $'/nope/w\r'; pushd $'q\r'; exec $'ee\r'; 
### cr3
mkdir d; cd d; printf '#!/bin/sh\r\n' > s; chmod +x s; ./s; exec ./s
### cr4
set $'a\r' 'b	c' $'d\ne' "f g"; x=$'a\r'; y='b	c'; z=$'d\ne'; w=$'\x01'; v="it's"; set | grep -a '^[vwxyz]='; declare -p v w x y z; declare -a A=($'a\r' 'b	c' $'d\ne'); set | grep -a ^A=; export -p | tail -1; alias q=$'a\r'; alias; trap $'echo \r' INT; trap; 
### exec noent
exec ./nope
### exec dir
exec ./
### exec dir2
mkdir d; exec d
### exec noexec
touch f; exec ./f
### exec shebang missing
printf '#!/nope/x\n' > f; chmod +x f; exec ./f
### lines of substitutions in here-documents
cat <<X
a
$(nosuch)
b
$(nosuch2;
nosuch3)
`nosuch4`
X
cat <<X; { cat <<Y
$(nosuch5)
X
c
$(nosuch6)
Y
}
echo $(
nosuch7)
### names that cannot be
coproc a.b { :; }; echo $?; coproc 1 { :; }; echo $?; set -o posix; (eval 'for 1a in x; do :; done'; echo no); echo $?; (eval 'select 1a in x; do :; done'; echo no); echo $?
