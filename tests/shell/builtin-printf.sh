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
printf '%(%a %A %b %B %c %C %d %D %e %g %G %h %I %j %k %l %m %M %n %p %P %r %R %S %t %T %u %U %V %w %W %x %X %y %Y %z %Z %%)T\n' 1234567890
printf '%(%-d %_H %^a %#Z %5Y %05d)T\n' 1234567890
TZ=EST5EDT printf '%(%F %T %Z %z)T\n' 1234567890
printf '%ls %lc\n' abc xyz
printf '%d' ; echo; printf '%f' ; echo; printf '%c' | show; echo; printf '%q'; echo; printf '%b'; echo
printf '%.s|%.d|%.0s|\n' a 0 b
printf '%s' a >/dev/full; echo rc=$?
printf '%i\n' 5; printf '%1$s\n' a; echo rc=$?
printf '%s\n' {1..2000} | tail -n 1
