### backslash of a range of characters
printf '<%s>' {Z..a}; echo
printf '<%s>' x{[..]}y; echo; printf '<%s>' {]..[}; echo
### backslashes in quotes inside a quoted expansion
v='&m'
p() { printf '<%s>' "$@"; echo; }
p "${v:+"\p"}" "${v:+\p}" "${v:+"\'"}" "${v:+\'}" "${v:+"\\"}" "${v:+"\"x"}" "${v:+"a\}b"}" "${v:+"\$v"}" "${v:+"\\$v"}"
p "${v:+${v:+"\p"}}" "${v:+"${v:+"\p"}"}" "${v:+"${v:+\p}"}" "${u:-"\\\p"}" "${v:+"\*"}"
p ${v:+"\p"} ${v:+"\'"}
x="${v:+"\p"}"; p "$x"; case "\p" in "${v:+"\p"}") echo yes;; *) echo no;; esac
cat <<X
${v:+"\p"} ${v:+\p} ${v:+"\'"} ${v:+\'}
X
### lengths that are none
set -- a b c
for e in '${#+}' '${#%}' '${#/}' '${#^}' '${#,}' '${#~}'; do
  eval "echo $e; echo after"; echo $?
done
echo ${#-} ${#?} ${#+x} ${#-x} ${##} ${#%3}
### redirections do not see the assignments in front
a=1
a=2 cat <<< $a
a=2 cat <<X
$a
X
f() { cat; echo $a; }
a=2 f <<< $a
a=2 read b <<< $a; echo $b
v="a b"; IFS=:; IFS=' ' read x y <<< $v; echo "$x,$y"
IFS=$' \t\n'
a=42
a=2 echo foo >&$a
a=2 /bin/echo foo >&$(echo $a)
a=2 f <&$a
a=7 $(:) > /dev/null$((a++)); echo $a
### RANDOM in arithmetic is read once
RANDOM=42; echo $((RANDOM)) $((RANDOM)); ((x = RANDOM)); echo $x $RANDOM
RANDOM=42; for i in {1..9}; do ((d[RANDOM % 6 + RANDOM % 6]++)); done; declare -p d
### umask of copied permissions
umask 022; umask g=u; echo $?; umask
### functions that cannot be exported
function a=b { echo x; }
export -f a=b; echo $?
function /bin/foo { echo x; }
export -f /bin/foo; echo $?
declare -fx a=b; echo $?
declare -fx /bin/foo; echo $?
bash -c 'echo child'
### too many here-documents
cat <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E <<E
E
echo not here
### sixteen here-documents
cat <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A <<A
A
A
A
A
A
A
A
A
A
A
A
A
A
A
A
last
A
### an alias in front of a redirection
shopt -s expand_aliases
alias foo='echo 0' bar='echo {v}' baz='echo "' qux='echo 1 '
foo>&1
bar>&1
baz>&1"
qux>&1
### aliases of several lines at the end
#@ mode: c
shopt -s expand_aliases
alias a='/bin/echo foo
echo bar
echo baz'
a
