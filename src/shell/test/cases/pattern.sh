#-- match
shopt -s extglob
shopt -s nocasematch
[[ a == [[:upper:]] ]] && echo nc-upper-a
[[ A == [[:lower:]] ]] && echo nc-lower-A
[[ a == [A-Z] ]] && echo nc-range
[[ É == é ]] && echo nc-utf
[[ _ == [Z-a] ]] && echo nc-Z-a
shopt -u nocasematch
t() { if [[ $1 == $2 ]]; then echo "y $1 $2"; else echo "n $1 $2"; fi; }
t '[a' '[a'; t 'x]' '[x]]'; t ']' '[]]'; t ']' '[!]]'; t 'a' '[!]]'; t a '[]'; t '[]' '[]'; t '[]a' '[]a'
t a '[[:foo:]]'; t ':' '[[:foo:]]'; t a '[[:alpha:]'; t '[:alpha:' '[[:alpha:'; t 'a]' '[[:alpha]]' ; t ':]' '[[:alpha]]'
t - '[a-]'; t b '[a-]'; t - '[-a]'; t - '[!-a]'; t b '[a-c-e]'; t - '[a-c-e]';t d '[a-c-e]'
t - '[[.hyphen.]]'; t - '[[.-.]]'; t a '[[=a=]]'; t b '[[.a.]-c]'; t ' ' '[[.space.]]'
t '\' '[\\]'; t '\' '[\]'; t '[\' '[\'; t '\' '\\'; t '\' '\'; t 'a\' 'a\'; t ']' '[\]]'; t 'a' '[\a]'
t b '[z-a]'; t z '[z-a]'; t '[z-a]' '[z-a]'; t '^' '[^^]'; t a '[^^]'; t '!' '[a!]' 
t foo '!(foo)'; t foob '!(foo)'; t '' '!(foo)'; t foo '!(foo)*'; t foo '*(f|o)'; t foo '+(f|o|)' ; t '(a' '(a'; t 'a|b' 'a|b'; t 'ab' '@(a|b)@(b'
t 'ab' '@(a|b'; t '@(a|b' '@(a|b';  t 'a)' '@(a))'; t 'b' '@(a|[)]|b)'; t ')' '@(a|[)]|b)';  t 'x)y' '@(x\)y)'
t é '[é]'; t é '?'; t é '[a-ÿ]'; t ÿ '[[:alpha:]]'; t a/b '*'; t '' '*'; t '' '**'; t a '@(a)b*|c'; t '' '@()'; t '' '@(|a)'
t a '[[=b=]a]'; t a '[[=aa=]]'; t a '[a[.b.]'; t '[.' '[[.]'; t '.' '[[.]' ; t '[' '[[.]'; t '[]' '[[]]'; t '[' '[[]' ; t 'a' '[[=]a]' ; t '=' '[[=]a]' 
#-- substitution
shopt -s extglob
t() { if [[ $1 == $2 ]]; then echo "y $1 $2"; else echo "n $1 $2"; fi; }
t foo '*?(.gz)'; t foo '*@(.gz|)'; t foo '*!(.gz)'; t foo '*+(|x)'; t foo '*@()';t foo '*@(|x)@(|y)'; t foo '*f?(x)oo?(y)' ; t foo '*o@(|x)'; t foo '*?@(|x)'; t foo '*?*(x)' ; t foo '*o*(x)'; t foo '*??(x)'; t foo 'f*?(x)'; t foo '*@(x|)'; t foo '*@(@()|x)'; t '' '*@()'; t '' '*@(|a)'; t foo '*@(o|)'; t foo '*x@(|o)' ; t foo '*fo@(|o)@(|x)' ; t foo '**@(|x)'
f() { local v=$1 p=$2; echo "[$v] / [$p] -> [${v/$p/<&>}] [${v//$p/<&>}] [${v/#$p/<&>}] [${v/%$p/<&>}]"; }
f abc '*(x)'; f abc '?(a)'; f abc '?(b)'; f abc '*(b)'; f '' '*'; f '' '*(x)'; f '' '?(x)'; f '' '+()'; f '' ''; f abc ''; f abc '@()'; f abc '@(|b)'; f abc '@(|a)'; f aabb '*(a)'; f xaabb '*(a)'; f abc '!(abc)'; f abc '!(*)' ; f abc '!(a)'; f abc '*'; f abc '?'; f abc '@(x|)';f abc '@(b|)'
v=abc; echo "${v/#/X}" "${v/%/X}" "${v//#/X}" "${v//%/X}" "${v/\#/X}" "${v//}" "${v/b}" "${v//\//X}"
v=a/b/c; echo ${v////x} ${v///x} "${v//\//\\/}" "${v//[\/]/_}"
#-- quoting
for s in '' a 'a b' "a'b" "'" "''" $'a\nb' $'\t' $'\001' $'a\001'"'" 'a!b' 'a=b' '~a' 'a~' '#a' 'a#' 'a:~b' 'a\b' $'\e' é $'\xff' $'a\xffb\n' '{a' ',' '^' '-' '@%+=/' '$x`"|&;<>()[]*?' $'\x7f' $'\u200b' $'\u0085' $'\U10ffff' $'a\u3000b' 'a{1,2}' '=' '==~' 'x=~' 'x:~' ':~' '%' $'\x01'a $'\u00a0' $'\r' $'é\n' "a'b\\\"c\$x\`"; do
printf '%q|' "$s"; printf '%s|' "${s@Q}"; declare x="$s"; declare -p x;  trap -- "$s" USR1; trap -p USR1; alias zz="$s"; alias zz; echo
done
