#-- alias
alias; alias a='b c' d="it's" e= ; alias; alias a; alias -p; alias x; echo $?
alias 'a/b=c'; echo $?; alias -x; echo $?; alias 'b$=1'; echo $?; alias a d nope; echo $?; alias -- -p=x; alias
#-- unalias
alias a=1 b=2
unalias; echo $?; unalias nope a; echo $?; alias; unalias -a; alias; unalias -x; echo $?; alias 'x=a
b'; alias; alias 'q w=1'; echo $?; alias =x; echo $?
#-- alias-redefine
shopt -s expand_aliases
alias x='echo 1'
x
alias x='echo 2'
x
unalias x
x 2>/dev/null; echo $?
#-- let
let; echo $?; let 1 0; echo $?; let 'a=1' 'b=a+1'; echo $? $a $b; let '1+'; echo $?; let -- 1; echo $?; let 'x = 5 , x * 2'; echo $? $x
#-- caller
caller; echo $?
f() { caller; caller 0; caller 1; caller 5; echo $?; caller x; echo $?; caller -1; echo $?; }
g() { f; }
g
caller 0; echo $?
#-- enable
enable -n echo; type echo; enable -n; enable echo; enable -a | head -3; enable -ps | head -2; enable nosuch; echo $?
enable -d echo; echo $?; enable -n nosuch echo; echo $?; enable -x; echo $?; enable echo; enable -n test; enable -n; enable test
type -t echo test
#-- colon-true-false
: a b; echo $?; true --help; echo $?; false --help; echo $?; : $(echo x >&2)
#-- compgen-lists
compgen -W "c a b ab"; echo $?; compgen -W "c a b ab" a; compgen -W "c a" x; echo $?
compgen -P '<' -S '>' -W 'x y'; xx=1; compgen -W '$xx "a b" c\ d'; compgen -X 'a*' -W 'a b ab c'; compgen -X '!a*' -W 'a b ab c'
#-- compgen-files
mkdir d1 d0; : > a; : > c.txt
compgen -f | sort; compgen -d | sort; compgen -f d | sort; compgen -f ./ | sort; compgen -G '*.txt'
#-- compgen-shell
f() { :; }; xx=1; xa=(1); export xe=1; alias zz=1
compgen -A function; compgen -v x; compgen -e xe; compgen -A arrayvar x; compgen -b ec; compgen -k wh; compgen -A setopt no; compgen -A shopt comp
compgen -a; compgen -u roo; compgen -g roo; compgen -A signal SIGTE; compgen -A nosuch; echo $?; compgen; echo $?
compgen -A command compge; compgen -A enabled ech; compgen -A disabled; echo $?
#-- complete-empty
complete; echo $?; complete -p; complete -p nope; echo $?; complete -r nope; echo $?; complete -r; echo $?; compopt; echo $?
#-- history-empty
history; echo $?; history 5; echo $?; history -c; echo $?; history x; echo $?
#-- help
help -s echo; help nosuch; echo $?; help -x; echo $?
