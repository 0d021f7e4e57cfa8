### set -x
set -x; a=1; b="x y" c=$'a\nb'; echo "$a" 'q r' $b; [[ $a == 1 && -n $b ]]; (( a + 1 )); for i in 1 2; do :; done; case $a in 1) echo one;; esac; if [ $a = 1 ]; then :; fi; f() { local x=1; echo in; }; f; arr=(1 'b c'); arr[3]=x; declare -A m=([k]=v); declare y=2; export z=3; x=$(echo sub); (echo s); cat <<< hi > /dev/null; echo > /dev/null; { echo g; }; while false; do :; done; for ((k=0;k<1;k++)); do :; done; ! true; true && false || :; let a++; eval 'echo e'; let 'a = 1'; unset a; select s in a; do break; done <<< 1; set +x
### PS4
PS4='+$LINENO:${FUNCNAME[0]}> '; set -x; f() { echo $(echo a); }
f
PS4=; echo b; unset PS4; echo c; PS4='$(echo z) '; echo d
### XTRACEFD
exec 5>tr; BASH_XTRACEFD=5; set -x; echo a; unset BASH_XTRACEFD; echo b; cat tr; BASH_XTRACEFD=99; echo c; BASH_XTRACEFD=x; echo d
### set -v
set -v
echo a
f() {
echo b
}
f
set +v
### shopt
shopt | head -100; shopt -s nosuch; echo $?; shopt -q extglob; echo $?; shopt -so pipefail; shopt -o pipefail; shopt -p extglob; shopt -su x; echo $?; shopt -u login_shell; echo $?; shopt extglob nosuch; echo $?; shopt -s | head -3;shopt -po | head -3
### exit codes
(exit 256); echo $?; (exit -1); echo $?; (exit x); echo $?; (exit 1 2); echo $?; (return 3); echo $?; f() { return 300; }; f; echo $?; f() { return x; }; f; echo $?; f() { return 1 2; }; f; echo $?; return 1; echo $?; break; continue; for i in 1; do break 0; echo $?; done; for i in 1; do break x; done; echo n; for i in 1; do break 99; done; nosuch; echo $?; ./nosuch; echo $?; /; echo $?; touch f; ./f; echo $?; chmod +x f; ./f; echo $?; '' ; echo $?; /etc/passwd; echo $?; kill -9 $BASHPID & wait $!; echo $?; ls nosuch 2>/dev/null; echo $?
### set -x of declare and its kin
set -x
declare -a a=(1 "b c" $x 'd"e')
declare -A m=([k]="v w" [l$x]=2)
readonly -a r=(1 2)
export e=3 e2="a b" e3
readonly q=4
f() { local -a l=(x y) p=3 n=(z); export l2=2; typeset -i u=3; }
f
declare b=(1 2)
declare -i c=1+1 d=(5 6)
export ee+=3
readonly e
declare -x z2=1
declare -r z3=1
b=()
declare -a b2=()
a+=(x "y z")
m+=([z]=1)
m=([q]='1 2' [r]=$'a\nb')
m2[x]=1
a[1+1]="q r"
EOT=1 true
a[0]=(1)
set -x
declare -a a=([2]=x y [1+3]=z [$((5))]+=q)
declare -A m=(k v "a b" c)
declare -A m2; declare m2=([x]=1)
f() { local -A z=([q]="it's"); local n=([0]=$'a\nb'); }; f
