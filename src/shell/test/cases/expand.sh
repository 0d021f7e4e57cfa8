#-- parameter 1
set -u; echo ${1#a}; echo "end $?"
#-- parameter 2
set -u; echo ${1:1}; echo "end $?"
#-- parameter 3
set -u; a=(); echo ${a[0]#x}; echo "end $?"
#-- parameter 4
set -u; echo ${#1}; echo "end $?"
#-- parameter 5
set -u; echo ${#a[0]}; echo "end $?"
#-- parameter 6
set -u; echo "${a[@]#x}" ${*#x}; echo ok; echo "end $?"
#-- parameter 7
echo ${1?}; echo "end $?"
#-- parameter 8
echo ${1:?}; echo "end $?"
#-- parameter 9
echo ${a[0]?}; echo "end $?"
#-- parameter 10
echo ${@?}; echo "end $?"
#-- parameter 11
echo ${@:?x}; echo "end $?"
#-- parameter 12
a=(); echo ${a[@]?}; echo "end $?"
#-- parameter 13
echo ${a[@]:?}; echo "end $?"
#-- parameter 14
echo ${*:?}; echo "end $?"
#-- parameter 15
echo ${x?$y}; echo "end $?"
#-- parameter 16
y="a  b"; echo ${x?$y  z}; echo "end $?"
#-- parameter 17
echo ${x:?"a  b"}; echo "end $?"
#-- parameter 18
echo "${x?a b}"; echo "end $?"
#-- parameter 19
set -- "" ""; echo "${@:-x}" "${*:-x}"; IFS=; echo "${*:-x}"; echo "end $?"
#-- parameter 20
a=("" ""); echo "${a[@]:-x}"; echo "end $?"
#-- parameter 21
a=(""); echo "${a[@]:-x}" "${a[@]-x}" "${a[@]+x}" "${a[@]:+x}"; echo "end $?"
#-- parameter 22
a=(1 2); echo ${a:-x} ${a[5]:-y} ${a[@]:+z}; echo "end $?"
#-- parameter 23
set -u; echo ${a[0]-x} ${a[@]-y}; echo "end $?"
#-- parameter 24
unset a; : ${a[2]:=5}; declare -p a; echo "end $?"
#-- parameter 25
declare -A m; : ${m[k z]:=5}; declare -p m; echo "end $?"
#-- parameter 26
a=(5 6); echo ${a[@]:=x}; echo "end $?"
#-- parameter 27
echo ${#*} ${#@}; set -- a b; echo ${#*} ${#@} ${#}; echo "end $?"
#-- parameter 28
x=é; echo ${#x}; echo "end $?"
#-- parameter 29
a=(1 22 333); echo ${#a} ${#a[1]} ${#a[@]} ${#a[*]} ${#a[-1]} ${#a[9]} ${#a[-9]}; echo "end $?"
#-- parameter 30
x=5; echo ${#x[@]} ${#x[0]} ${#x[1]} ${x[0]} ${x[1]} ${x[@]} ${!x[@]} ${x[-1]}; echo "end $?"
#-- parameter 31
unset x; echo ${#x[@]} ${!x[@]}; echo "end $?"
#-- parameter 32
declare -A m=([a]=1 [b]=2 [c]=3); echo ${m[@]:0:2} - ${m[@]:1:2} - ${m[@]:1} - ${m[@]: -1} - ${m[@]: -2:1} - ${!m[@]:1}; echo "end $?"
#-- parameter 33
a=([2]=x [5]=y [9]=z); echo ${a[@]:0:2} - ${a[@]:3:1} - ${a[@]: -1} - ${a[@]: -5:2} - ${a[@]:9} - ${a[@]:10} - ${a[@]:2:0} - "${!a[@]}" - ${!a[*]:1}; echo "end $?"
#-- parameter 34
set -- a b c d; echo ${@:2} - ${@:0:2} - ${@: -1} - ${@: -4:2} - ${@: -5} -- ${@: -6} - ${@:5} - ${@:4} - ${@:1:0} - ${*:2:2} - ${@:0:0} - ${@:9}; echo "end $?"
#-- parameter 35
x=abcdef; echo ${x:2} ${x:2:2} ${x:0:-1} ${x: -3} ${x: -3:2} ${x: -3:-1} ${x:6}- ${x:7}- ${x: -7}- ${x:1+1:1+1} ${x:(-2)} ${x:${#x}-1}; echo "end $?"
#-- parameter 36
x=aéb; echo ${x:1:1} ${x:2} ${x: -2:1}; echo "end $?"
#-- parameter 37
x=abc; echo ${x:1:-3}; echo "end $?"
#-- parameter 38
x=abc; echo ${x:1:-2}-; echo "end $?"
#-- parameter 39
x=; echo ${x:0:-1}; echo "end $?"
#-- parameter 40
echo ${nosuch:1:-1} ok; echo "end $?"
#-- parameter 41
x=abc; echo ${x:5:-1} ok; echo "end $?"
#-- parameter 42
a=(a b c); echo ${a[@]:5:-1} ok; echo "end $?"
#-- parameter 43
echo ${@:5:-1} ok; echo "end $?"
#-- parameter 44
x=abc; echo ${x::}; echo "end $?"
#-- parameter 45
x="a b"; echo ${x@Q} ${x@A} ${x@E} ${x@U} ${x@u} ${x@L} ${x@a} ${x@K} ${x@k} ${x@P}; echo "end $?"
#-- parameter 46
declare -r x=1; declare -i -x y=2; echo ${x@A} ${y@A} ${x@a} ${y@a}; echo "end $?"
#-- parameter 47
declare -A m=([a b]=1); echo ${m@A} - ${m[@]@A} - ${m@a} - ${m[@]@a} - ${m[a b]@A} - ${m[a b]@a} - ${m[@]@Q} - ${m@Q} - ${m@K} - ${m[@]@K} - "${m[@]@k}" - "${m[*]@K}"; echo "end $?"
#-- parameter 48
a=(x "y z"); echo ${a@A} - ${a[@]@A} - ${a@Q} - ${a[@]@Q} - ${a[1]@Q} - ${a@a} - ${a[@]@a} - ${a[1]@A} - "${a[*]@A}"; printf "<%s>" "${a[@]@k}" "${a[@]@K}" "${a[*]@k}"; echo "end $?"
#-- parameter 49
set -- a "b c"; echo ${@@Q} - ${*@Q} - "${*@Q}" - ${@@A} - "${@@A}" - ${1@A} - ${2@Q} - ${@@a} - ${1@a}- ${@@K} -${@@k}- ${@@P} ${@@U} ${@@u}; echo "end $?"
#-- parameter 50
unset x; echo ${x@Q}-${x@A}-${x@a}-${x@U}-${x@K}-; echo "end $?"
#-- parameter 51
declare -i x; echo ${x@A} ${x@a}-; declare -a y; echo ${y@A}-${y[@]@A}-${y@a}; echo "end $?"
#-- parameter 52
x=; echo ${x@Q}-${x@A}; echo "end $?"
#-- parameter 53
f() { local -r z=1; echo ${z@A} ${z@a}; }; f; echo "end $?"
#-- parameter 54
declare -n n=x; x=5; echo ${n@A} ${n@a} ${!n}; echo "end $?"
#-- parameter 55
x='a\tb\u00e9\x41'; echo ${x@E}; echo "end $?"
#-- parameter 56
PS=x; y='\u@\$PS'; echo ${y@P}; echo "end $?"
#-- parameter 57
declare -u x=abc; declare -l y=ABC; declare -c z=abc; echo $x $y $z ${x@a}${y@a}${z@a} ${x@A}; echo "end $?"
#-- parameter 58
x=élan; echo ${x^} ${x^^} ${x@u} ${x@U} ${x~} ${x~~}; x=ÀB; echo ${x,} ${x,,} ${x^^[a-z]} ${x,,[A-Z]}; echo "end $?"
#-- parameter 59
x="hello world"; echo ${x^^[lo]} ${x^l} ${x^h} ${x^[a-h]} ${x^^?} ${x^^*} ${x^^lo} ${x~~} ${x^^""} ${x^^}; echo "end $?"
#-- parameter 60
set -- ab cd; echo ${@^} ${*^^} ${@^^[b]}; a=(ab cd); echo ${a[@]^} ${a^} ${a[@]~~}; echo "end $?"
#-- transform 1
declare -airx a=(1); declare -p a; declare -Alrtx m; declare -p m; declare -iu z=3; declare -il y=4; declare -cx q=b; declare -rtx w=1; declare -p z y q w; echo ${a@a} ${m@a} ${z@a} ${y@a} ${q@a} ${w@a}; declare -xl v=A; declare -rn nn=v; declare -p v nn; echo ${!nn} ${nn@a}; echo ${v@A} ${w@A}
echo
#-- transform 2
set -- a "b c"; printf "<%s>" "${@@A}"; printf "<%s>" ${@@A}; a=(1 "2 3"); printf "<%s>" "${a[@]@A}" ${a[@]@A} ${a[@]@K} ; declare -A m=([k]=v [q]="w x"); printf "<%s>" "${m[@]@K}" "${m[@]@k}" ${m[@]@k}; printf "<%s>" "${m[*]@A}" "${m@a}" "${a[*]@Q}" "${a[*]@a}"
echo
#-- transform 3
x=aXbXc; rep="\&"; echo ${x//X/$rep} "${x//X/$rep}"; rep="\\\\"; echo ${x//X/$rep}; rep="[&]"; echo ${x//X/$rep} ${x//X/"$rep"} "${x//X/$rep}" "${x//X/"$rep"}"; echo ${x//X/&&} ${x//X/\&} "${x//X/\&}" "${x//X/\\&}" ${x//X/\\&} ${x//X/"&"} ${x//X/&\\} "${x//X/\n}" ${x//X/\n}; rep="\n"; echo ${x//X/$rep}; shopt -u patsub_replacement; echo ${x//X/&} ${x//X/\&} "${x//X/\&}"
echo
#-- transform 4
HOME=/h; x=/h/a; echo ${x#~} ${x/~/X} ${x/h/~} ${x/\/h/~} "${x/\/h/~}" ${x/#~/R} "${x#~}" ${x:-~} ${y:-~} "${y:-~}" ${y:-~/b} ${y:-a~} ${y:=~:~} $y; z=${q:-~:~}; echo $z; echo ${q:+~}${x:+~} ~:~ a=~ a=~:~ a:~ --a=~ ~/x ~x ~"/" ~"" "~" \~ ~\/x x=~/~ ~-; OLDPWD=/o; echo ~-; PWD=/p; echo ~+; unset HOME; echo ~; echo ~root ~root/x ~nosuch ~nosuch/x ~0 ~1; a=~root:~nosuch:~; echo $a; case /root in ~) echo yes;; esac; [[ /root == ~ ]] && echo y2; cat <<< ~; HOME="a b"; printf "<%s>" ~ ~/*; HOME="*"; echo ~; HOME=; echo ~ ~/x; a=(~ x=~ [5]=~); echo ${a[@]}; HOME=/; echo ~/x ~;  HOME=/h/; echo ~/x
echo
#-- split 1
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
set -- a "" b; IFS=:; c $*; c $@; c "$*"; c "$@"; c x$*y; c x$@y; c "x$*y" "x$@y"; IFS=; c $*; c $@; c "$*"; c x$*y; unset IFS; c $*; c "$*"
#-- split 2
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
set --; x=; c "$x$@"; c ""$@; c "$@"""; c "$@" ; c "a$@"; c "$@a"; c "$@$@"; c "$@"$x; c "$*"; c $*; c "$x"; c $x; c "$@$x" ; c "${@}" ; c "${@:-}" ; c "${@:-a}" ; c ${@:-""} ; c "${@-}" ; c "${x-}$@" ; c "$@ $@"; c $x"" ; c "${@:1}" "${x[@]}" "${nosuch[@]}" ; c "${nosuch[*]}" ; c "${nosuch[@]}x"; c "${x:+$@}"; c "${x+$@}"
#-- split 3
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
set -- "a b" "" c; IFS=$' \t\n'; c $@; c "$@"; c ${@:-x}; c ${@:+x}; c "${@:+$@}"; c ${@+"$@"}; c "${x:-$@}"; c ${x:-"$@"}; c "${x:-"$@"}"; c ${x:-$@}; c "${x:-"$*"}" ; c pre"$@"post ; c "${@#a}" ; c "${@/b/X}" ; c ${@/b/X}; c "${*/b/X}"; c "${@:2}" "${@:0:1}" "${*:2}" "${@: -1}"
#-- split 4
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
IFS=': '; x=' a : b::c: '; c $x; c "q"$x"r"; c $x$x; c ":"$x; x=':a'; c $x; c ' '$x; x='a:'; c $x; c $x$x; y=' :b'; c $x$y; x='a '; y=':b' ; c $x$y; x=': :'; c $x; x='::'; c $x; x=' '; c $x; c "$x"$x; c $x"$x" ; c a$x ; c $x"a"
#-- split 5
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
IFS=:; x='a:b'; c $x:c; c ${x}:c; c ${nosuch:-a:b}; c ${nosuch:-"a:b"}; c ${nosuch:-a:"b:c":d} ; y=$x; c "$y" ; c ${y:=q}; c ${z:=a:b}; c "$z"
#-- split 6
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
IFS=é; x='aéb'; c $x; IFS=$' \n'; x=$'a\tb\n\nc  d\n'; c $x; IFS=x; x=axbxx; c $x; c $(echo axbxx) `echo axb`; c $((1))x$((2)); IFS=1; c $((111)) $((213)) "$((213))"; IFS='*'; c "$*" $*; IFS=' '; 
#-- split 7
c() { printf '%d:' $#; printf '<%s>' "$@"; echo; }
v='*'; : > q1; : > q2; c $v; c "$v" q* 'q'* "q*" q"*" q\* q[12] ; v='q\*'; c $v; v='q?'; c $v "$v"; v='\q1'; c $v; v='q[1]'; c $v; v='*\1' ; c $v; v='nomatch*\q'; c $v ; set -f; c q* $v; set +f; x='a b'; c ${x%b}; c ${x+"$x"} ; c ${x:+a b} "${x:+a b}" "${x:+"a b"}" ${x:+"a b"} ${x:+'a b'} "${x:+'a b'}"
#-- brace 1
p() { printf '<%s>' "$@"; echo; }
p {1..5} {5..1} {1..10..3} {10..1..3} {1..5..-2} {5..1..-2} {1..5..0} {a..e} {e..a} {a..i..3} {A..e..8} {01..3} {1..03} {-01..2} {001..-2} {-5..5..5} {1..a} {a..1} {a..5} {1..} {..1} {1..2..} {1..2..x} {a..c..x} {1...3} {1..2..3..4} {a..bb} {é..ë} {a..} {1.5..2} {+1..3} {-1..-3} {1..1} {a..a} {0..0..0} {00..0} {-0..2} {1..3}{a,b}
p {a,b} {a} {} {a,b} x{a,b}y {a,b}{c,d} {a,{b,c}} {a,b{c,d}e} {{a,b},c} {{a,b}} {a,} {,a} {,} {,,} x{,}y {a,b {a,b}} a,b} {a,{b} {{a,b} {a{b,c}} {a,b}{ }{a,b} {a,b}, ,{a,b} {"a,b",c} {a\,b,c} {a\},b} \{a,b} {a,b\} "{a,b}" {'a b',c} $'{a,b}' {$USERX,b} {"$x",b} {`echo a,b`,c} {$(echo 1),2} {a,b}$x{c,d} ${x:-{a,b}} {${x:-a,b},c} {1..$y} {"1"..3} {1.."3"} {a,~} {~,x} {z*,nope*} {a..c}{1..2} {a,b}={c,d} x={a,b} {a=1,b} {x,{y..z}} {{1..3},{5..7}} {a,{1..3},b} {_,-} {a b} {$((1+1)),3} {[a,b]} {a?,b}

echo
#-- brace 2
p() { printf "<%s>" "$@"; echo; }; p {a..Z..20}; p {9223372036854775806..9223372036854775807}; p {9223372036854775805..9223372036854775807..2}; p {-9223372036854775808..-9223372036854775807}; p {9223372036854775807..9223372036854775808}; p {1..9223372036854775807..9223372036854775806}; p {0..10..9223372036854775807}; p {1..3..-9223372036854775808}; p {1..3..9223372036854775808}; p {a..c..-1} {c..a..1} {c..a..-1} {0x1..3} {1e1..3} {0..-0} {003..1} ; p {0001..10..5} {-10..-08} {-10..008..9}; p {a..é} {1..é} {%..+} ; x=1; p {$x..3} {a..$x}; p {a..c}.txt file{1..3}.{a,b}; p -{a,b}- ; p {a,b}{1..2}{x,y}; p {x,y}{,z}; p a{b,c}d{e,f}g; p {{1..2},{a..b}}{x,}; eval "p {a,b}\$(echo c)"; p {a,b}"c d"{e,f}; p {1..2}{,} {1..2..3..4} {1..2..} {1...2}; p {A..z..10}; p {a..A..-10} ; p {01..100..33} {1..-03}
#-- prompt
x='\[a\]'; echo "${x@P}"; x='\\'; echo "${x@P}"; x='a\\$USER'; USER=u; echo "${x@P}"; x='\$USER'; echo "${x@P}"; x='\q\101\7\nX'; echo "${x@P}"; x='$(echo hi) `echo yo` $((1+1)) "q" '"'s'"; echo "${x@P}"; x='\s-\v \V \j \l'; echo "${x@P}"; cd /usr/bin; HOME=/usr; echo "${x@P}"; PROMPT_DIRTRIM=1; cd /usr/bin; x='\w'; echo "${x@P}"; HOME=/nx;PROMPT_DIRTRIM=2;  echo "${x@P}"; x='\'; echo "${x@P}"; x='a\'; echo "${x@P}"; shopt -u promptvars; x='$USER \\ \$ $(echo)'; echo "${x@P}"; x='\e\a\r' ; echo "${x@P}" ; 
#-- glob 1
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
e *; e .*; e */; e */*; e d/*; e .*/*; e [ab]; e ?; e "a"*; e a\*b; e "x "*; e nope*; e d//1* ; e .//a* ; e ./* ; e ../g/a* ; e [[]q] \[q\]; e b\\*; e 'b\'*; e */dang* dang*; e dangling/*; e a/*; e a/; e d/; e */.; e *//; e d/./1* d/../a*
#-- glob 2
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
shopt -s dotglob; e *; e */*; e .*; shopt -u dotglob; shopt -s nullglob; e nope* x; e nope[; e; shopt -u nullglob
#-- glob 3
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
shopt -s globstar; e **; e **/; e **/1; e d/**; e **/*.*; e s/**; e s/**/; e **/g; e **/t/**; e **/**/g; e ***; e **a; e s/**/../*; e ./**; e **/.; e .h*/**; e ln/**; e a/**; e nope/**; e **/nope; shopt -s dotglob; e s/**; e **/z; shopt -u dotglob; shopt -u globstar; e **; e **/g
#-- glob 4
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
shopt -s extglob
#-- glob 5
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
eval 'e !(a); e @(a|b) ?(.h) +(a|.h) .@(h) *(.)h; e !(.*) ; e d/!(1); e !(a|b|d)*; e *!(b); e @(.h|a); e @(.*); e .!(h); e ?(a)b*; e @(a|nope)/x; e d/@(1|2) @(d|s)/* ; e !(*); e .?(h); e +(?)h; e *(a|b); e ?(.)h; e @(|.)h; e \!\(a\)'
#-- glob 6
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
GLOBIGNORE="a:d"; e *; GLOBIGNORE="*"; e *; unset GLOBIGNORE; e *; GLOBIGNORE="d/*"; e d/*; e *; GLOBIGNORE="*/1"; e d/*; GLOBIGNORE=".h"; e *; GLOBIGNORE='[ab]:x*'; e *; GLOBIGNORE='\[q\]:a\:'; e *; GLOBIGNORE=; e *; unset GLOBIGNORE; shopt -u dotglob
#-- glob 7
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
shopt -u globskipdots; e .*; e d/.*; e */.*; shopt -s globskipdots; shopt -s nocaseglob; e A*; e [A-B]; e D/*; e LN; e L?/1; shopt -u nocaseglob;  e [A-B] [[:upper:]]*
#-- glob 8
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
e */. */.. ; e d/.  d/.? ; e {a,b}* {nope,a}* ;  v="a b"; e $v*; e \*; e "*"; e a[*]b; e a[\*]b; e a"*"b; e a[]b; e [!a]; e [^a]; e [a/]b; e d[/]1; e d/[1]; e */1 *//1; e d/1/ ; e d/1/*; e [[:alpha:]]; e [.]h; e ?h; e [!x]h; e .[h]; e '[q'*; e [[]*; e [\[]q]; e x*y x\ * "x *"; v='x\ *'; e $v; v='a\*'; e $v; v='[a'; e $v*; v='\[q]'; e $v; v='\[q\]*'; e $v;  v='\a'; e $v; v='\a*'; e $v; v='\d/1'; e $v; v='\d/*'; e $v; v='d\/*'; e $v; v='nope\*x'; e $v; v='a\'; e $v*; e a*\b; e a*\x; e a*b/ ; e /*tmp; e /; e /.; cd /; e tm*
#-- glob ignore
mkdir g; cd g; for f in a b .h "x y" "[q]" 'a*b' 'b\c'; do : > "$f"; done; mkdir d .hd; : > d/1; : > d/.2; : > .hd/z; ln -s d ln; ln -s nowhere dangling; mkdir -p s/t/u s/.hid; mkdir -p s/t/u s/.hid; : > s/f; : > s/t/g; : > s/.hid/k; ln -s ../s s/loop
e() { printf '%s|' "$@"; echo; }
GLOBIGNORE='*'
e d/*
GLOBIGNORE='d?1'
e d/*;GLOBIGNORE='[d]/1'
e d/*
GLOBIGNORE='*/*'
e d/* s/t/*
GLOBIGNORE='@(a|b)'
e [ab]
shopt -s extglob
 GLOBIGNORE='@(a|b)'
e [ab] x*
GLOBIGNORE='d[/]1'
e d/*
GLOBIGNORE='*'
e s/t/*
 GLOBIGNORE='s/*'
e s/t/*
GLOBIGNORE='?(.)*'
e .*
GLOBIGNORE='x'
e .* 
unset GLOBIGNORE
shopt -s globstar
e **/f
e **/t
e **/t/
e s/loop/**
e **/u/..
e **/loop/*
e s//**
e **/**
e **/**/ 
e d/**/**
e **/d/**/
e *\*/x
shopt -s nullglob
e [
e [a
e a[
e [!
e \[
e *[
e a\[*
e [/]
e x[/]*
e nope/
e */nope
e "["*
eval "e @(no)"
