### complete print
complete -W 'a b' foo; complete -F _f -o nospace bar baz; complete -d cd2; complete -A hostname -P '<' -S '>' -X '*.o' q; complete -C 'cmd x' z; complete -G '*.c' gg; complete -p foo; complete -p bar baz cd2 q z gg; complete -r foo; complete -p foo; echo $?; complete -D -F d; complete -E -W e; complete -I -v; complete -p -D; complete -p -E; complete -p -I; complete -r -D; complete -p -D; echo $?; complete -r; complete; echo $?; complete -r nosuch; echo $?
### complete print order
complete -o bashdefault -o default -o dirnames -o filenames -o noquote -o nosort -o nospace -o plusdirs x; complete -p x; complete -abcdefgjksuv y; complete -p y; complete -A arrayvar -A binding -A disabled -A enabled -A function -A helptopic -A hostname -A running -A setopt -A shopt -A signal -A stopped w; complete -p w; complete -W "it's" -X '!*' v; complete -p v; complete -F; complete -o nosuch a; echo $?; complete -A nosuch a; echo $?; complete -x; complete -W; complete -F f; echo $?; complete -p nosuch; complete -F 'a b' g; echo $?; complete -F /x g; echo $?; complete '' ; echo $?; complete -F f ''; complete -p ''; complete -W a 'a b' ; complete -p 'a b'
### compopt
compopt -o nospace; echo $?; complete -W a foo; compopt -o nospace foo; echo $?; complete -p foo; compopt +o nospace foo; complete -p foo; compopt foo; compopt nosuch; echo $?; compopt -o bad foo; echo $?; compopt -x; compopt -D -o nospace; echo $?; complete -D -W a; compopt -D -o nospace; complete -p -D; compopt -D
### compgen F
_f() { COMPREPLY=(one two "$1" "$2" "$3" "${COMP_WORDS[*]}" "$COMP_CWORD" "$COMP_LINE" "$COMP_POINT" "$COMP_TYPE" "$COMP_KEY"); }; compgen -F _f; compgen -F _f o; echo $?; compgen -F nosuch x; echo $?; _g() { COMPREPLY=(); }; compgen -F _g; echo $?; _h() { COMPREPLY=(abc abd xyz); compopt -o nospace; echo $?; return 124; }; compgen -F _h ab
### compgen C
c() { echo "$1|$2|$3"; echo ab; echo cd; }; compgen -C c; compgen -C c a; compgen -C 'echo "x y"' ; compgen -C false; echo $?
### compgen misc
compgen -W 'foo bar baz' b; compgen -W '$x "a b" c' -- ; x='p q' ; compgen -W '$x'; IFS=: compgen -W 'a:b c'; compgen -P '<' -S '>' -W 'a b'; compgen -X 'f*' -W 'foo bar'; compgen -X '!f*' -W 'foo bar'; compgen -X '&' -W 'foo bar' foo; echo $?; compgen -A nosuch; echo $?; compgen -b ec; compgen -k f; compgen -A setopt no; compgen -A shopt ext; compgen -A signal SIGT; f1() { :; }; compgen -A function f; v1=1 v2=2; compgen -v v; arr=(1); compgen -A arrayvar ar; export EXPO=1; compgen -e EXP; alias al=x; compgen -a; touch f1 f2; mkdir d1; compgen -f f; compgen -d; compgen -f | sort; compgen -G 'd*'; compgen -o dirnames x; echo $?; compgen -o default f; compgen -o filenames -f d; compgen -o plusdirs -W 'x' ; compgen -o nosuch; echo $?; compgen -A helptopic ech; compgen -A enabled ec; compgen -A running; compgen -A job; compgen -u roo; compgen -g roo; compgen -p; echo $?; compgen -D; compgen; echo $?; compgen -V x -W 'a b'; compgen -f nosuch; echo $?; compgen -f d1/; compgen -f ~/nosuch; compgen -f '~'
### complete in order
complete -F f; echo A $?
complete -F 'a b' g; echo B $?
complete -F /x g; echo C $?; complete -p g
complete ''; echo D $?
complete foo; echo E $?; complete -p foo
complete -p nosuch; echo F $?
complete -W a 'a b' 'x$y' "q'r"; complete -p 
complete -o nospace; echo G $?
complete -W x -D y; complete -p y -D
complete -r -E; echo H $?
complete -P a -S "b c" -W '' zz; complete -p zz
compopt -o nospace a b; echo I $?
_f() { COMPREPLY=(b a c); compopt -o nosort; compopt; compopt -o nospace foo; }; complete -W a foo; compgen -F _f; complete -p foo
_g() { echo "in $@"; COMPREPLY=x; }; compgen -F _g w
_h() { unset COMPREPLY; }; compgen -F _h; echo J $?
cd /; complete -F _f a; (complete -r a; complete -p a); complete -p a
