### what a restricted shell refuses
set -r; echo $? $-
cd /; echo $?
pushd /; echo $?
/bin/echo no; echo $?
command /bin/echo no; echo $?
. ./none; echo $?
echo a > f; echo $?
echo a >> f; echo a >| f; echo a &> f; echo a >& f; echo a <> f; echo $?
exec /bin/echo no; echo $?
command -p echo no; echo $?
set +r; echo $?
hash -p /bin/echo e; echo $?
hash -p nosuchx e; echo $?
BASH_CMDS[e]=/bin/echo; echo $?
BASH_CMDS[e]=nosuchx; echo $?
enable -f x y; echo $?
(cd /); f() { cd /; }; f; echo $?
unset PATH; echo $?
PATH=x echo y; export PATH=x; echo $?
### what it allows
set -r
cat < /dev/null; echo a >&2; exec 3>&1; echo b >&3; echo $?
bash -c 'cd / && pwd'
shopt restricted_shell
declare -p ENV BASH_ENV HISTFILE
### read-only variables of a restricted shell
set -r
for v in PATH SHELL ENV BASH_ENV HISTFILE; do (eval "$v=x"; echo not here); done
### started restricted
bash -r -c 'cd /; echo $? $-'; bash --restricted -c 'echo a > f; echo $?'
