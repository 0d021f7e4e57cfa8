### any text as a key in arithmetic
declare -A a
for k in 'x],b[$(echo no >&2)' 'a"b' "80's" '\' 'a b' @ '*' '!' '$' '~' '`' '"' "'" 'a\b' '\]' '];' '${' 'i[0]' '$z' '$((z))' '""' "''" '[x]' 'x[' '(' '`echo q`' '\a'; do
  a=()
  (( a[$k]++ )); (( a["$k"] += 2 )); : $((a[$k] *= 2))
  for (( a[$k] += 1; 0; )); do :; done
  x=abcdefghijk; echo "${x:a[$k]:a[$k]}"; [[ a[$k] -eq 7 ]]; echo $?
  declare -p a
done
### quotes in subscripts of arithmetic
declare -A a; k='$(echo no >&2)'; z=1
(( a['$k']++ )); (( a['x y'] = 2 )); (( a["x y"]++ )); (( a['x]y']++ )); (( a["x]y"$z]++ )); (( a[x\]z]++ ))
(( a[\$k] += 5 )); (( a[\'k\'] = 4 )); (( a['$k'$z] = 3 )); (( a[$(echo "q]")] = 6 )); (( a[@] = 7, a[*] = 8 ))
declare -p a
declare -a i=(5 6 7); (( i["1"] = 3 )); (( i[$((1 + 1))] = 8, i[${i[1]} + 1] = 4 )); declare -p i
### keys that come from values
declare -A a; k='x],b[$(echo no >&2)'
v=a; (( $v[$k] = 3 )); declare -p a
e='a[$k]'; (( $e = 4 )); echo $((e)) $(($e)); declare -p a
let 'a[$k] = 5'; let "a[\" \"] = 6"; declare -p a
### keys that are expanded once
shopt -s assoc_expand_once
declare -A a; k='x],b[$(echo no >&2)'
let 'a[$k]++'; let "a[\" \"] = 6"; (( a[$k]++ )); b="80's"; let "a[$b]++"; b='x['; let "a[$b]++"
declare -p a
### an index that is no expression
#@ err: any
declare -a i=(5 6 7); ix='1],b[1'
(( i[$ix]++ )); echo $?; declare -p i
### an empty key in arithmetic
#@ err: any
declare -A a; k=
let 'a[$k]++'; echo $?; declare -p a
### keys in names that builtins take
declare -A a
ks=('x],b[$(echo no >&2)' '$(echo foo)' ']' 'x[' "80's" @ '$z' 'a"b' 'a]b' '\' '[x]'); z=1
for k in "${ks[@]}"; do
  echo "== $k"
  a=(); a[$k]=1; unset a["$k"]; declare -p a
  a=(); a[$k]=1; unset 'a[$k]'; declare -p a
  a=(); a[$k]=1; unset "a[$k]"; declare -p a
  a=(); read a["$k"] <<< x; declare -p a
  a=(); read 'a[$k]' <<< x; declare -p a
  a=(); printf -v "a[$k]" x; declare -p a
  a=(); declare a["$k"]=x; declare -p a
  a=(); declare 'a[$k]=x'; declare -p a
  a=(); a[$k]=1; [[ -v a[$k] ]]; echo $?; [[ -v "a[$k]" ]]; echo $?; [[ -v 'a[$k]' ]]; echo $?
  test -v a["$k"]; echo $?; test -v 'a[$k]'; echo $?
done
### keys in names that builtins take, expanded once
shopt -s assoc_expand_once
declare -A a
ks=('x],b[$(echo no >&2)' '$(echo foo)' ']' 'x[' "80's" @ '$z' 'a"b' 'a]b' '\'); z=1
for k in "${ks[@]}"; do
  echo "== $k"
  a=(); a[$k]=1; unset a["$k"]; declare -p a
  a=(); a[$k]=1; unset 'a[$k]'; declare -p a
  a=(); a[$k]=1; unset "a[$k]"; declare -p a
  a=(); read a["$k"] <<< x; declare -p a
  a=(); read 'a[$k]' <<< x; declare -p a
  a=(); printf -v a["$k"] x; declare -p a
  a=(); declare a["$k"]=x; declare -p a
  a=(); declare "a[$k]=x"; declare -p a
  a=(); a[$k]=1; [[ -v a[$k] ]]; echo $?; [[ -v "a[$k]" ]]; echo $?
done
### all of an array
at=@
declare -a i=(5 6 7); unset i[@]; declare -p i; i=(5 6); unset 'i[*]'; declare -p i; i=(5 6); unset i[$at]; declare -p i
declare -A a=(@ 1 '*' 2 x 3); unset a[@]; declare -p a; unset 'a[*]'; declare -p a; a[@]=1; unset 'a[$at]'; declare -p a
a=(@ 1 x 3); BASH_COMPAT=51; unset i[@]; declare -p i; unset a[@]; declare -p a
### wrong names of elements
declare -A a; declare -a i=(5 6 7)
unset i[x; unset i]; read i[] <<< x; declare i[2; declare "i[0]x=3"; declare "i[0]+=3"; export i[1]; export i[1]=2; readonly i[1]
declare -p i
unset i[9]; unset i[-9]; echo $?; unset i[-1]; declare -p i
### wait -p into an element
declare -A a=([k]=1); k=']'
(exit 3) & wait -n -p a[x]; echo $? ${#a[@]}
shopt -s assoc_expand_once; (exit 3) & wait -n -p a[$k]; echo $? "${!a[@]}"
### compound values of associative arrays
declare -A a
a=([x]=1 y [z]=2 w v); declare -p a
a=(x 1 [y]=2 z); declare -p a; a=(x 1 [y]=2 [z]=3); declare -p a
a+=(q 1 [r]); declare -p a; a+=([q]=5 r); echo $?; declare -p a
f='[x]=1'; declare -A e=($f 2); declare -p e
### order of hashed programs and aliases
for p in foo bar qux sh blat ls cat; do hash -p /bin/$p $p; done
hash; hash -l; echo ${!BASH_CMDS[@]}; BASH_CMDS[zed]=/bin/zed; declare -p BASH_CMDS
for p in foo bar qux sh blat ls cat; do alias $p=x; done; echo ${!BASH_ALIASES[@]}; alias
### references to all of an array
i=(5 "6 x" 7); declare -n q=i[@]; declare -n s=i[*]
set -- "$q"; echo $#; set -- $q; echo $#; set -- "$s"; echo $#; x=$q; echo "$x"; IFS=-; echo "$s" "$q"; x=$s; echo "$x"
IFS=' '
echo ${q:-d} ${q+s} "${q:-d}" "${q/5/x}" "${q:1:2}"
unset i; echo "[$q]" ${q-unset}
declare -A a=(k v); declare -n q=a[@]; echo "$q"
### process substitutions that are operators
declare -a i=(9); [[ i[7<(4+2)] -eq 9 ]]; echo $?

### negative subscripts of what is not there
echo ${a[-5]}; echo $?
echo $((a[-5])); echo $?
m=(); echo ${m[-1]} ${#m[-1]}
declare -a d; echo ${d[-1]} x; echo $((d[-1])); echo ${#d[-1]}; echo ${d[-1]:-d}; echo "${d[-1]+s}"
unset a; echo ${#a[-1]}; echo ${a[-1]:-d}; echo ${a[-1]#x}; (( a[-1] )); echo $?
declare -A h; echo ${h[-1]} $((h[-1]))
### empty keys of associative arrays
declare -A m=([k]=v); e=
echo 1 ${m['']} 2
echo 3 "${m[""]}" "${m[$e]}" 4
echo ${#m['']}
echo ${m['']:-x}
m['']=x
echo $((m['']))
[[ -v m[''] ]]; echo $?
unset "m['']"
echo ${m[$e]+set}
m=([$e]=1)
m+=([""]=1 [x]=2); declare -p m
a=([]=5); a=([$e]=5); a=([1+]=3); declare -p a
echo ${a['']} ${a[$e]}
printf -v m[''] x
read m[''] <<< a
