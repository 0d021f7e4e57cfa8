### errors under set -e
#@ err: any
bash -c 'set -e; readonly r=1
r=2 || echo x
echo after'; echo "0: $?"
bash -c 'set -e; readonly r=1
read r <<< x || echo x
echo after'; echo "1: $?"
bash -c 'set -e; readonly r=1
for r in 1 2; do :; done || echo x
echo after'; echo "2: $?"
bash -c 'set -e; readonly r=1
(( r=2 )) || echo x
echo after'; echo "3: $?"
bash -c 'set -e; readonly r=1
declare r=2 || echo x
echo after'; echo "4: $?"
bash -c 'set -e; readonly r=1
export r=2 || echo x
echo after'; echo "5: $?"
bash -c 'set -e; readonly r=1
r=2 true || echo x
echo after'; echo "6: $?"
bash -c 'set -e; readonly r=1
unset r || echo x
echo after'; echo "7: $?"
bash -c 'set -e; readonly r=1
printf -v r x || echo x
echo after'; echo "8: $?"
bash -c 'set -e; declare -ra r=(1)
r[0]=2 || echo x
echo after'; echo "9: $?"
bash -c 'set -e; a=(1)
a[-5]=2 || echo x
echo after'; echo "10: $?"
bash -c 'set -e; a=([]=1) || echo x
echo after'; echo "11: $?"
bash -c 'set -e; a=([-1]=1) || echo x
echo after'; echo "12: $?"
bash -c 'set -e; a=(1); echo $(( a[-5] )) || echo x
echo after'; echo "14: $?"
bash -c 'set -e; declare -A m; m[]=1 || echo x
echo after'; echo "15: $?"
bash -c 'set -e; a=(1); echo ${a[-5]} || echo x
echo after'; echo "16: $?"
bash -c 'set -e; echo ${a['; echo "17: $?"
bash -c ']:0:-1} || echo x
echo after'; echo "18: $?"
bash -c 'set -eu; echo ${zz} || echo x
echo after'; echo "19: $?"
bash -c 'set -e; f() { readonly r=1; local r=3; } ; f || echo x
echo after'; echo "20: $?"
bash -c 'set -e; readonly r=1; getopts a r -a || echo x
echo after'; echo "21: $?"
bash -c 'set -e; readonly r=1; mapfile r < /dev/null || echo x
echo after'; echo "22: $?"
bash -c 'set -e; readonly r=1; let r=3 || echo x
echo after'; echo "23: $?"
bash -c 'set -e; trap '\''echo bye $?'\'' EXIT; if echo ${x!}; then :; fi
echo after'; echo "24: $?"
bash -c 'set -e; x=$(echo ${x!}; echo in) || echo no; echo $x
echo after'; echo "25: $?"
bash -c 'set -e; (readonly r=1; r=2; echo in) || echo no
echo after'; echo "26: $?"
bash -c 'set -e; a=$(readonly r=1; r=2; echo in; ); echo $a
echo after'; echo "27: $?"
bash -c 'set -e
if echo ${x!}; then :; fi
echo after'; echo "28: $?"
bash -c 'set -e
echo $((1+)) || echo no
echo after'; echo "29: $?"
bash -c 'set -e
shopt -s failglob
! echo nope*
echo after'; echo "30: $?"
bash -c 'set -e
if echo ${zz?no}; then :; fi
echo after'; echo "31: $?"
