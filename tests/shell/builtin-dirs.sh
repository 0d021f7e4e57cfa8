# dirs, pushd, popd. Compared with bash 5.2.
HOME=/tmp/shell-case-dirs; rm -rf $HOME; mkdir -p $HOME/d/a; cd $HOME/d || exit
t() { "$@"; echo "rc=$? PWD=$PWD OLD=$OLDPWD [${DIRSTACK[*]}]"; }
t dirs; t pushd; t popd; t pushd a; t pushd; t pushd /tmp; t dirs; t dirs -l; t dirs -v; t dirs -p; t dirs -lv; t dirs -lp; t dirs +0; t dirs +1; t dirs -0; t dirs -1; t dirs +9; t dirs -9; t dirs x; t dirs -x; t dirs +x; t dirs -v +1; t dirs -l +1;
t pushd +1; t pushd -0; t pushd +9; t pushd -9; t pushd nosuch; t pushd -n /usr; t pushd -n +1; t dirs; t pushd -x; t pushd +x; t pushd a b; t pushd ''; t pushd -- /; t pushd -
t popd; t popd +1; t popd -0; t popd +9; t popd -n; t popd -n +1; t popd x; t popd -x; t popd +0; t dirs; t dirs -c; t dirs; t popd; t popd +0; t pushd -n x; t pushd +0; t popd -n
t dirs -c; t pushd /tmp; t pushd /usr; t popd +2; t popd -1; t pushd +3;  dirs -c; pushd /tmp >/dev/null; pushd /usr >/dev/null; DIRSTACK[1]=/nosuch; t dirs; t popd; t dirs; t dirs -p -v ; t dirs -c -v; t pushd -n; t popd -n +0 ; t pushd -n -n /x; t popd a b
dirs -c; cd /tmp/shell-case-dirs/d; mkdir -p gone; pushd gone; rmdir ../gone; cd ..;  pushd; echo $?; dirs
dirs -c; cd /tmp; pushd ~; pushd ~/d; dirs; dirs +1; dirs -l +1; pushd -n '~'; dirs
dirs -c; cd /tmp; pushd -n ''; echo $?; dirs -l -v; set -- ; pushd / /tmp; popd / ;
cd $HOME; dirs -c; dirs +1; echo $?; dirs -1; dirs +0; pushd +1; popd +1; dirs -v -c +1; pushd -; set -- /tmp; cd / ; pushd -n -x; popd -n -n; dirs --; dirs -- +0; popd --; popd -- +0; cd -- --; cd -; cd - a; pushd . . ; pushd +0 +0; dirs +0 -0; cd a b; echo $?
cd /; rm -rf $HOME
