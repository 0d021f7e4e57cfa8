### echo
echo hello world
### exit status
false; echo $?; true; echo $?; (exit 7); echo $?
### and or
true && echo a || echo b; false && echo a || echo b; false || true && echo c
### sequence and group
{ echo a; echo b; }; (echo c; echo d)
### if
if true; then echo t; else echo e; fi; if false; then echo t; elif true; then echo ei; else echo e; fi; if false; then :; fi; echo $?
### while
i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; until [ $i -eq 0 ]; do i=$((i-1)); done; echo $i
### for
for i in a "b c" d; do echo "[$i]"; done; for i; do echo "$i"; done; for i in; do echo no; done; echo $?
#
### for args
set -- x "y z"; for i; do echo "[$i]"; done; for i do echo "$i"; done
### for arith
for ((i=0; i<3; i++)); do echo $i; done; for ((;;)); do break; done; echo $i
### case
case abc in a*) echo 1;; *) echo 2;; esac; case x in a|b) echo 1;; x|y) echo 2;; esac; case x in a) ;; esac; echo $?
### case fallthrough
case a in a) echo 1;& b) echo 2;;& c) echo 3;; a) echo 4;; *) echo 5;; esac
### break continue levels
for i in 1 2 3; do for j in a b c; do [ $j = b ] && continue 2; [ $i = 3 ] && break 2; echo $i$j; done; done; echo done $?
### functions
f() { echo "in f: $1 $#"; return 3; }; f a b; echo $?; function g { echo g; }; g; h() ( echo sub; x=5 ); x=1; h; echo $x
### function redirection
f() { echo out; echo err >&2; } 2>&1; f | cat
### recursion
fact() { if [ $1 -le 1 ]; then echo 1; else echo $(( $1 * $(fact $(($1-1))) )); fi; }; fact 10
### local
x=g; f() { local x=l; g; echo $x; }; g() { echo $x; x=changed; }; f; echo $x
### dynamic scope unset
x=1; f() { local x=2; g; echo "f:$x"; }; g() { unset x; echo "g:$x"; }; f; echo "top:$x"
### temp env
x=1; x=2 eval 'echo $x'; echo $x; f() { echo $x; x=3; }; x=2 f; echo $x
### local of temp env
f() { local x; echo "[$x]"; }; x=5 f; echo "[$x]"
### positional
set -- a b c; echo $1 $# "$*"; shift; echo $@; f() { echo $1; shift; echo $1; }; f x y; echo $1; set --; echo $#
### pipeline
echo abc | cat | cat; echo a | { read x; echo got $x; }
### pipestatus
false | true | (exit 3); echo "${PIPESTATUS[@]}"; true; echo ${PIPESTATUS[@]}; ! false | true; echo $? ${PIPESTATUS[@]}
### pipefail
set -o pipefail; false | true; echo $?; (exit 3) | (exit 4) | true; echo $?; true | true; echo $?
### lastpipe
shopt -s lastpipe; echo a b | read x y; echo $x-$y; x=0; printf '1\n2\n' | while read n; do x=$((x+n)); done; echo $x
### negation
! true; echo $?; ! false; echo $?; ! (exit 5); echo $?; ! ! false; echo $?
### command substitution
echo $(echo a; echo b) "$(echo a; echo b)" `echo c`; x=$(false); echo $?; x=$(exit 3) y=$(true); echo $?; echo "$(cat <<< hi)"
### nested substitution
echo $(echo $(echo $(echo deep))); echo "a$(echo "b$(echo "c")")"
### subst file
echo hi > f; echo "$(< f)"; x=$(<nosuch); echo $?
### subshell variables
x=1; (x=2; echo $x); echo $x; f() { echo f; }; (f() { echo g; }; f); f
### heredoc
x=1; cat <<EOF
a $x $((x+1)) `echo b` \$x
EOF
cat <<'EOF'
a $x
EOF
cat <<-EOF
	tab
	EOF
