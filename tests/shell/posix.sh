### misused special builtin
#@ opts: -o posix
export -q; echo not here
### misused behind command
#@ opts: -o posix
command export -q; echo $?; command set -o nothing; echo $?; command return 3; echo $?; command . ./none; echo $?
### misused where the status is looked at
#@ opts: -o posix
! export -q; echo $?; export -q || echo or; if trap -q; then :; else echo else; fi
(shift -q; echo not here); echo $?
### readonly in front of a special builtin
#@ opts: -o posix
readonly r=1
r=2 true; echo $?
r=2 nosuchcommand; echo $?
(r=2 :; echo not here); echo $?
(export r=2; echo not here); echo $?
(readonly r=2; echo not here); echo $?
command export r=2; echo $?
(for r in 1; do echo turn; done; echo not here); echo $?
command eval 'r=3'; echo $?
eval 'r=3'; echo not here
### eval of a syntax error
#@ opts: -o posix
command eval '( '; echo $?
eval '( '; echo not here
### source without a file
#@ opts: -o posix
(.; echo not here); echo $?
(. -q; echo not here); echo $?
(. ./none; echo not here); echo $?
### break outside of loops
#@ opts: -o posix
break; continue 3; echo $?
### names of functions
#@ opts: -o posix
(trap() { :; }; echo not here); echo $?
(a-b() { :; }; echo not here); echo $?
true() { echo mine; }; true
### assignments that last
#@ opts: -o posix
v=0; f() { v=20 :; echo $v; }; v=30 f; echo $v
v=0; g() { v=20 :; }; f() { g; echo $v; }; v=30 f; echo $v
v=0; f() { local v=1; v=20 :; echo $v; }; f; echo $v
v=0; f() { local v=1; v=20 :; echo $v; }; v=9 f; echo $v
v=0; f() { v=31; }; v=30 f; echo $v
v=0; f() { v=20 return 5; }; v=30 f; echo $? $v
declare -p v
### the same outside posix mode
v=0; f() { v=20 :; echo $v; }; v=30 f; echo $v
v=0; f() { v=20 return 5; }; f; echo $? $v
export -q; echo $?
