### transform unset
echo "[${a@}]"; echo rc=$?
### transform unset 2
a=1; echo "[${a@}]"; echo rc=$?
### transform unset Z
echo "[${a@Z}]"; echo rc=$?
### special case mod
false; echo "${?,}" "${?^^}" "${#,}" "${$^}" ; echo rc $?
### special case mod2
set -- ab cd; echo "${@^}" "${*^^}" "${1^}" "${#^}" "${-^^}" "${!^}" "${0^^}"
### transforms on specials
false; echo "${?@Q}" "${#@Q}" "${$@A}" "${!@Q}" "${-@U}" "${0@Q}"
### transforms on @
set -- 'a b' c; echo "${@@Q}" "${*@Q}" ; echo ${@@A}; echo "${@@A}"; echo ${1@A} ; echo "${*@A}" "${@@a}"
### transforms on arrays
a=('x y' z); declare -A m=([k]='v w' [l]=2); echo "${a[@]@A}"; echo "${m[@]@A}"; echo "${a[@]@K}" "${m[@]@K}"; echo "${a[@]@k}" "${m[@]@k}"; echo "${a[@]@a}" "${a@a}" "${m@a}" "${a[0]@a}" "${m[k]@A}" "${a[1]@A}" "${a@A}" "${m@A}" "${a@Q}" "${m@Q}"
### transform P E L u U
x='a\tb'; echo "${x@E}"; y='\u@\h'; z='hello World'; echo "${z@u}" "${z@U}" "${z@L}" ; p='\w\$'; echo "${p@P}"
### transform attrs
declare -irx n=3; declare -l lo=AB; declare -u up=ab; declare -n r=n; declare -c cap=abc; declare -t tr=1;  echo "${n@a}" "${lo@a}" "${up@a}" "${r@a}" "${cap@a}" "${tr@a}" "${n@A}" "${lo@A}" "${r@A}" "${cap@A}"; declare -a ea; echo "${ea@a}" "${ea[@]@A}" "${ea@A}"; declare -A eb; echo "${eb@a}-${eb[@]@A}" ; declare -i un; echo "${un@a}" "${un@A}"
### indirections
a=b b=c; echo "${!a}" "${!a^}" "${!a@Q}" "${!a:-x}" "${!nope}"; echo rc $?
### indirections 2
echo "${!nope:-x}"; echo rc $?; a=(1 2); i='a[1]'; echo "${!i}"; i='a[@]'; echo "${!i}"; i='a[*]'; echo "${#a[@]}" "${!a[@]}" "${!i}"; x1=1 x2=2; echo "${!x@}" "${!x*}"
### indirect bad
a='1x'; echo "${!a}"; echo rc $?
### indirect bad 2
a=''; echo "${!a}"; echo rc $?
### indirect bad 3
a='b c'; echo "${!a}"; echo rc $?
### bad subst
echo "${a b}"; echo rc $?
### bad subst 2
echo "${}"; echo rc $?
### bad subst 3
echo "${a:}" ; echo rc $?
### bad subst 4
echo "${a!}" ; echo rc $?
### bad subst 5
echo ${#a:1} ; echo rc $?
### bad subst 6
echo ${#a-x} ; echo rc $?; echo ${#-x}; echo ${##x} ${#?} ${#:-x} 
### len
a=héé; echo ${#a}; LC_ALL=C; echo ${#a}; LC_ALL=C.UTF-8; echo ${#a}; set -- 1 2 3; echo ${#} ${#@} ${#*} ${#1}; b=(é éé); echo ${#b} ${#b[1]} ${#b[@]}
### substring
a=abcdef; echo "${a:2}" "${a:2:2}" "${a: -2}" "${a: -3:2}" "${a:1:-1}" "${a:10}" "${a:0:0}|"; echo "${a:2:-5}"; echo rc $?
### substring arr
a=(a b c d e); echo "${a[@]:1:2}" "${a[@]: -2}" "${a[@]:1}" "${a[@]:7}|"; echo "${a[@]:1:-1}"; echo rc $?
### substring pos
set -- a b c d; echo "${@:0:2}" "${@:2}" "${@: -2:1}" "${*:1:2}"; echo "${@:1:-1}"; echo rc=$?
### subst expr err
a=abc; echo "${a:x y}"; echo rc $?
### subst expr err2
a=abc; echo "${a:1:z z}"; echo rc $?
### patsub
a=aXbXc; echo "${a/X/_}" "${a//X/_}" "${a/#a/_}" "${a/%c/_}" "${a/X}" "${a//X}" "${a//[aX]/<&>}" "${a//X/\&}"; r='&'; echo "${a//X/$r}" "${a//X/"$r"}" "${a/#/z}" "${a/%/z}" "${a//}" "${a/}"; shopt -u patsub_replacement; echo "${a//X/<&>}"
### casemod
a='hello WORLD'; echo "${a^}" "${a^^}" "${a,}" "${a,,}" "${a~}" "${a~~}" "${a^^[lo]}" "${a,,[WD]}" "${a^h}" "${a^x}" "${a^^?}"; b=(ab cd); echo "${b[@]^}" "${b[*]^^[bd]}"; e=éa; echo "${e^}" "${e^^}"
### default forms
unset u; e=; echo "${u-a}" "${u:-b}" "${e-c}" "${e:-d}" "${u+e}" "${e+f}" "${e:+g}|"; echo "${u=v}" $u; echo "${e:=w}" $e; echo "${1=x}"; echo rc $?
### err form
echo "${u?}"; echo no
### err form 2
echo "${u:?my msg $((1+1))}"; echo no
### err form 3
f() { echo "${u?}"; }; (f); echo rc $?; ( echo ${1?need one}); echo rc $?; (echo ${@?nope} ${*?}); echo rc $?; (a=(); echo ${a[@]?x} ); echo rc $?; (echo ${a[3]?}); echo $?
### nounset
set -u; (echo $x); echo $?; (echo ${x}); (echo $1); (echo ${a[0]}); (echo ${a[@]}); (echo "$@" $*); (echo ${#x}); (echo $!); (a=(); echo ${a[0]}); (echo ${x@Q}); (echo ${x^}); (echo ${x#a}); (echo $((x))); (echo ${!x}); (echo ${x:1}); (declare y; echo $y); (echo ${a[-1]}); (declare -A m; echo ${m[k]});echo end
### bs 1
echo "x${a b}y"
### bs 2
echo x${a b}y
### bs 3
echo z"x${a b}y"w
### bs 4
a=x${a b}y; echo no
### bs 5
cat <<X
hi ${a b} there
X
### bs 6
echo $(echo "x${a b}") y
### bs 7
f() { echo "q ${#a:1}"; }; f
### bs 8
x='${a b}'; eval "echo $x"
### bs 9
a=ab; echo pre${a@}post "x ${a@Z} y"
### bs 10
case "m${a b}n" in x) ;; esac
### bs 11
[[ "m${a b}n" == x ]]; echo $?
### bs 12
echo $(( ${a b} + 1 ))
### bs 13
for i in "k${a b}"; do echo; done; echo rc
### bs 14
echo ${b:-"in ${a b} x"}
### times in prompts
x='\t \T \@ \A \d \D{%F} \D{}'; TZ=JST-9; y=${x@P}; echo "${y//[0-9]/N}" | cut -c1-16; x='\D{%z %Z}'; echo "${x@P}"
### alternatives of lists without elements
set --; printf "[%s]" a "${@+}"; echo
printf "[%s]" a "${@+x}" "${@:+}" "${*+}"; echo
unset a; printf "[%s]" a "${a[@]+}" "${a[*]+}"; echo
set -- ""; printf "[%s]" a "${@:+}" "${@:+x}" "${@+}"; echo
set -- q; printf "[%s]" a "${@+}" "${@+"$@"}"; echo
set --; printf "[%s]" a "${@-}" "x${@+}"; echo
printf "[%s]" a "${@+}${@+}"; echo; printf "[%s]" a "${@+}"""; echo
y=; printf "[%s]" a "${@+}$y"; echo; printf "[%s]" a "${y+}${@+}"; echo
a=(); printf "[%s]" z "${a[@]+"${a[@]}"}"; echo; a=(1 "2 3"); printf "[%s]" z "${a[@]+"${a[@]}"}"; echo
set --; printf "[%s]" z "${@+"$@"}"; echo; f() { echo $#; }; f "${@+"$@"}"; f "${a[@]:+"${a[@]}"}"; declare -A m; f "${m[@]+"${m[@]}"}"
x="${@+}"; echo "[$x]"; case "${@+}" in '') echo empty;; esac; [[ -z "${@+}" ]] && echo z; for i in "${@+"$@"}"; do echo loop; done
