#-- v=1 v2= a b v3= q n nx x01 xff
v=1 v2='a b' v3=$'q"\'\\n\nx\x01\xff'
#==
echo "$v $v2"
#-- ours: declare -i v=5 declare -r v2=ro export v3=ex
declare -i v=5; declare -r v2=ro; export v3=ex
#==
v+=2; (v2=x); sh -c 'echo $v3'
#-- declare -i v=3
declare -i v=3
#==
v+=4; echo $v
#-- ours: declare -r v=1
declare -r v=1
#==
v=2
#-- declare -l v=ABC declare -u v2=abc declare -c
declare -l v=ABC; declare -u v2=abc; declare -c v3=abc
#==
v=XyZ v2=XyZ v3=xyZ; echo $v $v2 $v3
#-- ours: declare -x v declare v2 declare -i v3
declare -x v; declare v2; declare -i v3
#==
echo ${v-unset}
#-- declare -a v declare -A v2
declare -a v; declare -A v2
#==
v+=(x); v2[k]=y
#-- v=(a b c d)
v=(a 'b c' '' d)
#==
v+=(e); echo ${#v[@]} "${v[@]}"
#-- v=( 7 =x 2 =y 100000000000 =z)
v=([7]=x [2]=y [100000000000]=z)
#==
echo ${!v[@]}; v+=(w)
#-- ours: declare -ar v=(1 2) declare -ax v2=(x)
declare -ar v=(1 2); declare -ax v2=(x)
#==
v[0]=5
#-- declare -A v=( one =1 two words =2 x = y =q)
declare -A v=([one]=1 ['two words']=2 ['$x']='`y`' ['"']=q)
#==
echo "${v[two words]}"; unset 'v[one]'
#-- declare -Ai v=( a =1) declare -Au v2
declare -Ai v=([a]=1); declare -Au v2
#==
v[a]+=5; v2[q]=abc
#-- v=target v2=5 declare -n vr=v2
v=target v2=5; declare -n vr=v2
#==
vr=6; echo $v2; declare -n vr; echo ${!vr}
#-- declare -n vr
declare -n vr
#==
vr=v9; v9=3; echo $vr
#-- va=(1 2 3) declare -n vr=va 1
va=(1 2 3); declare -n vr=va[1]
#==
echo $vr; vr=x; echo ${va[@]}
#-- unset HOME
unset HOME
#==
echo ${HOME-gone}
#-- unset RANDOM unset SECONDS
unset RANDOM; unset SECONDS
#==
echo ${RANDOM-gone} ${SECONDS-gone}; RANDOM=5; echo $RANDOM
#-- RANDOM=7 unset RANDOM RANDOM=x
RANDOM=7; unset RANDOM; RANDOM=x
#==
echo $RANDOM
#-- export -n PATH unset -v IFS
export -n PATH; unset -v IFS
#==
v='a b:c'; echo $v
#-- IFS=
IFS=:
#==
v=a:b; for i in $v; do echo $i; done
#-- IFS= n t x
IFS=$'\n\t\\"x'
#==
v=axb; set -- $v; echo $#
#-- IFS= again
IFS=
#==
v='a b'; set -- $v; echo $#
#-- PATH= nosuch
PATH=/nosuch
#==
ls; type ls
#-- export v=1 set -a v2=2 set a
export v=1; set -a; v2=2; set +a
#==
export -p | grep 'v[2]*='
#-- set -o allexport
set -o allexport
#==
v=3; declare -p v
#-- f() { echo 1 }
f() { echo "$1"; }
#==
f x
#-- f() { cat A cat - B
f() { cat <<A; cat <<-'B'
$1 a
A
	b $1
B
}
#==
f x
#-- f() { if 1 = a then echo A elif 1 == b
f() { if [ $1 = a ]; then echo A; elif [[ $1 == b* ]]; then echo B; else for i in 1 2; do echo $i; done; fi; }
#==
f a; f bb; f c
#-- f() ( x=1 echo sub )
f() ( x=1; echo sub )
g() { while false; do :; done; until true; do :; done; } 2>/dev/null
#==
f; g
#-- f() { case 1 in a b) echo ab 0-9 ) echo n )
f() { case $1 in a|b) echo ab;; [0-9]*) echo n;& *) echo rest;; esac; }
#==
f a; f 1; f z
#-- f() { echo (echo a (echo b) ) echo c ((1
f() { echo "$(echo "a $(echo b)")" `echo c` $((1+2)) ${1:-x} ${#1} "${@:1:2}"; }
#==
f; f a b
#-- f() { for ((i=0 i 3 i )) do echo i done sele
f() { for ((i=0;i<3;i++)); do echo $i; done; select x in a; do break; done <<< 1; }
#==
f 2>/dev/null
#-- f() { echo a cat dev null 2 1 echo ok e
f() { echo a | cat > /dev/null 2>&1 && echo ok || echo no; ! true; time -p true; } 2>/dev/null
#==
f
#-- f() { local -a x=(1 2 3 ) local -A m=( k =v)
f() { local -a x=(1 '2 3'); local -A m=([k]=v); echo "${x[1]}" "${m[k]}"; }
#==
f
#-- f() { coproc cat echo hi {COPROC 1 } read -r
f() { coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x; kill $COPROC_PID; } 2>/dev/null
#==
f
#-- f() { echo a tb x41 x q q }
f() { echo $'a\tb\x41' $"x" 'q'\''q'; }
#==
f
#-- f() { g() { echo inner } g }
f() { g() { echo inner; }; g; }
#==
f; g
#-- function f { echo k } function a-b.c { echo od
function f { echo k; }; function a-b.c { echo odd; }
#==
f; a-b.c
#-- f() 1 == x
f() [[ $1 == x ]]
g() (( $1 > 2 ))
h() if true; then echo h; fi
#==
f x; echo $?; g 1; echo $?; h
#-- shopt -s extglob
shopt -s extglob
f() { case $1 in @(a|b)) echo yes;; !(c)) echo other;; esac; [[ $1 == +(a) ]]; }
shopt -u extglob
#==
f a; f d
#-- ours: f() { echo f } export -f f g() { } declare
f() { echo f; }; export -f f; g() { :; }; declare -t -f g; readonly -f g
#==
bash -c f; g() { echo no; }; declare -F
#-- f() { echo {FUNCNAME 0 } {BASH_SOURCE 0 } }
f() { echo ${FUNCNAME[0]} ${BASH_SOURCE[0]}; }
#==
f
#-- printf h() { echo {BASH_SOURCE 0 } } n tm
printf 'h() { echo ${BASH_SOURCE[0]}; }\n' > /tmp/state-lib.sh; . /tmp/state-lib.sh; rm /tmp/state-lib.sh
#==
h
#-- cd() { echo my cd } eval() { echo my eval }
cd() { echo my cd; }; eval() { echo my eval; }; declare() { echo my declare; }; set() { echo my set; }
#==
cd x; eval y
#-- echo() { printf my s n } () { true } bu
echo() { printf 'my %s\n' "$*"; }; [() { true; }; builtin() { command builtin "$@"; }
#==
echo x
#-- f() { return 3 } f
f() { return 3; }; f
#==
echo $?
#-- false (exit 4) true
false | (exit 4) | true
#==
echo "${PIPESTATUS[@]} $?"
#-- (exit 7)
(exit 7)
#==
echo $?
#-- nosuch-command 2 dev null
nosuch-command 2>/dev/null
#==
echo $?
#-- alias ll= ls -l v= it s q=
alias ll='ls -l' v="it's" q='"'
#==
alias ll
#-- shopt -s expand_aliases alias say= echo said
shopt -s expand_aliases; alias say='echo said '; alias x=y
#==
say x
#-- shopt -s expand_aliases alias declare=false set
shopt -s expand_aliases; alias declare=false set=false trap=false cd=false
#==
cd /; \echo ok
#-- f() { ls dev null echo ok } alias ls=fals
f() { ls / >/dev/null && echo ok; }; alias ls=false; shopt -s expand_aliases
#==
f
#-- set -f -C set -o pipefail -o noclobber
set -f -C; set -o pipefail -o noclobber
#==
echo *; false | true; echo $?
#-- set -u
set -u
#==
echo ${v-x}
#-- set -e
set -e
#==
false || echo went on
#-- set -x
set -x
#==
echo traced
#-- ours: set -v
set -v
#==
echo verbose
#-- set -eux
set -eux
#==
v=1; echo $v
#-- set -h set B set -P set -b set -E set -T
set -h; set +B; set -P; set -b; set -E; set -T
#==
echo {a,b}
#-- ours: set -o posix
set -o posix
#==
echo ${POSIXLY_CORRECT-no}
#-- set -o posix set o posix shopt -s expand_alia
set -o posix; set +o posix; shopt -s expand_aliases
#==
alias a=b
#-- set -o vi
set -o vi
#==
set -o emacs
#-- set -k
set -k
#==
sh -c 'echo $v' v=1
#-- shopt -s nullglob dotglob globstar nocasematch
shopt -s nullglob dotglob globstar nocasematch; shopt -u sourcepath
#==
echo /nosuch*; [[ A == a ]] && echo same
#-- shopt -s compat42 shopt -s lastpipe
shopt -s compat42; shopt -s lastpipe
#==
echo x | read v; echo $v
#-- ours: shopt -s extdebug
shopt -s extdebug
#==
f() { :; }; x=$(declare -F f); echo "${x%% *} ${x##* }"; unset x # the line is that of the second script
#-- ours: GLOBIGNORE= .x
GLOBIGNORE='*.x'
#==
shopt dotglob
#-- GLOBIGNORE= .x shopt -u dotglob
GLOBIGNORE='*.x'; shopt -u dotglob
#==
shopt dotglob
#-- shopt -s inherit_errexit xpg_echo
shopt -s inherit_errexit xpg_echo
#==
echo 'a\tb'
#-- trap echo usr USR1 trap INT TERM trap ech
trap 'echo usr' USR1; trap '' INT TERM; trap 'echo "q '\''x'\'' "' HUP
#==
kill -USR1 $$; kill -INT $$; echo alive
#-- trap echo err ERR
trap 'echo err $?' ERR
#==
false; true; (exit 3)
#-- ours: trap echo dbg DEBUG
trap 'echo dbg' DEBUG
#==
echo x
#-- trap echo ret RETURN f() { } declare -ft f
trap 'echo ret' RETURN; f() { :; }; declare -ft f
#==
f
#-- trap USR2 trap - USR2 trap x RTMIN 1
trap '' USR2; trap - USR2; trap 'x' RTMIN+1
#==
trap
#-- umask 027
umask 027
#==
umask; umask -S
#-- set -- a b c d
set -- a 'b c' '' d
#==
shift; echo $# "$1"
#-- set -- (seq 1 40)
set -- $(seq 1 40)
#==
echo ${40} $#
#-- ours: BASH_ARGV0=zero
BASH_ARGV0=zero
#==
echo $0
#-- cd tmp
cd /tmp
#==
cd -; pwd
#-- cd usr cd tmp
cd /usr; cd /tmp
#==
echo $OLDPWD; cd -
#-- cd tmp .. usr . bin
cd /tmp/../usr/./bin
#==
pwd
#-- pushd tmp dev null pushd usr dev null
pushd /tmp >/dev/null; pushd /usr >/dev/null
#==
dirs -v; popd; echo "${DIRSTACK[@]}"
#-- CDPATH= usr
CDPATH=/usr
#==
cd bin
#-- set -- -abc -d x y getopts abcd o echo o ge
set -- -abc -d x y; getopts abcd: o; echo $o; getopts abcd: o; echo $o
#==
getopts abcd: o; echo $o; getopts abcd: o; echo $o $OPTARG; getopts abcd: o || echo end $OPTIND
#-- set -- -a -b getopts ab o
set -- -a -b; getopts ab o
#==
getopts ab o; echo $o $OPTIND; OPTIND=1; getopts ab o; echo $o
#-- read v v2 one two three mapfile -t v3 a n
read v v2 <<< 'one two three'; mapfile -t v3 <<< $'a\nb'
#==
echo "$v2" ${v3[1]}
#-- abc123 = ( a-z )( 0-9 )
[[ abc123 =~ ([a-z]+)([0-9]+) ]]
#==
echo "${BASH_REMATCH[@]}"
#-- ours: readonly PWD
readonly PWD
#==
cd /tmp; echo $PWD
#-- ours: PWD= else
PWD=/else
#==
pwd; cd /tmp; echo $OLDPWD
#-- ours: unset PWD OLDPWD
unset PWD OLDPWD
#==
echo ${PWD-none}; cd /tmp; echo $PWD
#-- enable -n echo test
enable -n echo test
#==
type -t echo test
#-- let v=3 4 ((v2=v 2)) v3= ((v2 1))
let v=3+4; ((v2=v*2)); v3=$((v2+1))
#==
((v3++)); echo $v $v2 $v3
#-- export LC_ALL=C v=
export LC_ALL=C; v=é
#==
echo ${#v}
#-- v= a nb printf -v v2 q v
v=$'a\nb'; printf -v v2 '%q' "$v"
#==
eval "v3=$v2"; echo "$v3"
#-- ours: export SHELLOPTS
export SHELLOPTS
#==
declare -p SHELLOPTS | cut -c1-12
#-- ours: declare -i RANDOM export SECONDS declare -x BA
declare -i RANDOM; export SECONDS; declare -x BASH_COMMAND
#==
declare -p BASH_COMMAND | cut -c1-10
#-- HISTCONTROL=x PROMPT_COMMAND= echo no PS1= (ech
HISTCONTROL=x PROMPT_COMMAND='echo no' PS1='$(echo no)' BASH_ENV=/nosuch ENV=/nosuch
#==
echo ok
#-- FUNCNEST=3 f() { ((n )) n -gt 9 f }
FUNCNEST=3; f() { ((n++)); [ $n -gt 9 ] || f; }
#==
f 2>/dev/null; echo $n
#-- ours: BASH_XTRACEFD=7 set -x
BASH_XTRACEFD=7; set -x
#==
set +x
#-- v= (printf x .0s {1..70000})
v=$(printf 'x%.0s' {1..70000})
#==
echo ${#v}
#-- command_not_found_handle() { echo no 1 return
command_not_found_handle() { echo "no $1"; return 5; }
#==
nosuch; echo $?
