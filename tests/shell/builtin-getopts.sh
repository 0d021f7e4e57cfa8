# getopts: clusters, messages, silent mode, OPTIND. Compared with bash 5.2.
g() { local spec=$1; shift; OPTIND=1; echo "--- $spec : $*"; while getopts "$spec" o "$@"; do echo "o=$o OPTARG=${OPTARG-unset} OPTIND=$OPTIND"; done; echo "end rc=$? o=$o OPTARG=${OPTARG-unset} OPTIND=$OPTIND"; }
g ab:c -a -b x -c rest; g ab:c -abx rest; g ab:c -acb; g :ab:c -acb; g ab -x; g :ab -x; g ab -- -a; g ab - -a; g ab x -a; g a:b -a -b; g ab -a- ; g 'a-' -a-; g ab; g '' -a; g ':' -a; g a: -a ''; g a::b -a -b; g 'a:b' -ba; g 'a?b' '-?' ; g 'ab' '-?'; g ab -:; g :ab -:; g ab: -b:c -b : ; g 'a#' -a 5; g 'é' -é
OPTERR=0; g ab -x; unset OPTERR
getopts; echo $?; getopts ab; echo $?; getopts ab 1x -a; echo "$? $OPTIND"; getopts -x ab o; echo $?; getopts -- ab o -a; echo "$? $o"
OPTIND=1; set -- -a -b; getopts ab o; echo "$o $OPTIND"; getopts ab o; echo "$o $OPTIND"; getopts ab o; echo "$? $o $OPTIND"; getopts ab o; echo "$? $o $OPTIND"
OPTIND=1; set -- -abc; getopts abc o; getopts abc o; echo $o $OPTIND; OPTIND=1; getopts abc o; echo $o $OPTIND;
OPTIND=2; set -- -a -b; getopts ab o; echo "$o $OPTIND"
OPTIND=5; set -- -a -b; getopts ab o; echo "$? $o $OPTIND"
OPTIND=0; getopts ab o; echo "$? $o $OPTIND"
OPTIND=x; getopts ab o; echo "$? $o $OPTIND"
OPTIND=-1; getopts ab o; echo "$? $o $OPTIND"
unset OPTIND;  getopts ab o; echo "$? $o $OPTIND"
readonly ro; OPTIND=1; getopts ab ro -a; echo "$? $OPTIND"
f() { local OPTIND; while getopts ab o; do echo "in $o $OPTIND"; done; }; OPTIND=1; set -- -a -b; getopts ab o; echo $o; f -b -a; getopts ab o; echo $o $OPTIND
f() { local OPTIND=1; while getopts ab o; do echo "in $o $OPTIND"; done; }; OPTIND=1; set -- -ab; getopts ab o; echo $o; f -ba; getopts ab o; echo $o $OPTIND
set -o posix; OPTIND=1; getopts ab: o -b; echo $?; OPTIND=1; getopts ab: o -x;
OPTIND=1; set -- -a; getopts a o; shift; getopts a o; echo $? $OPTIND
h() { getopts ab o; echo "$? $o $OPTIND"; }; OPTIND=1; h -x
bash -c 'getopts a o -x' myname
bash -c 'f() { getopts a o -x; }; f' /a/b/c
OPTIND=1
while getopts :f:v opt -vf file -f -- -v; do
    case $opt in
    f) echo "f=$OPTARG" ;;
    v) echo v ;;
    :) echo "missing $OPTARG" ;;
    *) echo "bad $OPTARG" ;;
    esac
done
echo $OPTIND