### herestring
cat <<< "a b"; cat <<< $HOME; read a b <<< "1 2"; echo $b
### redirections
echo a > f; echo b >> f; cat f; cat < f > g; cat g; echo err 2>&1 >&2 | cat; ls nosuch 2> e; echo $?; [ -s e ] && echo has
### redirection order
f() { echo out; echo err >&2; }; f 2>&1 > /dev/null | cat; f > /dev/null 2>&1; f &> all; cat all; f &>> all; wc -l < all
### fd duplication
exec 3>f; echo a >&3; exec 3>&-; cat f; echo b >&3; echo $?
### fd move
exec 3>f 4>&3-; echo x >&4; cat f; echo y >&3; echo $?
### varredir
exec {fd}> f; echo $((fd >= 10)); echo a >&$fd; exec {fd}>&-; cat f; echo b >&$fd; echo $?
### noclobber
set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f; echo d >> f; cat f
### rdwr
echo abc > f; exec 3<> f; read x <&3; echo $x; echo new >&3; exec 3>&-; cat f
### redirection failure
echo a > nonexist/x; echo $?; cat < nosuch; echo $?; { echo b; } > nonexist/y; echo $?; f() { echo c; }; f > nonexist; echo $?
### ambiguous
x="a b"; echo hi > $x; echo $?; echo hi > $nosuch; echo $?
### bad fd
echo a >&9; echo $?; cat <&8; echo $?
### command not found
nosuchcmd; echo $?; nosuchcmd 2>/dev/null; echo $?; ./nosuch; echo $?; /; echo $?
### not executable
echo 'echo hi' > s; ./s; echo $?; chmod +x s; ./s; echo $?; printf '#!/bin/sh\necho sh $0 $1\n' > t; chmod +x t; ./t arg
### errexit
set -e; false || echo or; if false; then :; fi; ! true; echo here; false; echo no
### errexit subshell
set -e; (false; echo no); echo no2
### errexit function
set -e; f() { false; echo infn; }; f || echo or; f; echo no
### errexit and list
set -e; false && true; echo still; true && false; echo no
### errexit cmdsub
set -e; x=$(false; echo a); echo "$x"; y=$(false); echo no
### errexit pipeline
set -e; false | true; echo ok; true | false; echo no
### errexit compound
set -e; { false; } || echo a; while false; do :; done; echo b; for i in 1; do false; done; echo no
### nounset
set -u; echo ${x-def}; echo $x; echo no
### error in expansion abandons line
echo $((1/0)); echo same
echo next
### arith command
((1)); echo $?; ((0)); echo $?; ((x=5, x+1)); echo $x $?
### cond
[[ a == a* ]] && echo 1; [[ a == "a*" ]] || echo 2; [[ -n x && ! -z x ]] && echo 3; [[ abc =~ b(.) ]] && echo ${BASH_REMATCH[@]}; [[ 2 -gt 1 ]] && echo 4
### select
select x in a b c; do echo "got $x $REPLY"; break; done <<< 2
### eval
x='echo a b'; eval $x; eval 'y=5'; echo $y; eval 'echo "$x"'; eval false; echo $?
### source
echo 'echo in $1; v=2; return 4; echo no' > s; . ./s arg; echo $? $v; source ./s; . nosuch; echo $?
### exec replaces
exec echo replaced; echo no
### exec redir
exec > f; echo hidden; exec >&2; cat f
### exit trap
trap 'echo bye $?' EXIT; echo a; exit 3
### exit trap in subshell
trap 'echo outer' EXIT; (trap 'echo inner' EXIT; echo a); echo b
### err trap
trap 'echo err $LINENO' ERR; false; if false; then :; fi; false || true; f() { false; true; }; f; (false); echo end
### errtrace
set -E; trap 'echo err $?' ERR; f() { false; }; f; x=$(false); echo end
### debug trap
trap 'echo "d:$BASH_COMMAND"' DEBUG; echo a; x=1; for i in 1 2; do :; done; f() { echo f; }; f; trap - DEBUG; echo end
### return trap
f() { trap 'echo ret' RETURN; echo f; }; f; g() { :; }; g; echo 'echo s' > s; . ./s
### signal trap
trap 'echo got' USR1; kill -USR1 $$; echo after; trap '' USR1; kill -USR1 $$; echo ign; trap - USR1
### trap in function continues
trap 'echo t $1' USR1; f() { kill -USR1 $$; echo f $1; }; f arg
### background
echo a & wait; echo b; (exit 3) & wait $!; echo $?; { sleep 0.01; echo later; } & echo now; wait
### wait any
(exit 4) & (sleep 0.05; exit 5) & wait -n; echo $?; wait -n; echo $?; wait -n; echo $?
### killed child
bash -c 'kill -9 $$'; echo $?; bash -c 'kill -TERM $$'; echo $?; (kill -SEGV $BASHPID); echo $?
### sigpipe
yes | head -1; echo ${PIPESTATUS[@]}
### procsub
cat <(echo a) <(echo b); echo x > >(cat); sleep 0.05; while read l; do echo "[$l]"; done < <(printf '1\n2\n')
### coproc
coproc { read x; echo "got $x"; }; echo hi >&${COPROC[1]}; read y <&${COPROC[0]}; echo $y; wait
### time format
TIMEFORMAT=; time true; TIMEFORMAT='%%x'; time false; echo $?
### aliases
shopt -s expand_aliases; alias hi='echo hello'
hi there; alias; unalias hi; hi
### xtrace
set -x; echo a "b c" $((1+1)); x=1 y="2 3"; x=5 true; [ a = a ]; for i in 1; do :; done; [[ a == b ]]; (( 1 )); case x in y) ;; esac; { set +x; } 2>/dev/null; echo end
### verbose
set -v
echo a
echo b
### noexec
#@ opts: -n
echo a
if true; then echo b; fi
### dash c args
#@ mode: c
#@ args: name one two
echo $0 $1 $2 $#
### stdin script
#@ mode: stdin
echo a
read x
this is data
echo "got $x"
cat
rest of it
### stdin args
#@ mode: stdin
#@ args: p q
echo $1 $2
### function names in messages
f() { nosuch; }; f
### command builtin
command echo a; command -v echo; command nosuch; echo $?; echo() { builtin echo fn "$@"; }; echo a; command echo b
### readonly
readonly x=1; x=2; echo no
echo $? $x; f() { local x=3; }; f; echo $?; unset x; echo $?
### functions unset
f() { echo f; }; unset -f f; f; echo $?
### exported function
f() { echo exported $1; }; export -f f; bash -c 'f x'
### env passing
x=1; export y=2; z=3 bash -c 'echo "[$x][$y][$z]"'; echo "[$z]"
### LINENO
echo $LINENO
f() {
  echo $LINENO
}
f; echo $LINENO
### BASH_SOURCE
f() { echo ${FUNCNAME[@]} ${BASH_SOURCE[@]} ${BASH_LINENO[@]}; }
g() { f; }
g
### special vars
echo $# $? $- ; echo ${#} ${?}; set -- a; echo $_; echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL)
### RANDOM seeded
RANDOM=42; echo $RANDOM $RANDOM; RANDOM=42; echo $RANDOM
### arrays
a=(1 2 "3 4"); echo ${#a[@]} "${a[2]}" "${a[@]}"; a[5]=x; echo ${!a[@]}; a+=(y); echo "${a[@]: -1}"; unset 'a[1]'; declare -p a
### assoc
declare -A m=([a]=1 [b]="2 3"); m[c]=4; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort; echo ${#m[@]}; declare -p m
### an inherited PWD stays, pwd cleans it
cd /tmp; for p in /tmp/ /tmp/. //tmp /tmp/../tmp /tmp// /usr tmp ''; do PWD=$p bash -c 'echo $PWD; pwd; cd .; echo $PWD'; done
