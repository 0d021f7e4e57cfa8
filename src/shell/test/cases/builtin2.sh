#-- cd
# cd and pwd: logical and physical, CDPATH, messages. Compared with bash 5.2.
cd /; cd /tmp; root=/tmp/shell-case-cd; rm -rf $root; mkdir -p $root/d/a/b $root/d/c "$root/d/s p"; ln -s a $root/d/la; cd $root/d || exit
t() { "$@"; echo "rc=$? PWD=$PWD OLDPWD=$OLDPWD"; }
t cd nosuch; t cd a; t cd ..; t cd la/b; t cd ..; t cd ../..; t cd $root/d; t cd -P la; t cd -L ..; t cd la; t cd -P ..; t cd -; t cd -
t cd ''; t cd . ; t cd a c; t cd -x; t cd -e la; t cd -P -e .; cd $root/d; t cd -@ a; cd $root/d
(unset HOME; t cd); (HOME=; t cd); (HOME=/tmp; t cd); (unset OLDPWD; t cd -); (OLDPWD=/nosuch; t cd -); (OLDPWD=; t cd -); (OLDPWD=; t cd -- -)
CDPATH=$root:/tmp t cd d; CDPATH=.: t cd a; cd $root/d; CDPATH=: t cd a; cd $root/d; CDPATH=/nosuch::/tmp t cd a; cd $root/d; CDPATH=$root t cd ./a; cd $root/d;  CDPATH=$root/d t cd a/b;  cd $root/d; CDPATH=$root/d: t cd la; cd ..; CDPATH=.. t cd d; CDPATH=d t cd a; cd $root/d
echo >f; t cd f; t cd f/x; t cd la/../c; cd $root/d; t cd nosuch/..
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
export -n OLDPWD; x=$(declare -p PWD); echo "${x%%=*}"
(OLDPWD=a; cd -; pwd; OLDPWD=./..; cd -; OLDPWD=d; cd -P -); (cd $root; CDPATH=d:; cd la; cd $root; cd -P la; cd $root; CDPATH=./d/../d; cd la)
cd - >/dev/null; pwd; cd ~- 2>/dev/null && pwd
cd /; rm -rf $root
#-- dirs
# dirs, pushd, popd. Compared with bash 5.2.
cd /; cd /tmp; HOME=/tmp/shell-case-dirs; rm -rf $HOME; mkdir -p $HOME/d/a; cd $HOME/d || exit
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
#-- echo
# echo: options and escapes. Compared with bash 5.2.
export LC_ALL=C.UTF-8
e() { echo "$@" | cat -A; }
e -n a; e -e 'a\tb\x41\0101\101\u00e9\e\E\q\\\"\cfoo' x; e -E 'a\t'; e -ne 'a\n'; e -nx; e -- a; e -; e -n -e -E 'a\tb'; e
e -e '\x' '\u' '\0' '\0777' '\8' '\x414' '\u12345' '\U1F600x'; e -eE 'a\tb'; e -e 'a\'; e -e '\0a'; e -e '\a\b\f\n\r\t\v'
e --help x; e -e '\1' '\01011'; e -e '\x4g'; e -e '\c' x; e -e 'a\u'; e -e "\\'\\\"\\?"; e a '' b; e ''
shopt -s xpg_echo; echo 'a\tb'; echo -n 'a\tb'; echo -E 'a\tb'
set -o posix; echo -n 'a\tb'; echo -e x
echo a >/dev/full; echo $?
#-- getopts
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
#-- gnu
# printf, test, [ and echo of /usr/bin. Compared with coreutils 9.1.
export LC_ALL=C.UTF-8
p() { /usr/bin/printf "$@"; echo "rc=$?"; }
p '%s %n %s\n' abc x def
p '[%5s][%-5s][%.1s][%.2s]\n' é é é日 é日
p '[%c][%3c][%c]\n' é ab '' | cat -A
p '%d %d %d\n' 1 x 2
p '%d\n' ''
p '%d\n' 12abc
p '%d\n' 99999999999999999999
p '%u\n' -1
p '%x\n' -99999999999999999999
p '%d %d %d %d\n' 0x1f 010 "'a" '"é'
p '%d\n' "'"
p '%d\n' "'ab"
p '%d\n' ' 12'
p '%d\n' '12 '
p '%d\n' 0x; p '%d\n' 09; p '%d\n' +5; p '%d\n' 0b11
p '%d %s|'
p '%y\n' 1
p 'abc%'
p 'abc%5'
p 'abc%5y%s' a b
p '%*s|%-*s|%*s|\n' 5 a 5 b -5 c
p '%.*f|%.*f|\n' 2 3.14159 -2 3.14159
p '%*d\n' x 5
p '%f %e %g %a\n' 1 2 3 4
p '%F %E %G %A\n' inf nan -inf 0.1
p '%f\n' abc; p '%f\n' 1.5abc; p '%f\n' 1e99999; p '%f\n' ''; p '%f\n' "'a"; p '%.30f\n' 0.1
p '%Lf %lf %hf %hd %lld %jd %zd %td %qd\n' 0.1 0.1 0.1 1 2 3 4 5 6
p '%ld %hhd %jd %zd %td\n' 1 2 3 4 5
p '%+d % d %05d %-5d| %#x %#o %#X %5.3d %+.2f\n' 5 5 5 5 255 8 255 7 2
p "%'d\n" 1234567
p '%b|\n' 'a\tb\n\x41\101\0101\u00e9\U0001F600\q\"\\'
p '%b|%s' 'a\cb' c
p 'a\cb%s|\n' c
p '\101\0101\x41\u00e9\q\"\?\e\E\n' | cat -A
p '%q %q %q %q\n' '' 'a b' $'a\nb' 'é'"'"
p '%Q\n' a
p '%5q|\n' a
p '%10b|\n' 'a\tb'
p '%s\n'; p '%s %s\n' a b c
p 'x\n' a b
p
p -v
p -x
p -x a
p -- -x
p '%(%Y-%m-%d)T\n' 0
p '%i\n' 5; p '%1$s\n' a
p '%d' ; p '%f' ; p '%c' | cat -A; p '%q'; p '%b'
p '%ls %lc\n' abc xyz;p '%S %C\n' abc xyz
p '\x' 
p '\u' 
p '\u12' ;p '\ud800' ; p '\u0041'; p '\U00000024'; p '\u00e9'
p '\xzz'; p '\400\n' | cat -A
p '%b' '\x'
p '%b' '\u'
p '%b' '\0' '\400' '\777' '\8' '\1'| cat -A
p '%#.3g|%#.0f|%a|%.2a|%.0e\n' 1 1 1 1.999 15
p '%s %d\n' 1 2 3
p '%d%%\n' 5
p '%5%|\n'
p '%-%|\n'
p '%0s\n' a; p '%#d\n' 1; p '%+s\n' a; p '% s\n' a ; p "%'s\n" a; p '%#s\n' a; p '%0c\n' a ; p "%I d\n" 1; p "%Id\n" 1; p "%'x\n" 1; p '%#u\n' 1; p '%#c\n' 1; p '%.3c\n' 1; p '%+u\n' 1; p '% x\n' 1
p '%d\n' 1e3 0x1p3; p '%d\n' '"'; POSIXLY_CORRECT=1 p '%d\n' "'ab"; p '%d\n' "'"$'\xff'
p '%u\n' -99999999999999999999
p '%d\n' "a
b"
p '%d\n' "it's"
cd /tmp; echo x > gt; 
set -f; cd /tmp; set -f; while IFS= read -r a; do /usr/bin/test $a; echo "$a => $?"; set -- $a; /usr/bin/[ $a ]; echo "$a => $?";  done <<'X'
-l abc -eq 3
3 -eq -l abc
-l abc -eq -l xyz
-l abc
-l a = a
1 -eq 1 -a
a = a -a -z
a = a -a -t
a = a -a ! 
( a
( )
( ( a ) )
a b c
! a b
! a b c
! ! !
! ! ! !
( ! a ) -a b
( a -a b )
( a -a b ) -o c
( a b c d )
( a = a -a b = b )
( ( a = a ) -a b )
! ( a = a )
! ( a )
( a ) b
a = a -a b c
-a -a -a -a
-f
-f x y
-x a b
a -x b
-z a -b c
a = a )
-t -a a
-t 1x
+5 -eq 5
-0 -eq 0
00012 -eq 12
-5 -lt -4
99999999999999999999999 -gt 99999999999999999999998
-99999999999999999999999 -gt 99999999999999999999998
1  -eq  1
-p -o a
! -f x y
-n -o -z
-n -a -z
a -o -z
a -a -b -o c
a -ot
-ot
a -ot b -nt
- -eq 1
-- a
-1 -eq -1 -a b
a -o b -a
= = =
( = )
( = ( 
! =
! = a
( -n )
( -n a
-n )
1 -le 2 -o ( a -a b ) -a c
X
e() { /usr/bin/echo "$@" | cat -A; }
e -n a; e -e 'a\tb\x41\0101\101\u00e9\e\E\q\\\"\cfoo' x; e -E 'a\t'; e -ne 'a\n'; e -nx; e -- a; e -; e -n -e -E 'a\tb'; e; e -e '\x' '\u' '\0' '\0777' '\8' '\x414' '\u12345' '\U1F600x'; e -eE 'a\tb'; e -e 'a\' ; e -e '\0a' ; e -e '\a\b\f\n\r\t\v'; e --help x; e -e '\1' '\01011'; e -e '\x4g'
rm -f gt
#-- mapfile
# mapfile: options, callbacks, what is left unread. Compared with bash 5.2.
mkdir -p /tmp/shell-case-map; cd /tmp/shell-case-map || exit
t() { "$@"; echo "rc=$?"; declare -p MAPFILE a 2>/dev/null; unset MAPFILE a; }
p() { printf 'l1\nl2\nl3\nl4\nl5'; }
t mapfile < <(p); t mapfile -t a < <(p); t mapfile -n 2 a < <(p); t mapfile -s 2 -t a < <(p); t mapfile -O 3 -t a < <(p); a=(x y z q); t mapfile -O 1 -n 1 -t a < <(p); a=(x y z); t mapfile -t -n 1 a < <(p)
t mapfile -d : -t a <<< "x:y:z"; t mapfile -d '' a < <(printf 'x\0y\0z'); t mapfile -d '' -t a < <(printf 'x\0y\0z\0'); t mapfile -d xy -t a <<< "1x2y3"
cb() { echo "cb $1 [$2] $#"; }; t mapfile -C cb -c 2 a < <(p);  t mapfile -t -C 'cb extra' -c 1 -n 2 a < <(p); t mapfile -C cb a < <(p); t mapfile -c 2 a < <(p); t mapfile -C 'echo' -c 1 -s 1 -O 5 a < <(p)
t mapfile -u 3 -t a 3< <(p); t mapfile -u 9 a; t mapfile -u x a; t mapfile -n x a; t mapfile -n -1 a; t mapfile -s -1 a; t mapfile -O -1 a; t mapfile -O x a; t mapfile -c 0 -C cb a; t mapfile -c x a; t mapfile -x; t mapfile 1a; t mapfile a b </dev/null; t mapfile -n 0 -t a < <(p); t mapfile a </dev/null
p > pf; { mapfile -t -n 2 a; cat; } < pf; echo; p | { mapfile -t -n 2 a; cat; }; echo; 
declare -A h; mapfile h < <(p); echo $?; declare -r ro=1; mapfile ro < <(p); echo $?; readonly -a ra=(1); mapfile ra < <(p); echo $?
t mapfile -t a < <(printf 'a\0b\nc\n'); readarray -t a < <(p); declare -p a; readarray -x; t mapfile 'a[1]' < <(p); t mapfile '' < <(p)
s=str; mapfile -t s < <(p); declare -p s; f() { local b; mapfile -t b < <(p); declare -p b; }; f; declare -n nr=tgt; mapfile -t nr < <(p); declare -p tgt; declare -i ia; mapfile -t ia < <(printf '1+1\n2\n'); declare -p ia
mapfile <&-; echo $?; mapfile < /; echo $?; mapfile -C 'false' -c 1 a < <(p); echo $?
mapfile -s 3 -n 1 a < <(p); declare -p a; mapfile -s 99 a < <(p); declare -p a; mapfile -c 1 -C 'echo "$x" ' a <<< $'it\'s'
mapfile -t a < <(printf '%s\n' {1..3000}); echo ${#a[@]} ${a[2999]}
cd /; rm -rf /tmp/shell-case-map
#-- printf
# printf: conversions, flags, escapes, numbers that are none, -v. Compared with bash 5.2.
export LC_ALL=C.UTF-8
show() { cat -A; }
printf '%s %n %s\n' abc x def; echo "rc=$? x=$x"
printf '%s%n' abc 1x; echo "rc=$?"
printf '[%5s][%-5s][%.1s][%.2s]\n' é é é日 é日 | show
printf '[%c][%3c][%c]\n' é ab '' | show
printf '%d %d %d\n' 1 x 2; echo rc=$?
for n in '' 12abc 99999999999999999999 -99999999999999999999 ' 12' '12 ' 0x 09 +5 0b11 "'" "'ab" '"a' -5 0x1f 010; do
    printf '%d|' "$n"; echo "rc=$?"
    printf '%u|%x|%o\n' "$n" "$n" "$n"; echo "rc=$?"
done
printf '%d %d\n' "'a" '"é'
printf '%d\n' "'"$'\xff'
printf '%d %s|'; echo rc=$?
printf '%y\n' 1; echo rc=$?
printf 'abc%'; echo rc=$?
printf 'abc%5'; echo rc=$?
printf 'abc%5y%s' a b; echo rc=$?
printf '%d%Z%d\n' 3 4 5; echo $?
printf '%5.5.5d|\n' 3; echo $?
printf '%**s|\n' 5 2 abc; echo $?
printf '%5%|\n'; echo rc=$?
printf '%*s|%-*s|%*s|\n' 5 a 5 b -5 c
printf '%.*f|%.*f|\n' 2 3.14159 -2 3.14159
printf '%*d\n' x 5; echo rc=$?
printf '%*.*s|\n' 5 2 abc
printf '%f %e %g %a\n' 1 2 3 4
printf '%F %E %G %A\n' inf nan -inf 0.1
for n in abc 1.5abc 1e99999 1e-99999 '' "'a" -0 .5 5. 0x1p3 1e3 -nan 123456789; do
    printf '%f|' "$n"; echo "rc=$?"
    printf '%g|%e|%a\n' "$n" "$n" "$n"; echo "rc=$?"
done
printf '%.30f\n' 0.1
printf '%.3f %.0f %#.0f %#.3g %.2a %.0e\n' 1.0005 0.5 1 1 1.999 15
printf '%+f|% f|%010.2f|%-10.2f|%+010f|%010f|%010f|%010a|\n' 1 2 3 4 5 inf nan 1
printf '%Lf %lf %hf %hd %lld %jd %zd %td %qd\n' 0.1 0.1 0.1 1 2 3 4 5 6
printf '%+d % d %05d %-5d| %#x %#o %#X %5.3d %+.2f\n' 5 5 5 5 255 8 255 7 2
printf '%0-5d|%+ d|% +d|%+x|% u|%#5o|%#o|%#x|%#.0x|%.0d|%5.0d|%+.0d|\n' 1 2 3 4 5 6 0 0 0 0 0 0
printf '%#x|%08x|%#08x|%-#8x|%08.3d|%+08d|%#.5o|%#.5x\n' 255 255 255 255 5 5 8 8
printf '%05s|%-05s|%05c|%#s|%+s|% s|%05b|%05q|\n' a b c d e f g h
printf "%'d|%'s|\n" 1234567 a
printf '%b|\n' 'a\tb\n\x41\101\0101\u00e9\U0001F600\q\"\\'
printf '%b\n' "\\'" '\"' '\?' '\a\b\f\v' '\E\e' '\n' '\x4' '\x414' '\u41' '\u004142' '\08' '\018' '\1018' '\8' | show
printf '%b' '\x' '\u' '\0' '\400' '\777' '\8' '\1' | show
printf "\\' \\? \\8 \\1018 \\x414 \\u004142 \\u41g\n" | show
printf '%b\n' '\U110000' '\ud800' '\uffff' '\U7fffffff' '\UFFFFFFFF' | show
LC_ALL=C printf '\u00e9 %b\n' '\u00e9' | show
printf '%b|%s' 'a\cb' c; echo rc=$?
printf 'a\cb%s|\n' c; echo rc=$?
printf '\101\0101\x41\u00e9\q\"\?\e\E\n' | show
printf '\x'; echo rc=$?
printf '\u'; echo rc=$?
printf '\xzz\u00zz\400\n' | show
printf '%q %q %q %q\n' '' 'a b' $'a\nb' 'é'"'"
printf '%q\n' $'\x01' 'a~' '~a' 'a=b' '#a' '{a,b}' 'a!' 'a^b' 'é' ' ' $'\xff' '*' '-x' '$x' '`' '"' '\' '(' '&' ';' '<' '|' ',' ':' '@' '%' '+' '/' ']'
printf '%Q %.2Q|%5q|%-5q|%.3q|\n' 'a b' 'a b c' a b 'a b c d'
printf '%10b|%-10b|%.2b|\n' 'a\tb' 'ab' 'abcd'
printf '%.3b|%.3q|%.3Q|%3.1s|\n' 'a\tbcd' 'a b c' 'a b c' xyz
printf '%s\n'; printf '%s %s\n' a b c; printf 'x\n' a b; printf '%s %d\n' 1 2 3
printf; echo rc=$?
printf -v; echo rc=$?
printf -v 1x a; echo rc=$?
printf -v 'a[2]' %s hi; echo "${a[2]} rc=$?"
i=1; printf -v 'a[i+2]' %s hey; printf -v 'a[$i]' %s one; declare -p a
declare -A h; printf -v 'h[k y]' %s hi; k=kk; printf -v 'h[$k]' %s ho; declare -p h
printf -v a hello; declare -p a
printf -v x '%d' zz; echo "$x $?"
printf -v x '%y' zz; echo "$x $?"
printf -v x 'a%sb\n' 1 2; declare -p x
printf -v x -- '%s' q; echo "$x"
printf -vx '%s' qq; echo "$x"
printf -v z 'abc%ndef' q; echo $z $q
printf '%s%n%s%n\n' abc x de y; echo $x $y
printf '%s%n\n' abc x d y; echo $x $y
readonly ro=1; printf -v ro a; echo rc=$?
printf -x a; echo rc=$?
printf -- -x; echo rc=$?
printf --; echo rc=$?
printf '%s\n' -v a
export TZ=UTC
printf '%(%Y-%m-%d)T %(%s)T\n' 0 1
printf '%(%Y-%m-%d %H:%M:%S %Z)T\n' 86400
printf '%20(%F)T|%-20(%F)T|%.4(%F)T|%#(%F)T|%l(%F)T|\n' 0 0 0 0 0
printf '%()T\n' 0
printf '%(%F)X\n' 0; echo rc=$?
printf '%(%N %q %:z %1 %)T|\n' 0; echo rc=$?
printf '%(%F)T\n' abc; echo rc=$?
printf '%(%F)T\n' 99999999999999999; echo rc=$?
printf '%(%H(%M)%S)T|\n' 0
printf '%(%a %A %b %B %c %C %d %D %e %g %G %h %I %j)T\n' 1234567890
printf '%(%k %l %m %M %n %p %P %r %R %S %t %T %u)T\n' 1234567890
printf '%(%U %V %w %W %x %X %y %Y %z %Z %%)T\n' 1234567890
printf '%(%-d %_H %^a %#Z %5Y %05d)T\n' 1234567890
TZ=EST5EDT printf '%(%F %T %Z %z)T\n' 1234567890
printf '%ls %lc\n' abc xyz
printf '%d' ; echo; printf '%f' ; echo; printf '%c' | show; echo; printf '%q'; echo; printf '%b'; echo
printf '%.s|%.d|%.0s|\n' a 0 b
printf '%s' a >/dev/full; echo rc=$?
printf '%i\n' 5; printf '%1$s\n' a; echo rc=$?
printf '%s\n' {1..2000} | tail -n 1
#-- read
# read: splitting, escapes, limits, time, what is left unread. Compared with bash 5.2.
export LC_ALL=C.UTF-8
mkdir -p /tmp/shell-case-read; cd /tmp/shell-case-read || exit
t() { "$@"; echo "rc=$? "; declare -p a b c REPLY arr 2>/dev/null; unset a b c REPLY arr; }
t read a b c <<< "x y z w"
t read a b c <<< "  x   y  z w  "
t read a <<< "  x y  "
t read <<< "  x y  "
t read -r a <<< 'a\tb\\'
t read a <<< 'a\tb\\'
t read a b <<< 'a\ b c\ '
t read a b <<< $'a\\\nb c'
t read -r a b <<< $'a\\\nb c'
IFS=: t read a b c <<< "x:y:z:"
IFS=: t read a b c <<< "x:y:z::"
IFS=: t read a b c <<< "x:y:z:w:"
IFS=: t read a b c <<< "::"
IFS=: t read a b <<< ":x"
IFS=: t read a b <<< "x:"
IFS=: t read a <<< "x:"
IFS=: t read a <<< ":"
IFS=: t read a <<< "x::"
IFS=: t read a <<< "x:y:"
IFS=' :' t read a b c <<< " x : y  z : "
IFS=' :' t read a b <<< " x : y  z : "
IFS=' :' t read a b <<< "x y : "
IFS=' :' t read a b <<< "x y :: "
IFS=' :' t read a <<< "x : "
IFS=' :' t read a <<< "x :: "
IFS= t read a b <<< "  x y "
IFS= t read -a arr <<< "  x y "
t read -a arr <<< "  x y  z "
IFS=: t read -a arr <<< "x::y:"
IFS=: t read -a arr <<< ""
t read -a arr <<< ""
t read a < <(printf 'abc')
t read a < /dev/null
t read a b < <(printf 'abc def')
t read -n 3 a <<< "abcdef"
t read -n 3 a <<< "ab"
t read -n 3 a b <<< "a bcd"
t read -N 3 a <<< "ab"
t read -N 4 a b <<< "a bcd"
t read -N 4 a <<< $'a\nbcd'
t read -n 0 a <<< "abc"
t read -N 0 a <<< "abc"
t read -n 2 a <<< "日本語"
t read -N 2 a <<< "日本語"
t read -n 3 a <<< 'a\bcd'
t read -N 3 a <<< 'a\bcd'
t read -n 3 a <<< $'a\\\nbcd'
t read -d : a <<< "ab:cd"
t read -d '' a <<< "ab"
t read -d '' a < <(printf 'ab\0cd')
t read a < <(printf 'ab\0cd\n')
t read -d xyz a <<< "abxcd"
t read -n x a <<< "a"
t read -n -1 a <<< "a"
t read -N -1 a <<< "a"
t read -t x a <<< "a"
t read -t -1 a <<< "a"
t read -t 0 a <<< "a"
t read -t 0.1 a < <(sleep 0.5)
t read -t 0.2 a < <(printf abc; sleep 0.4)
t read -t 0 a < <(sleep 0.3)
t read -t 5 a <<< "a"
t read -u 9 a
t read -u x a
t read -u 3 a 3<<< "fd3"
t read -x a
t read 1a <<< x
t read a 1b c <<< "x y z"
t read 'a[2]' b <<< "x y"
t read -p prompt a <<< x
t read -s a <<< x
t read -e a <<< x
t read -i txt a <<< x
t read -ra arr <<< 'a\b c'
t read -a 1x <<< 'a'
t read -n
declare -r ro=1; t read ro <<< x; t read a ro b <<< "1 2 3"
t read -a 'arr[1]' <<< "x y"
declare -A h; t read -a h <<< "x y"
t read -a arr b <<< "x y"
t read '' <<< x
printf 'l1\nl2\nl3\n' | { read a; cat; }; printf 'l1\nl2\nl3\n' >lf; { read a; cat; } <lf
printf 'l1\nl2\nl3\n' | { read -N 4 a; cat; }; printf 'a:b:c' | { read -d : x; cat; }; echo
read -t 0.1 -n 5 a < <(printf ab; sleep 0.3); echo "$? $a"
read -t 0.1 -N 5 a < <(printf ab; sleep 0.3); echo "$? $a"
read -t 0.1 -a arr < <(printf 'ab cd'; sleep 0.3); echo "$? ${arr[*]}"
a=old; read -t 0.1 a < <(sleep 0.3); echo "$? [$a]"
a=old; read a </dev/null; echo "$? [$a]"
declare -i n; read n <<< 3+4; echo $n
declare -u up; read up <<< abc; echo $up
IFS=$'\t' read a b c <<< $'x\t\ty\t'; declare -p a b c
IFS=, read a b <<< "x , y ,"; declare -p a b
IFS=$' \t\n,' read a b <<< "x , y , "; declare -p a b
IFS=$' \t\n,' read a b <<< "x , y z , "; declare -p a b
IFS=é read a b <<< "xéyéz"; declare -p a b
read a b <<< 'x\  y'; declare -p a b
IFS=: read a b <<< 'x\:y:z\:'; declare -p a b
read a <<< 'x\ '; declare -p a
read a <<< '\ x '; declare -p a
read a b <<< '\ x \ y \ '; declare -p a b
IFS=x read a b <<< 'axxb'; declare -p a b
read -d $'\n' a b <<< "q r"; declare -p a b
read -d ' ' a <<< "q r"; declare -p a
read -d '\' a <<< 'q\r'; declare -p a
read -rd '\' a <<< 'q\r'; declare -p a
read a <<< 'q\'; declare -p a
printf 'q\\' | { read a; declare -p a; }
read -n 5 a < <(printf 'ab\\\n'; printf 'cdefg\n'); declare -p a
read -p; echo $?
read -t; echo $?
read -a; echo $?
read <&-; echo $?
read -t 1 <&-; echo $?
read -t 0 <&-; echo $?
read a < /; echo $?
cd /; rm -rf /tmp/shell-case-read
printf 'a b\nc d\n' | while read x y; do echo "$y $x"; done
while IFS= read -r l || [ -n "$l" ]; do echo "<$l>"; done < <(printf '1\n 2 \n3')
printf '%s\n' {1..300} | { s=0; while read n; do s=$((s+n)); done; echo $s; }
trap 'echo usr1' USR1; { sleep 0.2; kill -USR1 $$; } & read -t 1 x < <(sleep 0.6; echo late); echo "$? $x"; wait
echo 'x y' | { read a; read b; echo "$? [$a] [$b]"; }
read x y <<EOF
first second third
rest
EOF
echo "$x|$y"
{ read a; read -n 2 b; read c; } <<< $'one\ntwo\nthree'; echo "$a $b $c"
exec 5<<< $'l1\nl2'; read -u 5 a; read -u 5 b; read -u 5 c; echo "$? $a $b [$c]"; exec 5<&-
#-- shift
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
#-- test
# test and [: each operator, precedence by number of arguments, messages. Compared with bash 5.2.
r() { "$@"; echo "$* => $?"; }
d=/tmp/shell-case-test; rm -rf $d; mkdir $d; cd $d || exit
touch f; echo x > s; chmod 755 s; ln -s s l; ln -s nowhere dangling; mkdir dir; chmod 1777 dir; ln s hard; touch -d 2020-01-01 old; touch -d 2021-01-01 new
r [ ]; r [ a ]; r [ "" ]; r [ ! ]; r [ ! a ]; r [ ! "" ]; r [ -f ]; r [ -z "" ]; r [ -q a ]; r [ a b ]
r [ a = a ]; r [ a == b ]; r [ a != b ]; r [ a \< b ]; r [ a \> b ]; r [ a x b ]; r [ ! -z a ]; r [ \( a \) ]; r [ \( "" \) ]
r [ a -a b ]; r [ a -o "" ]; r [ "" -a b ]; r [ 1 -eq x ]; r [ x -eq 1 ]; r [ 1 -lt 2 ]; r [ " 1 " -eq 1 ]; r [ 1a -eq 1 ]; r [ '' -eq 0 ]
r [ 99999999999999999999 -eq 1 ]; r [ 9223372036854775807 -gt -9223372036854775808 ]; r [ 9223372036854775808 -gt 1 ]; r [ 0x10 -eq 16 ]; r [ 010 -eq 10 ]; r [ +5 -eq 5 ]; r [ - -eq 1 ]
for o in eq ne lt le gt ge; do for p in '1 2' '2 2' '2 1' '-1 1'; do set -- $p; r [ "$1" -$o "$2" ]; done; done
r [ ! a = b ]; r [ ! a = a ]; r [ \( a = a \) ]; r [ \( ! a \) ]; r [ a b c d ]; r [ a = a x ]; r [ a = a -a b = b ]; r [ a = a -o b = c -a c = d ]
r [ \( a = a -o b = c \) -a c = d ]; r [ ! \( a = a \) ]; r [ a = a -a ]; r [ -a ]; r [ -a a ]; r [ a -a ]; r [ \( a ]; r [ \( a = a ]; r [ a \) ]; r [ -n a -a -n ]
r test \( a = a; r test \( a; r [ a = a b ]; r [ a; r test a = a ]; r test; r test ']'; r [
r [ -z ]; r [ -t ]; r [ -t 99 ]; r [ -t x ]; r [ -t '' ]; r [ -t -a a ]; r [ -t -a a = a ]; r [ ! -t ]; r [ -t 0 -a a = a ]; r [ a = a -a -t x ]; r [ a = a -a -t 1x -a b ]
r [ -v HOME ]; r [ -v zz ]; a=(1 2); r [ -v a[1] ]; r [ -v a[5] ]; r [ -v 'a[@]' ]; r [ -v 1 ]; r [ -v 9 ]; r [ -R a ]; declare -n nr=a; r [ -R nr ]
declare -A h=([x]=1 [@]=2); k=x; r [ -v 'h[$k]' ];  r [ -v 'h[x]' ]; r [ -v 'h[y]' ]; r [ -v h ]; r [ -v 'h[@]' ]; r [ -v 'h[*]' ]
b=(); r [ -v b ]; b[1]=1; r [ -v b ]; r [ -v 'b[-1]' ]; r [ -v 'b[-5]' ]; r [ -v 'b[1+0]' ]; r [ -v 'zz[0]' ]; r [ -v 'HOME[0]' ]; r [ -v 'HOME[1]' ]; r [ -v '' ]; r [ -v '@' ]; r [ -v 0 ]; declare -i dd; r [ -v dd ]
r [ -o errexit ]; r [ -o nosuch ]; r [ -o ]; r [ ! -o errexit ]; set -u; r [ -o nounset ]; set +u
r [ dir -ef dir/. ]; r [ s -ef hard ]; r [ s -ef l ]; r [ s -ef f ]; r [ s -ef none ]; r [ new -nt old ]; r [ old -nt new ]; r [ old -ot new ]; r [ new -nt none ]; r [ none -nt new ]; r [ none -ot new ]; r [ new -ot none ]; r [ none -nt none ]
for o in a b c d e f g h k p r s t u w x G L N O S; do for f in f s l dangling dir none /dev/null ''; do r [ -$o "$f" ]; done; done
echo | r [ -p /dev/stdin ]; r [ -p s ]; chmod g+s,u+s f; r [ -g f ]; r [ -u f ]
r [ -z a -b c ]; r [ ! ! a ]; r [ ! ! ! a ]; r [ ! ! a = a ]; r [ \( \( a \) \) ]; r [ \( \) ]; r [ \( \( ]; r [ \) ]; r [ a = ]; r [ = ]; r [ = = = ]; r [ -a = -a ]; r [ ! = ! ]; r [ \( = \( ]; r [ \( = \) ]; r [ -f = ]; r [ -f = a ]; r [ -eq -eq -eq ]; r [ a -eq ]; r [ 1 -eq 1 -eq 1 ]
r [ a = b = c ]; r [ a -x b c ]; r [ x y z -a ]; r [ 1 -eq 1 -a 2 -eq x ]; r [ 1 -eq 2 -a 2 -eq x ]; r [ 1 -eq 1 -o 2 -eq x ]; r [ -n a b c d ] ; r [ a -n b c ]; r [ -z "" -o -z "" -o ]; r [ \( a -a b \) -o \( c \) x ]; r [ a -a -n ]; r [ a -a -n = -n ]; r [ -l a ]; r [ -l abc -eq 3 ]; r [ a =~ a ]
r [ a = a -a -z ]; r [ a = a -a -f ]; r [ a = a -a -f -a b ]; r [ -e -a b ]; r [ ! -a b ]; r [ ! a b c ]; r [ -a -a -a -a ]; r [ a = a -a '(' -z '' ')' ]; r [ '(' '!' ')' ]; r [ '(' '!' a ')' ]; r [ '!' '(' ')' ]; r [ '(' a ')' -a '(' b ')' ]; r [ a = a -a ! ]; r [ a = a -a ! b ]
r [ -v ]; r [ a -v b ]; r [ a -nt ]; r [ -n -o -z ]; r [ 1 -eq 1 -o ]; r [ -o -o -o ]; r [ -o -o ]; r [ ! ! ]; r [ ! ! ! ]; r [ a ! b ]; r [ '(' a b ')' ]; r [ '(' -n b ')' ]; r [ '(' a = b ')' ]; r [ '(' a = b ')' -a x ]; r [ '(' a = b -a x ]; r [ ! '(' a b ')' ]; r [ ! a b ]; r [ a -a '(' b ]
cd /; rm -rf $d
