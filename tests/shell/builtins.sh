### caller
f() { caller; caller 0; caller 1; caller 5; echo $?; }; g() { f; }
g
caller; echo $?; caller 0; echo $?; caller x
### caller sourced
echo 'h() { caller 0; }; h; caller' > lib; . ./lib
### BASH_ARGV
shopt -s extdebug; f() { echo "${BASH_ARGV[@]}" - "${BASH_ARGC[@]}"; g x "$@"; }; g() { echo "${BASH_ARGV[@]}" - "${BASH_ARGC[@]}"; }; f a b c; echo "${BASH_ARGV[@]}" - "${BASH_ARGC[@]}"
### FUNCNAME
f() { echo "${FUNCNAME[@]}" "${BASH_LINENO[@]}" "${BASH_SOURCE[@]}"; g; }; g() { echo "${FUNCNAME[@]}" "${BASH_LINENO[@]}"; }
f
echo "${FUNCNAME[@]-none}" "${BASH_LINENO[@]-none}" "${BASH_SOURCE[@]}"
### enable
enable -n echo test; type -t echo; enable -n; enable echo; enable -a | head -5; enable -s; enable nosuch; echo $?; enable -p | tail -3; enable -d echo; echo $?; enable -f /nope foo; echo $?; enable -x
### hash
hash; echo $?; hash ls cat; hash -t ls cat; hash -l; hash -d ls; hash -t ls; echo $?; hash -p /bin/echo foo; hash -t foo; hash nosuch; echo $?; hash -r; hash; hash -d nosuch; hash -t; hash -x
### times umask
umask 027; umask; umask -S; umask -p; umask -p -S; umask u=rwx,g=rx,o=; umask; umask a+x; umask; umask 999; umask u=q; umask -x; umask g-w,o+r; umask
### ulimit
ulimit -n nosuch; ulimit -x x; ulimit -y; ulimit -a -n x >/dev/null; echo $?; ulimit -c 0; ulimit -c; ulimit -Sc; ulimit -Hc
### TIMEFORMAT
TIMEFORMAT='%R %U %S'; { time :; } 2>&1 | tr 0-9 N; TIMEFORMAT='%P'; { time :; } 2>&1 | tr -s 0-9 N; TIMEFORMAT='%3R %0U %lR %2lS %%'; { time :; } 2>&1 | tr 0-9 N; TIMEFORMAT=; time :; TIMEFORMAT='%q'; time :; TIMEFORMAT='x%'; time :; unset TIMEFORMAT;  { time -p :; } 2>&1 | tr 0-9 N; { time; } 2>&1 | tr 0-9 N; time -- echo a 2>/dev/null
### printf 
printf '%s|%5s|%-5s|%.2s|%c|%d|%i|%o|%x|%X|%#x|%+d|% d|%05d|%e|%g|%f|%b|%q|%%\n' a b c def xyz 1 2 8 255 255 255 3 4 5 1.5 1.5 1.5 'a\tb' "a b"
printf '%d\n' x; echo $?; printf '%d\n' 0x1f 010 "'a" '"b' 1.5; printf '%s %s\n' a b c; printf '%z\n'; printf '%(%Y)T\n' 0; printf '%(%F %T)T|\n' -1 >/dev/null; printf -v v '%s-' 1 2; echo $v; printf -v 'a[3]' x; declare -p a; printf -v 1x y; echo $?; printf; printf -x; printf '\x41\u00e9\101\e[0m\c x\n'; printf '%b' '\0101\x41\c' no; printf '%*d|%-*d|%.*f\n' 5 1 5 2 2 3.14159; printf '%Q|%.2Q\n' 'a b' 'a b'; printf '%s' > /dev/full; echo $?; printf '%d\n' 99999999999999999999; printf '%u\n' -1; printf '%hhd %ld %lld\n' 300 1 2; printf '%n' x; printf '%5c|%-3c|\n' a b; printf "%s\n" ; printf -- '-%s\n' a; printf '%a\n' 1; printf '%s %d %s\n' a 
### echo
echo -e 'a\tb\x41\u00e9\0101\c' x; echo; echo -n a; echo -E 'a\t'; echo -ne 'x\n'; echo -nex; echo --; shopt -s xpg_echo; echo 'a\tb' '\0101'; echo -E 'a\tb'; set -o posix; echo -e x
### read
printf 'a b c\nd\\\ne f\n' | { read x y; echo "$x|$y"; read -r z; echo "$z"; read w; echo "$w"; read q; echo "$? [$q]"; }
IFS=: read -a arr <<< 'x:y::z:'; declare -p arr; read -n 3 t <<< abcdef; echo $t; read -N 4 t <<< $'a\nbcd'; echo "$t"; read -d : t <<< 'aa:bb'; echo $t; read -p prompt t <<< x; read -t 0 t <<< x; echo $?; read -t -1 t; echo $?; read -t x t; echo $?; read -u 9 t; echo $?; read 1x; echo $?; read -n x t; echo $?; read -u x t; echo $?; read -i aa -e t <<< bb; echo $t; read -s t <<< cc; echo $t; read <<< ' ab '; echo "[$REPLY]"; read -z; readonly ro=1; read ro <<< 2; echo $?; read -a x y <<< 'a b'; declare -p x ; read 'a[2]' <<< q; declare -p a; read -rd '' t <<< $'m\nn'; echo "$? $t"; read -t 0.01 t < <(sleep 1); echo $?; read -n 0 t <<< abc; echo "$? [$t]"
### jobs -n tells of changes only
sleep 0.05 & jobs -n; wait; (exit 2) & wait $!; jobs -n; jobs
### declare -F tells where under extdebug
f() { :; }
shopt -s extdebug; declare -F f; shopt -u extdebug; declare -F f
### ulimit -a has bash's columns
ulimit -a | sed 's/[^ ]*$//'
### before the first command
echo "${_##*/}"
