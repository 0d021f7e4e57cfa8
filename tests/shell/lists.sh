### lists that eval, let and alias are given
let a=(5 + 3) b=(4 + 7); echo $a $b
eval a=( "x y" z ); declare -p a
v=q; eval b=( "$v" '$v' \$v $(echo c) [3]=d ); declare -p b
eval c=(1 2) d=( "3  4" ); declare -p c d
eval x=(
1
2 # c
); declare -p x
eval 'y=( $v )' z=() ; declare -p y z
f() { eval a=( "$@" ); declare -p a; }; f "1 2" 3; declare -f f
set -- ab cd; eval a=("${@/#/"-i '"}"); declare -p a
### quotes in an index
#@ err: any
z=(5 6); echo ${z['1']}; echo $?; echo ${z["1"]} ${z[\1]}
### a list for an element that is a size
declare -a e[10]=test; declare -a e[10]='(test)'; declare -p e
declare -a h; declare -a "h[3]=(x y)"; declare -p h; declare -a i[3]="(x y)"; declare -p i
declare -A k[3]="(x y)"; declare -p k; declare i[4]="(x y)"; declare -p i
### defaults for all of an associative array
declare -uA A; echo ${A[@]:=foo} "${A[*]:=bar}"; declare -p A
A=(); echo ${A[*]=x}; declare -p A
### lists in posix mode
#@ opts: -o posix
a=(1 2); readonly a b=3; declare -A m=([k]=v); readonly m; x=5; declare -ir x; export x; readonly n
readonly -a; readonly -A; readonly -p | grep -w 'x\|a\|m\|n'; export -p | grep -w x
declare -p a m
### arguments in the listing
#@ args: 1 2
declare -a | grep ARG; echo ${#BASH_ARGV[@]}; declare -p BASH_ARGC; declare -a | grep ARG
### old names of grep
printf 'ab\na+b\n' | egrep 'a+b'; printf 'ab\na+b\n' | fgrep 'a+b'; printf 'ab\na+b\n' | egrep -c '(a|b)'
egrep; echo $?; egrep '('; echo $?; fgrep -e a nofile; echo $?
