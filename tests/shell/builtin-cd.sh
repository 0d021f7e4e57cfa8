# cd and pwd: logical and physical, CDPATH, messages. Compared with bash 5.2.
root=/tmp/shell-case-cd; rm -rf $root; mkdir -p $root/d/a/b $root/d/c "$root/d/s p"; ln -s a $root/d/la; cd $root/d || exit
t() { "$@"; echo "rc=$? PWD=$PWD OLDPWD=$OLDPWD"; }
t cd nosuch; t cd a; t cd ..; t cd la/b; t cd ..; t cd ../..; t cd $root/d; t cd -P la; t cd -L ..; t cd la; t cd -P ..; t cd -; t cd -
t cd ''; t cd . ; t cd a c; t cd -x; t cd -e la; t cd -P -e .; cd $root/d; t cd -@ a; cd $root/d
(unset HOME; t cd); (HOME=; t cd); (HOME=/tmp; t cd); (unset OLDPWD; t cd -); (OLDPWD=/nosuch; t cd -); (OLDPWD=; t cd -); (OLDPWD=; t cd -- -)
CDPATH=$root:/tmp t cd d; CDPATH=.: t cd a; cd $root/d; CDPATH=: t cd a; cd $root/d; CDPATH=/nosuch::/tmp t cd a; cd $root/d; CDPATH=$root t cd ./a; cd $root/d;  CDPATH=$root/d t cd a/b;  cd $root/d; CDPATH=$root/d: t cd la; cd ..; CDPATH=.. t cd d; CDPATH=d t cd a; cd $root/d
touch f; t cd f; t cd f/x; t cd la/../c; cd $root/d; t cd nosuch/..
shopt -s cdable_vars; v=$root/d/a; t cd v; shopt -u cdable_vars; t cd v
cd $root/d/la; pwd; pwd -P; pwd -L; pwd -LP; pwd -PL; pwd a b; pwd -x; echo $?
set -o physical; pwd; cd ..; pwd; cd la; pwd; set +o physical; cd $root/d/la; pwd
cd //tmp; pwd; cd ///tmp; pwd; cd /tmp/../..//tmp/./; pwd; cd /; cd ..; pwd; cd //; pwd; cd $root/d; cd -- a; pwd; cd '../s p'; pwd
(readonly PWD; cd /tmp; echo $? ; pwd; echo $PWD); (readonly OLDPWD; cd /tmp; echo $?; pwd)
cd $root/d; PWD=/bogus; cd a; echo $PWD $OLDPWD; pwd; PWD=/bogus; pwd
cd $root/d; cd $(printf '%05000d' 0) 2>/dev/null; echo $?; pwd
cd $root/d; mkdir gone; cd gone; rmdir ../gone; t pwd; t cd nosuch; t cd ..
f() { local PWD; cd $root; echo "$PWD"; }; cd $root/d; f; echo "$PWD"; pwd
(cd $root/d/a; pwd); pwd; x=$(cd $root/d/c; pwd); echo $x; pwd
export -n OLDPWD; declare -p PWD | sed 's/=.*//'
cd - >/dev/null; pwd; cd ~- 2>/dev/null && pwd
cd /; rm -rf $root
