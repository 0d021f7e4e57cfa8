# echo: options and escapes. Compared with bash 5.2.
export LC_ALL=C.UTF-8
e() { echo "$@" | cat -A; }
e -n a; e -e 'a\tb\x41\0101\101\u00e9\e\E\q\\\"\cfoo' x; e -E 'a\t'; e -ne 'a\n'; e -nx; e -- a; e -; e -n -e -E 'a\tb'; e
e -e '\x' '\u' '\0' '\0777' '\8' '\x414' '\u12345' '\U1F600x'; e -eE 'a\tb'; e -e 'a\'; e -e '\0a'; e -e '\a\b\f\n\r\t\v'
e --help x; e -e '\1' '\01011'; e -e '\x4g'; e -e '\c' x; e -e 'a\u'; e -e "\\'\\\"\\?"; e a '' b; e ''
shopt -s xpg_echo; echo 'a\tb'; echo -n 'a\tb'; echo -E 'a\tb'
set -o posix; echo -n 'a\tb'; echo -e x
echo a >/dev/full; echo $?
