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
