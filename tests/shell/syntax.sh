### syn 1
echo a
if
### syn 2
echo a
fi
echo b
### syn 3
for x in a b; do echo $x
### syn 4
case a in b) echo;; 
### syn 5
echo "abc
### syn 6
echo $(echo a
### syn 7
echo ${a
### syn 8
f() { echo
### syn 9
( echo a
### syn 10
a=(1 2
### syn 11
echo a; ; echo b
### syn 12
echo a && ; echo b
### syn 13
| echo a
### syn 14
echo `echo a
### syn 15
cat <<X
foo
### syn 17
[[ a b ]]
### syn 18
[[ a -foo b ]]
### syn 19
[[ ( a ]]
### syn 20
(( 1 + 
### syn 21
for ((i=0;i<3)); do echo; done
### syn 22
for 1x in a; do echo; done
### syn 23
function 1() { echo a; }; 1; a-b() { echo ok; }; a-b; function x=y { echo xy; }; x=y
### syn 24
while true; done
### syn 25
if true; then fi
### syn 26
{ }
### syn 27
echo a >
### syn 28
echo a > > b
### syn 29
echo <<
### syn 30
case x in esac; case x in (x) echo y; esac; case in in in) echo in;; esac
### syn 31
select; do
### syn 32
! ! true; echo $?; ! ; echo $?; time ! true
### syn 33
echo a &; echo b
### syn 34
a() b
### syn 35
until; do :; done
### syn 36
) echo
### syn 37
} 
### syn 38
coproc
### syn 39
eval 'echo a; fi'; echo $?; eval 'if'; echo $?; eval "echo 'a"; echo $?
### syn 40
. ./no; echo 'echo x
fi
echo y' > s; . ./s; echo $?; printf 'echo "a\n' > s; . ./s; echo $?; printf 'if true\n' > s; . ./s; echo $?
### syn 41
bash -c 'if'; echo $?; bash -c 'echo a; fi' ; echo $?; bash -c $'echo a\nfi'; bash -c 'echo "a'; bash -n -c 'fi'; echo $?; bash -n -c 'echo a'; echo $?;  echo 'echo a; (' | bash; echo $?; echo 'fi' | bash -s; bash nosuchfile; echo $?; bash /; echo $?; bash -Z; echo $?; bash --nosuch 2>&1 | head -1; bash -c; echo $?; bash -o nosuch -c :; echo $?; bash -O nosuch -c :; echo $?; bash +O extglob -c 'shopt extglob'; bash -O extglob -c 'shopt extglob'; bash -eu -c 'echo $-; echo $x; echo no'; echo $?; bash -x -c 'echo a'; bash -v -c 'echo a
echo b'; bash -o pipefail -c 'echo $SHELLOPTS'; bash -c 'echo $0 $@' a b c; bash -s a b <<< 'echo $0 $@'; bash - s <<< 'echo x'; echo 'echo $0 $1' > t; bash -- t z; bash -l -c 'shopt login_shell'; bash --posix -c 'shopt -o posix; echo $POSIXLY_CORRECT'; bash --norc -c 'echo $-'; bash -i -c 'echo $-' 2>/dev/null; bash --rcfile t -i -c 'echo hi' 2>/dev/null
### cond 1
false
[[ a b ]]
echo $?
### cond 1 in eval
false; eval '[[ a b ]]'; echo $?
### cond 2
false
[[ a -foo b ]]
echo $?
### cond 2 in eval
false; eval '[[ a -foo b ]]'; echo $?
### cond 3
false
[[ ( a ]]
echo $?
### cond 3 in eval
false; eval '[[ ( a ]]'; echo $?
### cond 4
false
[[ a ==
echo $?
### cond 4 in eval
false; eval '[[ a =='; echo $?
### cond 5
false
[[ a &&
echo $?
### cond 5 in eval
false; eval '[[ a &&'; echo $?
### cond 6
false
[[ ]]
echo $?
### cond 6 in eval
false; eval '[[ ]]'; echo $?
### cond 7
false
[[ a ]
echo $?
### cond 7 in eval
false; eval '[[ a ]'; echo $?
### cond 8
false
[[ -z ]]
echo $?
### cond 8 in eval
false; eval '[[ -z ]]'; echo $?
### cond 9
false
[[ == a ]]
echo $?
### cond 9 in eval
false; eval '[[ == a ]]'; echo $?
### cond 10
false
[[ ! ]]
echo $?
### cond 10 in eval
false; eval '[[ ! ]]'; echo $?
### cond 11
false
[[ ( ) ]]
echo $?
### cond 11 in eval
false; eval '[[ ( ) ]]'; echo $?
### cond 12
false
[[ a ) ]]
echo $?
### cond 12 in eval
false; eval '[[ a ) ]]'; echo $?
### cond 13
false
[[ a == b c ]]
echo $?
### cond 13 in eval
false; eval '[[ a == b c ]]'; echo $?
### cond 14
false
[[
echo $?
### cond 14 in eval
false; eval '[['; echo $?
### cond 15
false
[[ a | b ]]
echo $?
### cond 15 in eval
false; eval '[[ a | b ]]'; echo $?
### cond 16
false
[[ -z a -o b ]]
echo $?
### cond 16 in eval
false; eval '[[ -z a -o b ]]'; echo $?
### cond 17
false
[[ a = "b ]]
echo $?
### cond 17 in eval
false; eval '[[ a = "b ]]'; echo $?
### cond 18
false
if [[ a b ]]; then :; fi
echo $?
### cond 18 in eval
false; eval 'if [[ a b ]]; then :; fi'; echo $?
### cond 19
false
[[ a =~ ( ]]
echo $?
### cond 19 in eval
false; eval '[[ a =~ ( ]]'; echo $?
### cond 20
false
[[ a || || b ]]
echo $?
### cond 20 in eval
false; eval '[[ a || || b ]]'; echo $?
### cond 21
false
[[ & ]]
echo $?
### cond 21 in eval
false; eval '[[ & ]]'; echo $?
### cond 22
false
[[ -n &&  a ]]
echo $?
### cond 22 in eval
false; eval '[[ -n &&  a ]]'; echo $?
