# shift and its messages. Compared with bash 5.2.
set -- a b c d e; shift; echo "$? $*"; shift 2; echo "$? $*"; shift 5; echo "$? $*"; shift 0; echo "$? $*"
shift -1; echo "$? $*"; shift x; echo "$? $*"
shift 1 2; echo no
echo "$? $*"
shift --; echo "$? $*"; shift -- 1; echo "$? $*"; shift -x; echo $?
shopt -s shift_verbose; shift 9; echo $?; set -- a b c; shift ' 1'; echo "$? $*"; shift 99999999999999999999; echo $?; shift +0; echo $?; shift ''; echo $?
f() { shift; echo "$*"; shift 1 2; echo no; }; f 1 2 3; echo no
echo "$? $*"
set -- $(echo {1..500}); n=0; while [ $# -gt 0 ]; do n=$((n+$1)); shift; done; echo $n $#
set -- a b; (shift; echo $1); echo $1
