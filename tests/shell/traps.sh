### exit trap on signal
bash -c 'trap "echo bye \$?" EXIT; kill -TERM $$; echo no'; echo $?; bash -c 'trap "echo bye" EXIT; kill -INT $$; echo no'; echo $?; bash -c 'trap "echo bye" EXIT; kill -HUP $$; echo no'; echo $?
### exit trap on signal in subshell
(trap "echo sub" EXIT; kill -TERM $BASHPID; echo no); echo $?
### exit trap and own signal trap
bash -c 'trap "echo bye" EXIT; trap "echo term; exit 3" TERM; kill -TERM $$; echo no'; echo $?
### exit trap reset
bash -c 'trap "echo bye" EXIT; trap - EXIT; kill -TERM $$; echo no'; echo $?
### exit trap not inherited
bash -c 'trap "echo bye" EXIT; (kill -TERM $BASHPID; echo no); echo $?; bash -c "kill -TERM \$\$"; echo $?'
### exit trap with pipe
bash -c 'trap "echo bye >&2" EXIT; while :; do echo y; done' | head -1
### child trap
trap 'echo child' CHLD; bash -c :; (:); x=$(:); trap - CHLD; bash -c :; echo end
### child trap of background
trap 'echo child' CHLD; sleep 0.01 & sleep 0.02 & wait; echo end
### debug trap with functions
set -T; d() { echo "d $1"; }; trap 'd $LINENO' DEBUG; f() { echo f; }; f; trap - DEBUG
### return trap with functrace
set -T; trap 'echo r' RETURN; f() { echo f; }; f; g() { f; }; g; trap - RETURN
### trap command in loop
trap 'i=$((i+1))' USR1; i=0; for k in 1 2 3; do kill -USR1 $$; done; echo $i
### trap changes itself
trap 'trap "echo second" USR1; echo first' USR1; kill -USR1 $$; kill -USR1 $$
### trap with break
for i in 1 2 3; do trap 'break' USR1; [ $i = 2 ] && kill -USR1 $$; echo $i; done; trap - USR1; echo end
### status around traps
trap 'false' USR1; true; kill -USR1 $$; echo $?; (exit 4); kill -USR1 $$; echo $?
### ignored in children
trap '' INT; bash -c 'trap "echo no" INT; kill -INT $$; echo alive; trap'
### exit in trap
bash -c 'trap "exit 5" USR1; kill -USR1 $$; echo no'; echo $?; bash -c 'trap "exit" USR1; (exit 3); kill -USR1 $$; echo no'; echo $?
### nested exit
trap 'echo one; exit 2' EXIT; exit 1
### exit trap sees variables and arguments
set -- a b; x=1; f() { local x=2; trap 'echo $x $1' EXIT; exit; }; f c
### RETURN trap, where it is
show() { echo "$1 $2 in ${FUNCNAME[1]}"; }
set -T
trap 'show return $LINENO' RETURN
f() {
  echo f
}

g() {
  f
  . ./inc
}
echo 'echo inc
f' > inc
g
. ./inc
set +T
g; . ./inc
### DEBUG and RETURN traps around source
echo 'echo inc' > inc
trap 'echo debug $LINENO ${FUNCNAME-main}' DEBUG
trap 'echo return $LINENO ${FUNCNAME-main}' RETURN
. ./inc
set -T
. ./inc
f() {
  . ./inc
}
f
### arguments of functions with extdebug
#@ args: m n
shopt -s extdebug
f() { echo "${BASH_ARGV[@]} / ${BASH_ARGC[@]}"; }
g() { f 1 "$@"; f; }
f a b; g x y z; shopt -u extdebug
### the CHLD trap and pipelines
trap 'echo chld' CHLD; /bin/true | /bin/true; echo a; : | : | (exit 3); echo b; x=$(:); (exit 4); echo c
### posix mode: names of signals, and every trap
set -o posix; kill -l; trap 'echo x' INT HUP; trap; trap -p INT TERM; trap -p | grep -v 'RTM\| 3[23]$'
