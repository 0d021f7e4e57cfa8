### status of empty
:; if false; then :; fi; echo $?; while false; do :; done; echo $?; case x in esac; echo $?; { :; }; echo $?; eval ''; echo $?; $nothing; echo $?; false; $nothing; echo $?
### status of substitution as command
$(exit 3); echo $?; $(false) ; echo $?; x=$(exit 4); echo $?; x=$(exit 4) true; echo $?; $(echo true); echo $?
### status of local with substitution
f() { local x=$(false); echo $?; local y; y=$(false); echo $?; }; f
### and or chain
true && false || echo a; false && true || echo b; true || echo no && echo c; false || false || echo d
### return in loops
f() { while true; do for i in 1 2; do return 5; done; done; }; f; echo $?
### return without value
f() { (exit 9); return; }; f; echo $?; f() { false; return $?; }; f; echo $?
### exit in function
f() { exit 4; }; f; echo no
### exit in subshell in function
f() { (exit 4); echo $?; }; f
### exit status modulo
(exit 256); echo $?; (exit 257); echo $?; (exit -1); echo $?
### function overrides
ls() { echo my ls; }; ls; unset -f ls; f() { echo 1; f() { echo 2; }; }; f; f
### function with odd names
a-b() { echo ab; }; a-b; a.b() { echo dot; }; a.b; function x:y { echo colon; }; x:y
### function body kinds
f() if true; then echo if; fi; f; g() for i in 1 2; do echo $i; done; g; h() [[ -n $1 ]]; h a; echo $?; k() ((1-1)); k; echo $?; m() case $1 in a) echo A;; esac; m a
### keyword arguments
echo if then else fi; for in in in; do echo $in; done
### deep recursion
f() { if [ $1 -gt 0 ]; then f $(($1-1)); else echo bottom; fi; }; f 500
### FUNCNEST
FUNCNEST=5; f() { f; }; f; echo no
echo $?
### unset function in itself
f() { unset -f f; echo still; }; f; f; echo $?
### nested functions and locals
f() { local a=1; g; echo "f $a"; }; g() { local a=2 b=3; h; echo "g $a"; }; h() { a=9; b=8; echo "h $a $b"; }; a=0; f; echo "$a [$b]"
### local restores unset
f() { local x=1; }; f; echo "${x-unset}"; x=5; f() { local x; unset x; echo "${x-unset}"; x=7; }; f; echo $x
### local attributes
f() { local -i n=3+4; local -r c=5; local -u up=abc; echo $n $c $up; n=1+1; echo $n; c=6; echo after; }; f; echo "[$n][$c]"
### local array
f() { local -a a=(1 2); local -A m=([k]=v); a+=(3); echo "${a[@]}" "${m[k]}"; }; a=(x); f; echo "${a[@]}"
### local dash
f() { local -; set -f; set -u; echo $-; }; f; case $- in *f*) echo bad;; *) echo ok;; esac
### local outside
local x=1; echo $?
### declare g
f() { declare -g G=1; local G2=2; declare -g G2=3; echo $G2; }; f; echo $G $G2
### nameref
f() { local -n r=$1; r=new; }; x=old; f x; echo $x; declare -n q=x; echo $q; q=z; echo $x; unset -n q; echo ${q-gone} $x
### nameref array
a=(1 2 3); declare -n r=a; echo ${r[1]} ${#r[@]}; r[1]=X; echo "${a[@]}"; r+=(4); echo ${#a[@]}; declare -n e='a[2]'; echo $e; e=Y; echo ${a[2]}
### temp env kinds
x=1 y=2; x=a y=b bash -c 'echo $x$y'; echo $x$y; x=c bash -c 'echo $x' | cat; x=d; x=$x$x bash -c 'echo $x'
### temp env order
x=1; x=2 y=$x bash -c 'echo $x $y'
### temp env function nested
f() { g; }; g() { echo "$v"; bash -c 'echo "$v"'; }; v=1 f; echo "[${v-unset}]"
### temp env builtin
IFS=: read a b c <<< "1:2:3"; echo "$a-$b-$c"; x=5 eval 'echo $x'; echo "[$x]"; x=a:b; IFS=: ; set -- $x; echo $1 $2
### temp env readonly
readonly r=1; r=2 true; echo $?; r=3 bash -c 'echo $r'; echo $?
### export forms
export a=1 b; b=2; bash -c 'echo $a $b'; export -n a; bash -c 'echo "[$a]"'; declare -x c=3; bash -c 'echo $c'; a=1 export a; bash -c 'echo $a'
### allexport
set -a; v=1; set +a; w=2; bash -c 'echo "$v[$w]"'
### assign many
a=1 b=$a c=$b; echo $a $b $c; a=x; a=$a$a b=$a; echo $b
### assign append
x=a; x+=b; echo $x; declare -i n=1; n+=2; echo $n; a=(1); a+=2; echo "${a[@]}"; a[0]+=z; echo "${a[@]}"; declare -A m; m[k]+=v; m[k]+=w; echo ${m[k]}
### integer variables
declare -i n; n=2+3; echo $n; n='4*5'; echo $n; x=7; n=x; echo $n; n=abc; echo $n
### case attributes
declare -u up=abc; declare -l low=ABC; declare -c cap=hELLO; echo $up $low $cap; up+=def; echo $up
### readonly errors
readonly a=1
a=2; echo no
echo $?
unset a; echo $?
readonly -a arr=(1 2); arr[0]=5; echo no
arr+=(3); echo no
echo "${arr[@]}"; declare -r b=2; b=3; echo no
for a in 1 2; do echo loop; done; echo $?
### array assign details
a=([2]=x y [0]=z); declare -p a; a=([5]=1); a[-1]=2; declare -p a; b=(); declare -p b; b[3]=; declare -p b; c=("${a[@]}" n); declare -p c
### array subscript arithmetic
i=1; a=(10 20 30); echo ${a[i+1]} ${a[$i]} ${a[-1]}; a[i++]=x; echo $i "${a[@]}"; a[1+1]+=y; echo "${a[2]}"
### array sparse
a[100]=x; a[10]=y; echo ${#a[@]} ${!a[@]}; unset 'a[10]'; echo ${!a[@]}; a+=(z); echo ${!a[@]}
### array errors
a=(1 2); a[-5]=x; echo no
echo $?; echo ${a[-5]}; echo $?; a[]=1; echo no
echo end
### assoc details
declare -A m; m[a b]=1; m["c d"]=2; k='e f'; m[$k]=3; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done; unset 'm[a b]'; echo ${#m[@]}; declare -A n=(k1 v1 k2 v2); declare -p n
### assoc from list expansions
x="a b"; declare -A m=([$x]="$x" [y]=$x); echo "${m[a b]}" "${m[y]}"; m+=([z]=1); echo ${#m[@]}; m=([only]=1); echo ${!m[@]}
### array convert
x=scalar; x[1]=second; declare -p x; declare -a y=5; declare -p y; z=5; declare -A z; echo $?
### unset forms
a=(1 2 3); unset a[0]; echo "${a[@]}"; unset a; echo "${a[@]-none}"; x=1; unset -v x; echo ${x-gone}; f() { :; }; unset f; type f 2>/dev/null; echo $?; unset nosuch; echo $?; unset 1x; echo $?
### word as command
c="echo a b"; $c; "$c"; echo $?; c=(echo "x y"); "${c[@]}"
### quoted command
"echo" a; \echo b; 'ec'ho c; e"ch"o d
### assignment like words
a=b echo a=b; echo x=1; x=~; echo $x | grep -c /; echo a=~
### variable named like option
set -- -n; echo "$1"; echo $1 x; echo
### background reads nothing
cat & wait; echo data | { cat & wait; }
### background order
for i in 1 2 3; do { echo $i; } & wait; done
### pipeline in background
echo x | cat & wait; (echo a; exit 3) | (cat; exit 4) & wait $!; echo $?
### wait list
(exit 1) & a=$!; (exit 2) & b=$!; wait $a $b; echo $?; wait $b $a; echo $?
### wait -p
(exit 3) & p=$!; wait -n -p who; echo $? $((who == p)); wait -n -p who; echo $? ${who-unset}
### jobs listing
sleep 0.2 & jobs; jobs -p | wc -l; kill %1; wait
### job specs
sleep 0.3 & sleep 0.2 | cat & jobs %1; jobs %+; jobs %-; jobs %sl 2>&1; jobs %9; kill %1 %2; wait
### disown
sleep 0.1 & disown; jobs; wait; echo $?
### kill status
sleep 5 & kill $!; wait $!; echo $?; sleep 5 & kill -9 $!; wait $!; echo $?
### kill trapped child
(trap 'echo caught; exit 7' TERM; sleep 0.05 & wait; sleep 1) & sleep 0.02; kill $!; wait $!; echo $?
### wait interrupted by trap
trap 'echo trap' USR1; (sleep 0.05; kill -USR1 $$) & sleep 1 & wait $!; echo $(( $? > 128 )); kill $!
### background trap reset
trap 'echo parent' EXIT; (echo child) & wait
### subshell exit trap
(trap 'echo t $?' EXIT; exit 3); echo $?; (trap 'echo a' EXIT; bash -c 'echo b'); x=$(trap 'echo in' EXIT; echo c); echo $x
### exit trap keeps status
(trap 'true' EXIT; exit 5); echo $?; (trap 'exit 6' EXIT; exit 5); echo $?; (trap 'false' EXIT; true); echo $?
### trap listing
trap 'echo a' INT TERM; trap '' HUP; trap; trap -p INT; trap - INT TERM HUP; trap
### trap by number and names
trap 'echo x' 2 SIGTERM usr1; trap | sort; trap 2; trap -p; trap - 15 10; trap
### trap errors
trap x NOSUCH; echo $?; trap -z; echo $?; trap -p BAD; echo $?
### trap in subshell listed
trap 'echo a' USR1; (trap); (trap 'echo b' USR2; trap); trap '' TERM; (trap)
### ignored signal inherited
trap '' TERM; bash -c 'kill -TERM $$; echo alive'; trap - TERM; bash -c 'kill -TERM $$; echo alive'; echo $?
### return trap and source
echo 'echo src' > s; trap 'echo ret' RETURN; . ./s; f() { echo f; }; f; declare -ft f; f
### err trap cases
trap 'echo E$?' ERR; false; ! true; true && false; false && true; if false; then :; fi; (exit 3); false | true; true | false; while false; do :; done; x=$(exit 4); [[ a == b ]]; ((0)); f() { false; }; f; { false; }; eval false
### err trap in function
f() { trap 'echo inner' ERR; false; }; f; false; g() { false; true; }; g; echo end
### debug trap extdebug skip
shopt -s extdebug; trap '[[ $BASH_COMMAND != *skip* ]]' DEBUG; echo a; echo skip; echo b
### errexit in trap
set -e; trap 'echo exit' EXIT; trap 'echo err' ERR; f() { false; }; f; echo no
### errexit ignored contexts
set -e; if false; then :; fi; while false; do :; done; until true; do :; done; false || :; false && :; ! true; { ! true; }; echo ok; if ! false; then echo ok2; fi; f() { false; echo in; }; if f; then echo cond; fi; f && echo and; ! f; echo end
### errexit subshell inherits
set -e; (echo a; false; echo b) || echo caught; (false; echo b); echo no
### errexit command substitution inherit
set -e; shopt -s inherit_errexit; x=$(false; echo a) || echo caught; echo "[$x]"; y=$(false; echo b); echo no
### errexit in pipeline stage
set -e; { false; echo a; } | cat; { echo b; false; } | cat; echo c; set -o pipefail; { false; echo x; } | cat; echo no
### errexit and functions in conditions
set -e; f() { set -e; false; echo reached; }; f || true; echo a; x=$(f) || true; echo "$x"
### errexit assignments
set -e; x=$(true); local=1; x=$(false) || echo b; declare y=$(false); echo c; z=$(false); echo no
### errexit arithmetic
set -e; ((1)); ((0)) || echo a; let 1; x=$((0)); ((x++)) || true; echo b; ((0)); echo no
### errexit source
set -e; echo 'false; echo in' > s; . ./s || echo or; . ./s; echo no
### errexit eval
set -e; eval 'false; echo in' || echo or; eval 'false'; echo no
### errexit cond
set -e; [[ a == b ]] || echo a; [[ a == b ]]; echo no
### errexit loop body
set -e; for i in 1 2; do [ $i = 3 ] || continue; done; echo a; for i in 1; do false; done; echo no
### set -e in subshell only
(set -e; false; echo no); echo $?; set +e; false; echo ok
### posix special builtin assignment
set -o posix; x=1 :; echo $x; x=2 true; echo $x; y=3 eval :; echo $y
### case patterns
case "a b" in "a b") echo 1;; esac; p='a*'; case abc in $p) echo 2;; esac; case 'a*' in "$p") echo 3;; esac; case abc in "$p") echo no;; *) echo 4;; esac; case x in [a-z]) echo 5;; esac; case Z in [!a-z]) echo 6;; esac; case '' in '') echo 7;; esac; shopt -s nocasematch; case ABC in abc) echo 8;; esac
### case expansions
x=b; case b in a) echo a;; $x) echo var;; esac; case b in $(echo b)) echo sub;; esac; case 3 in $((1+2))) echo arith;; esac; case ~ in "$HOME") echo home;; esac
### cond operators
[[ a < b ]] && echo 1; [[ b > a ]] && echo 2; [[ -z "" ]] && echo 3; [[ ! a == b ]] && echo 4; [[ ( a == a || b == c ) && d == d ]] && echo 5; [[ 5 -ge 5 && 3 -ne 4 ]] && echo 6; x=5; [[ x -eq 5 ]] && echo 7; [[ -v x ]] && echo 8; [[ -v nosuch ]] || echo 9; [[ a != b* ]] && echo 10; [[ $x ]] && echo 11; [[ "" ]] || echo 12
### cond files
echo a > f; mkdir d; ln -s f l 2>/dev/null; [[ -f f && -d d && -e f && ! -e g && -s f && -r f && -w f && ! -x f && -x d ]] && echo ok; [[ -t 0 ]] || echo notty; sleep 0.02; echo b > g; [[ g -nt f ]] && echo nt; [[ f -ot g ]] && echo ot; [[ f -ef ./f ]] && echo ef
### cond regex
[[ foobar =~ ^foo(b)(a)?r$ ]]; echo $? ${#BASH_REMATCH[@]} "${BASH_REMATCH[0]}" "${BASH_REMATCH[1]}"; r='a.c'; [[ abc =~ $r ]]; echo $?; [[ abc =~ "a.c" ]]; echo $?; [[ 'a.c' =~ "a.c" ]]; echo $?; [[ x =~ [ ]]; echo $?
### cond regex classes
re='^[[:alpha:]_][[:alnum:]_]*$'; [[ ab_1 =~ $re ]] && echo y; [[ 1ab =~ $re ]] || echo n; [[ "a b" =~ a\ b ]] && echo sp; [[ "line1
line2" =~ 1.l ]] && echo nl; [[ aXb =~ a[A-Z]b ]] && echo up; re='(a|b)+(c{2,3})'; [[ xababccc =~ $re ]]; echo "${BASH_REMATCH[@]}"
### arith for forms
for ((i=0,j=5; i<j; i++,j--)); do echo $i $j; done; for ((;;)) { break; }; for ((i=0;i<3;i++)); do [ $i = 1 ] && continue; echo $i; done
### for brace body
for i in 1 2; { echo $i; }; for i in a b
do echo $i
done
### select eof
select x in a b; do echo $x; done < /dev/null; echo $?
### select loops
printf '1\n\n9\n2\n' | { select x in one two; do echo "[$x][$REPLY]"; [ "$x" = two ] && break; done; }
### select many columns
printf '1\n' | { select x in a bb ccc dddd eeeee ffffff ggggggg hhhhhhhh iiiiiiiii jjjjjjjjjj kkkkkkkkkkk l; do echo $x; break; done; }
### group and redirect
{ echo a; echo b >&2; } > o 2> e; cat o e; if true; then echo c; fi > o; cat o; for i in 1 2; do echo $i; done > o; cat o; while read x; do echo "<$x>"; done < o; case a in a) echo d;; esac > o; cat o
### subshell redirect
(echo a; echo b >&2) > o 2>&1; cat o; (exit 3) > o; echo $?
### pipeline with compound
for i in 3 1 2; do echo $i; done | sort; echo x | while read y; do echo $y$y; done; if true; then echo if; fi | cat; { echo g; } | (cat; echo after)
### pipe and
ls nosuch |& cat | wc -l; { echo o; echo e >&2; } |& sort; f() { echo o; echo e >&2; }; f 2> x |& cat; cat x
### many stages
echo a | cat | cat | cat | cat | cat | cat | cat | cat; seq 1 100 2>/dev/null | cat | tail -1
### large data through pipe
i=0; while [ $i -lt 3000 ]; do echo "line number $i of a longish text to fill pipes"; i=$((i+1)); done | cat | wc -c
### reader closes early
i=0; while [ $i -lt 5000 ]; do echo $i; i=$((i+1)); done | head -2; echo ${PIPESTATUS[1]}
### exit codes in pipeline
exit 3 | exit 4; echo $? ${PIPESTATUS[@]}; (exit 1) | (exit 2) | (exit 3); echo ${PIPESTATUS[@]}
### negated pipeline status
! (exit 3) | true; echo $?; ! true | false; echo $?; if ! false | true; then echo a; else echo b; fi
### time
time (exit 3); echo $?; time -p true; time; ! time false; echo $?
### timeformat
TIMEFORMAT='x%%y'; time true; TIMEFORMAT=; time true; TIMEFORMAT='%Z'; time true
### exec fails
exec nosuch; echo no
### exec fails execfail
shopt -s execfail; exec nosuch; echo $?; exec ./nosuch; echo $?; exec /; echo $?
### exec with trap
trap 'echo bye' EXIT; (exec true); exec echo hi
### exec options
(exec -a name bash -c 'echo $0'); (exec -l bash -c 'echo $0'); (x=1; export x; exec -c bash -c 'echo "[$x]"')
### exec closes
exec 5< case.sh; read l <&5; echo "$l"; exec 5<&-; read l <&5; echo $?
### exec both
exec > o 2>&1; echo out; echo err >&2; nosuch; exec > /dev/stderr; cat o
### command not found handle
command_not_found_handle() { echo "handle: $*"; return 42; }; nosuch a b; echo $?
### scripts
printf 'echo "$0|$1|$#"\nexit 7\n' > s.sh; bash s.sh a b; echo $?; bash ./s.sh; echo $?; bash -c 'exit 3'; echo $?; bash nosuch.sh; echo $?; sh s.sh x
### nested shells
bash -c 'bash -c "bash -c \"echo deep\""'; echo 'echo from stdin; echo $1' | bash -s arg; bash -c 'echo $0 $@' a b c
### shell options on command line
bash -e -c 'false; echo no'; echo $?; bash -u -c 'echo $x; echo no'; echo $?; bash -x -c 'echo a'; bash -ec 'false; echo no'; bash -o pipefail -c 'false | true; echo $?'; bash +B -c 'echo {a,b}'; bash -O extglob -c 'case ab in @(a|ab)) echo y;; esac'
### shell usage errors
bash -c; echo $?; bash -o nosuch -c true; echo $?; bash -O nosuch -c true; echo $?
### SHLVL and PPID
echo $SHLVL; bash -c 'echo $SHLVL; bash -c "echo \$SHLVL"'; SHLVL=abc bash -c 'echo $SHLVL'; bash -c '[ $PPID -gt 1 ] && echo ok'
### environment of shell
PWD=/bogus bash -c 'echo ${PWD##*/}' | grep -c bogus; env -i bash -c 'echo $IFS | wc -c; echo $PS4'; FOO= bash -c 'echo ${FOO-unset}.'
### odd environment names
env 'a-b=1' bash -c 'env' 2>/dev/null | grep '^a-b' ; echo $?
### exported functions
f() { echo "fn $*"; }; export -f f; bash -c 'f a; bash -c "f b"'; export -nf f; bash -c 'f c' 2>/dev/null; echo $?
### BASH_ENV
echo 'echo env file' > e; BASH_ENV=./e bash -c 'echo main'; BASH_ENV=./e sh -c 'echo sh'
### startup dollar zero
bash -c 'echo $0'; bash -c 'echo $0' name; cp case.sh /dev/null; echo 'echo $0' > z; bash z; bash ./z; . ./z
### options flags
echo $-; set -eu; echo $-; set +eu; set -o noglob; echo $- *; set +f; shopt -so errexit; echo $-; set +e
### source args
echo 'echo "$#:$*"; shift; echo "$*"; set -- n' > s; set -- a b c; . ./s x y; echo "$*"; . ./s; echo "$*"
### source return and nesting
echo 'return 3; echo no' > s; . ./s; echo $?; echo '. ./s; echo $?' > t; . ./t; f() { . ./s; echo f $?; }; f; echo 'f() { echo from s2; }' > u; . ./u; f
### source missing
. ./nosuch; echo $?; source; echo $?; . .; echo $?
### eval positions
eval echo a \; echo b; eval 'f() { echo $1; }' ; f x; eval 'x=1
y=2'; echo $x$y; eval "echo \"a b\""; eval 'break'; for i in 1 2; do eval break; done; echo $i; f() { eval return 3; }; f; echo $?
### eval syntax error
eval 'if'; echo $?; eval 'echo )'; echo $?; eval '"'; echo $?
### syntax error ends script
echo a
if then
echo b
### syntax error in middle
echo a
echo )
echo b
### unterminated quote
echo a
echo "b
### heredoc unterminated
cat <<EOF
a
### xtrace details
PS4='+$LINENO: '; set -x; f() { local a=1; echo "$a b"; }; f x
a=(1 "2 3"); a[1]=z; declare -i n=5; [[ -z "" && a != b ]]; : ${x:=5}; echo $(echo sub); set +x
### xtrace quoting
set -x; echo '' 'a b' "it's" $'\n' '$x' '~' 'a=b' '#' '*' 'é' $'\001'; x='a b'; y=; z=$'\t'
### xtracefd
exec 9> tr; BASH_XTRACEFD=9; set -x; echo a; set +x; cat tr
### LINENO in places
echo $LINENO; f() { echo $LINENO
echo $LINENO; }
f; eval 'echo $LINENO'; eval '
echo $LINENO'
for i in 1
do echo $LINENO
done; (echo $LINENO); echo $(echo $LINENO)
trap 'echo trap $LINENO' EXIT
### LINENO assign and unset
LINENO=100; echo $LINENO
echo $LINENO; unset LINENO; echo "[$LINENO]"
### dollar underscore
echo a b; echo $_; true; echo $_; x=1; echo "[$_]"; f() { :; }; f q; echo $_
### BASH variables
echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL)); echo $(echo $BASH_SUBSHELL); : | echo $BASH_SUBSHELL; { echo $BASH_SUBSHELL; } & wait
### BASH_COMMAND
echo "$BASH_COMMAND"; f() { echo "$BASH_COMMAND" x; }; f a; trap 'echo "$BASH_COMMAND"' EXIT; true
### BASH_ARGV0
#@ mode: c
#@ args: zero
BASH_ARGV0=new; echo $0; nosuch
### BASH_EXECUTION_STRING
#@ mode: c
echo "$BASH_EXECUTION_STRING"
### SECONDS and EPOCH
SECONDS=10; [ $SECONDS -ge 10 ] && echo ok; [ $EPOCHSECONDS -gt 1600000000 ] && echo ok; case $EPOCHREALTIME in *.??????) echo ok;; esac; [ "$SRANDOM" != "$SRANDOM" ] && echo ok
### special unset
unset RANDOM; RANDOM=abc; echo $RANDOM; unset SECONDS; echo "[$SECONDS]"
### DIRSTACK GROUPS
echo ${#DIRSTACK[@]}; GROUPS=5; echo ${GROUPS[0]}; FUNCNAME=x; echo "[$FUNCNAME]"
### SHELLOPTS
set -u; echo $SHELLOPTS; SHELLOPTS=x; echo no
### PATH change clears hash
mkdir a b; echo 'echo one' > a/cmd; echo 'echo two' > b/cmd; chmod +x a/cmd b/cmd; PATH=$PWD/a:$PATH; cmd; PATH=$PWD/b:$PATH; cmd; hash -r; cmd
### hash builtin
hash -r; hash; cat < /dev/null; hash | grep -c cat; hash -t cat | grep -c bin; hash -d cat; hash nosuch; echo $?; hash -p /bin/true zzz; zzz; echo $?
### command
command -v if echo f nosuch; echo $?; command -V echo; command; echo $?; command -x; echo $?; command -p echo hi; command export q=1; echo $q
### builtin
builtin echo a; builtin nosuch; echo $?; builtin; echo $?; cd() { echo fn; }; builtin cd .; cd; unset -f cd
### break errors
break; echo $?; continue; echo $?; for i in 1 2; do break 0; echo no; done; echo $?; f() { break; }; for i in 1 2; do f; echo $i; done
### procsub out
echo data > >(cat > o); wait; sleep 0.05; cat o; f() { echo z; }; f > >(cat); sleep 0.05
### procsub status
cat <(exit 3); echo $?; : <(sleep 0.01); wait $!; echo $?
### coproc named
coproc C { cat; }; echo hi >&${C[1]}; read x <&${C[0]}; echo $x; eval "exec ${C[1]}>&-"; wait $C_PID; echo $?
### coproc simple
coproc cat; echo hi >&"${COPROC[1]}"; read x <&"${COPROC[0]}"; echo $x; kill $COPROC_PID
