#-- print-1
f1() { echo a; echo "b c" 'd' $'x\ty' $"loc" \e; }
declare -f f1
#-- print-2
f2() { if a; then b; elif c; then d; else e; fi; if x; then y; fi > /dev/null; }
declare -f f2
#-- print-3
f3() { while a; do b; done; until a; b; do c; d; done <x; }
declare -f f3
#-- print-4
f4() { for x in a b c; do echo $x; done; for x; do y; done; for ((i=0;i<3;i++)); do z; done; for ((;;)) { z; }; }
declare -f f4
#-- print-5
f5() { case $x in a|b) c;; (d) e;& f) ;;& *) g; h;; esac; case x in esac; case x in a) esac; }
declare -f f5
#-- print-6
f6() ( a; b )
declare -f f6
#-- print-7
f7() { (a; b); (a); { a; b; }; { a; } > x; }
declare -f f7
#-- print-8
f8() { [[ a == b && ! -f c || ( x -nt y ) ]]; [[ $x =~ ^(a|b)$ ]]; [[ -z x ]]; [[ x ]]; [[ ! ( ! a ) ]]; }
declare -f f8
#-- print-9
f9() { (( i + 1 )); ((i++)); $((i+1)); $[1+2]; }
declare -f f9
#-- print-10
f10() { a && b || c; a | b | c; a |& b; ! a; ! a | b; time a; time -p a | b; a & b & c; a & }
declare -f f10
#-- print-11
f11() { cat <<EOF
x $y
EOF
cat <<-'EOF' <<A | b
	foo
	EOF
a
A
 }
declare -f f11
#-- print-12
f12() { a >b 2>&1 <c >>d 2>>e &>f &>>g >|h <>i <&3 >&4 3<&- {v}>x <<<"a b" 3>&1- >&$x; }
declare -f f12
#-- print-13
f13() { g() { a; }; function h { b; }; function i () ( c ); function j() { a; } > foo; }
declare -f f13
#-- print-14
f14() { a=1 b=(1 2 "3 4" [5]=x) c+=d e[1]=2 cmd x; a=(); declare -a x=(1 2); }
declare -f f14
#-- print-15
f15() { select x in a b; do c; done; select x; do y; done; coproc a; coproc N { a; b; }; coproc { a; }; coproc (a); }
declare -f f15
#-- print-16
f16() { echo $(echo a;echo b) `echo a;echo b` "$(echo "x"; y)" <(a;b) >(c) ${x:-$(a;b)} ; }
declare -f f16
#-- print-17
f17() { echo $(a
b
if x;then y;fi
) "$(cat <<E
x
E
)"; }
declare -f f17
#-- print-18
f18() { a
b &
c &&
d
e |
f
}
declare -f f18
#-- print-19
f19() { a; { b & }; ( b & ); if a & then b & fi; while a; do b& done; }
declare -f f19
#-- print-20
f20() { if ! a; then b; fi; if (( x )); then [[ y ]]; fi; while { a; b; }; do (c); done; for i in "$@"; do if x; then y; fi; done; }
declare -f f20
#-- print-21
f21() { a; b; } 2>&1 >x
declare -f f21
#-- print-22
f22() { if a; then if b; then c; else d; fi; else e; fi; { { a; }; }; ( ( a ) ); ((a)); }
declare -f f22
#-- print-23
f23() { a || { b; c; } && d; { a; b; } | { c; d; }; ( a ) & { b; } & }
declare -f f23
#-- print-24
f24() { case $x in a) if b; then c; fi ;; b) { d; } ;; c) x & ;; d) a && b ;; "e f"|*.[ch]) x | y;; esac > x; }
declare -f f24
#-- print-25
f25() { echo a\
b "c\
d" 'e\
f'; x=`a \`b\` c`; }
declare -f f25
#-- heredoc-1
f1() { cat <<A && b; c
x
A
}
declare -f f1
#-- heredoc-2
f2() { cat <<A || b
x
A
d
}
declare -f f2
#-- heredoc-3
f3() { cat <<A & b
x
A
}
declare -f f3
#-- heredoc-5
f5() { { cat <<A; }; (cat <<B); while cat <<C; do d <<D; done
1
A
2
B
3
C
4
D
}
declare -f f5
#-- heredoc-6
f6() { cat <<A >x 2>&1 <<B
1
A
2
B
}
declare -f f6
#-- heredoc-7
f7() { while x; do y; done <<A
1
A
z
}
declare -f f7
#-- heredoc-8
f8() { case x in a) b <<A;; c) d;; esac
1
A
 }
declare -f f8
#-- heredoc-9
f9() { x=$(cat <<A; echo b
1
A
) y=$(
a <<A | b
1
A
)
}
declare -f f9
#-- heredoc-10
f10() { a | cat <<A | c; ! b <<A; time b <<A
1
A
2
A
3
A
}
declare -f f10
#-- heredoc-11
f11() { cat <<A
1
A
}
declare -f f11
#-- heredoc-12
f12() { for i in a; do b <<A
1
A
done; [[ a ]] <<B
2
B
}
declare -f f12
#-- heredoc-13
f13() { g() { a <<A
1
A
}
h; }
declare -f f13
#-- heredoc-14
f14() { g() { a; } <<A
1
A
h; }
declare -f f14
#-- heredoc-15
f15() { a <<A | b; c
1
A
}
declare -f f15
#-- heredoc-16
f16() { coproc a <<A
1
A
}
declare -f f16
#-- heredoc-17
f17() { if a; then b; elif c <<A; then d; else e <<B; fi
1
A
2
B
}
declare -f f17
#-- error-1
eval 'echo )'; echo "status $?"
#-- error-2
eval 'echo a; fi'; echo "status $?"
#-- error-3
eval 'if a'; echo "status $?"
#-- error-4
eval 'if a; then'; echo "status $?"
#-- error-5
eval 'echo "abc'; echo "status $?"
#-- error-6
eval 'echo '\''abc'; echo "status $?"
#-- error-7
eval 'echo `abc'; echo "status $?"
#-- error-8
eval 'echo $(abc'; echo "status $?"
#-- error-9
eval 'echo ${abc'; echo "status $?"
#-- error-10
eval 'echo $((1+2'; echo "status $?"
#-- error-11
eval '((1+2'; echo "status $?"
#-- error-12
eval 'case a in'; echo "status $?"
#-- error-13
eval 'case a in x y'; echo "status $?"
#-- error-14
eval 'a &&'; echo "status $?"
#-- error-15
eval 'a ;; b'; echo "status $?"
#-- error-16
eval '{ a;'; echo "status $?"
#-- error-17
eval '(a;'; echo "status $?"
#-- error-18
eval 'for x in a; b'; echo "status $?"
#-- error-19
eval 'f() a'; echo "status $?"
#-- error-20
eval 'a()'; echo "status $?"
#-- error-21
eval 'echo (a)'; echo "status $?"
#-- error-22
eval '>'; echo "status $?"
#-- error-23
eval 'a > > b'; echo "status $?"
#-- error-24
eval '&'; echo "status $?"
#-- error-25
eval ';'; echo "status $?"
#-- error-26
eval '}'; echo "status $?"
#-- error-27
eval 'then'; echo "status $?"
#-- error-28
eval 'for ((a;b)); do c; done'; echo "status $?"
#-- error-29
eval 'for ((a;b;c;d)); do c; done'; echo "status $?"
#-- error-32
eval 'function f'; echo "status $?"
#-- error-33
eval 'coproc'; echo "status $?"
#-- error-34
eval 'select x in a; do'; echo "status $?"
#-- error-35
eval '"a'; echo "status $?"
#-- error-36
eval 'echo ${x'; echo "status $?"
#-- error-37
eval 'echo "${x'; echo "status $?"
#-- error-38
eval 'echo "$(x"'; echo "status $?"
#-- error-39
eval 'if a; then; b; fi'; echo "status $?"
#-- error-40
eval 'while do; done'; echo "status $?"
#-- error-41
eval 'do'; echo "status $?"
#-- error-42
eval 'a & ; b'; echo "status $?"
#-- error-43
eval 'a && ; b'; echo "status $?"
#-- error-44
eval 'case x in a) b'; echo "status $?"
#-- error-45
eval 'case x in a b) c;; esac'; echo "status $?"
#-- error-46
eval 'case x in (a) b;; ) esac'; echo "status $?"
#-- error-47
eval '$(case x in a) b;; esac'; echo "status $?"
#-- error-48
eval '{ echo a; } b'; echo "status $?"
#-- error-49
eval 'if x; then y; fi z'; echo "status $?"
#-- error-50
eval 'for x in a; do y; done z'; echo "status $?"
#-- error-51
eval 'case x in a) b;; esac z'; echo "status $?"
#-- error-52
eval '(a) b'; echo "status $?"
#-- error-53
eval '((1)) b'; echo "status $?"
#-- error-54
eval '[[ a ]] b'; echo "status $?"
#-- error-55
eval 'f() { a; } b'; echo "status $?"
#-- error-56
eval '{ a }'; echo "status $?"
#-- error-57
eval 'for ((a;b;c)) d'; echo "status $?"
#-- error-58
eval 'for x y'; echo "status $?"
#-- error-59
eval 'for'; echo "status $?"
#-- error-60
eval 'case'; echo "status $?"
#-- error-61
eval 'case x'; echo "status $?"
#-- error-62
eval 'case x y'; echo "status $?"
#-- error-63
eval 'function'; echo "status $?"
#-- error-64
eval 'function f a'; echo "status $?"
#-- error-65
eval 'f ( a'; echo "status $?"
#-- error-67
eval 'if'; echo "status $?"
#-- error-68
eval 'while a; done'; echo "status $?"
#-- error-69
eval 'for x in a b do c'; echo "status $?"
#-- error-70
eval 'select'; echo "status $?"
#-- error-71
eval 'a <<'; echo "status $?"
#-- error-72
eval 'a <<<'; echo "status $?"
#-- error-73
eval '> &'; echo "status $?"
#-- error-74
eval '2>'; echo "status $?"
#-- error-75
eval 'a {x}> '; echo "status $?"
#-- error-76
eval '< <'; echo "status $?"
#-- error-77
eval 'a)'; echo "status $?"
#-- error-79
eval 'coproc a b { c; }'; echo "status $?"
#-- error-80
eval 'coproc a { b'; echo "status $?"
#-- error-81
eval '! & '; echo "status $?"
#-- error-82
eval '! &&'; echo "status $?"
#-- error-83
eval 'time ( )'; echo "status $?"
#-- error-84
eval '()'; echo "status $?"
#-- error-85
eval '{ }'; echo "status $?"
#-- error-86
eval 'f() ( )'; echo "status $?"
#-- error-87
eval '$(( 1'; echo "status $?"
#-- error-88
eval 'echo "${x:-"a}"'; echo "status $?"
#-- error-89
eval '[[ a b ]]'; echo "status $?"
#-- error-90
eval '[[ a == ]]'; echo "status $?"
#-- error-91
eval '[[ -f ]]'; echo "status $?"
#-- error-92
eval '[[ ( a ]]'; echo "status $?"
#-- error-93
eval '[[ a -eq ]]'; echo "status $?"
#-- error-94
eval '[[ a ; ]]'; echo "status $?"
#-- error-95
eval '[[ a & b ]]'; echo "status $?"
#-- error-96
eval '[[ a == b c ]]'; echo "status $?"
#-- error-97
eval '[[ a ( b ]]'; echo "status $?"
#-- error-98
eval '[[ -f a b ]]'; echo "status $?"
#-- error-99
eval '[[ a'; echo "status $?"
#-- error-100
eval '[[ a == a(b) ]]'; echo "status $?"
#-- error-101
eval '[[ x == (a) ]]'; echo "status $?"
#-- error-102
eval 'echo $[1+2'; echo "status $?"
#-- error-103
eval 'a=(1 2'; echo "status $?"
#-- error-104
eval 'a=(1 & 2)'; echo "status $?"
#-- error-105
eval 'a=(1 && 2)'; echo "status $?"
#-- error-106
eval 'a=( (1) )'; echo "status $?"
#-- error-107
eval 'echo a=(1)'; echo "status $?"
#-- error-108
eval 'foo=(a b) bar ( '; echo "status $?"
#-- error-109
eval 'x() { a; }; }'; echo "status $?"
#-- error-110
eval 'if a; else b; fi'; echo "status $?"
#-- error-111
eval 'if a; then b; else; fi'; echo "status $?"
#-- error-112
eval 'until a; do b'; echo "status $?"
#-- error-113
eval 'for i in 1 2; do a; }'; echo "status $?"
#-- error-114
eval 'a & & b'; echo "status $?"
#-- error-115
eval 'a '; echo "status $?"
#-- error-116
eval '& '; echo "status $?"
#-- error-117
eval 'a '; echo "status $?"
#-- error-118
eval ''; echo "status $?"
#-- error-119
eval ' '; echo "status $?"
#-- error-120
eval 'echo ;; ;'; echo "status $?"
#-- error-121
eval 'case a in a);;;esac'; echo "status $?"
#-- error-122
eval 'case a in '; echo "status $?"
#-- error-123
eval ') b;; esac'; echo "status $?"
#-- error-124
eval 'esac'; echo "status $?"
#-- error-125
eval 'in'; echo "status $?"
#-- error-126
eval 'done < x'; echo "status $?"
#-- error-127
eval 'fi'; echo "status $?"
#-- error-128
eval 'elif'; echo "status $?"
#-- error-129
eval 'a; then'; echo "status $?"
#-- error-130
eval '( a; }'; echo "status $?"
#-- error-131
eval '{ a; )'; echo "status $?"
#-- error-132
eval '( a'; echo "status $?"
#-- error-133
eval 'a `b'; echo "status $?"
#-- error-134
eval 'a "`b"'; echo "status $?"
#-- error-135
eval 'echo "$(a "b)"'; echo "status $?"
#-- error-136
eval 'time'; echo "status $?"
#-- error-137
eval '!'; echo "status $?"
#-- error-138
eval '! ! '; echo "status $?"
#-- error-141
eval 'function a { b; } c'; echo "status $?"
#-- error-142
eval 'function a() b'; echo "status $?"
#-- error-143
eval 'a() b'; echo "status $?"
#-- error-144
eval 'a() { }'; echo "status $?"
#-- error-145
eval 'a() ()'; echo "status $?"
#-- error-146
eval 'a() (b) c'; echo "status $?"
#-- error-147
eval 'a ( ) { b; } >x y'; echo "status $?"
#-- error-148
eval 'a () b'; echo "status $?"
#-- error-149
eval '((a))b'; echo "status $?"
#-- error-150
eval '((a)) (b)'; echo "status $?"
#-- error-152
eval '[[ a < ]]'; echo "status $?"
#-- error-153
eval 'a < b > c '; echo "status $?"
#-- error-154
eval ' '; echo "status $?"
#-- error-155
eval ' d'; echo "status $?"
#-- error-156
eval '1>&'; echo "status $?"
#-- error-157
eval 'a 2>& '; echo "status $?"
#-- error-158
eval 'a <& '; echo "status $?"
#-- error-159
eval '<<EOF'; echo "status $?"
#-- error-160
eval 'for a in b; { c; } d'; echo "status $?"
#-- error-161
eval 'for ((;;)) { c; } d'; echo "status $?"
#-- error-162
eval 'for ((;;)); { c; }; d ('; echo "status $?"
#-- error-163
eval 'select a in b; { c; }'; echo "status $?"
#-- error-164
eval 'for a; { c'; echo "status $?"
#-- error-165
eval 'select a; do'; echo "status $?"
#-- error-166
eval '{ { a; }'; echo "status $?"
#-- error-167
eval '( (a)'; echo "status $?"
#-- error-168
eval '$( (a)'; echo "status $?"
#-- error-169
eval '${a:-$(b}'; echo "status $?"
#-- error-170
eval '${a['; echo "status $?"
#-- error-171
eval '${a[1]'; echo "status $?"
#-- error-172
eval '${!a'; echo "status $?"
#-- error-175
eval 'echo $(( (1 )'; echo "status $?"
#-- error-176
eval '$( ( a'; echo "status $?"
#-- error-177
eval 'a=b=(c)'; echo "status $?"
#-- error-178
eval 'a[1=2'; echo "status $?"
#-- error-179
eval 'a[1]=(2'; echo "status $?"
#-- error-180
eval 'declare a=(b'; echo "status $?"
#-- error-181
eval 'declare a=(b ; c)'; echo "status $?"
#-- error-182
eval 'local -a b=(1 2) c=('; echo "status $?"
#-- error-183
eval 'coproc x=1 { a; }'; echo "status $?"
#-- error-184
eval 'coproc x y ( a )'; echo "status $?"
#-- error-185
eval 'coproc { a; } b'; echo "status $?"
#-- error-186
eval 'coproc a <x { b; }'; echo "status $?"
#-- error-187
eval '{a'; echo "status $?"
#-- error-188
eval '{a;}'; echo "status $?"
#-- error-189
eval '}a'; echo "status $?"
#-- error-190
eval '{}'; echo "status $?"
#-- error-191
eval '{;}'; echo "status $?"
#-- error-192
eval '{ ;}'; echo "status $?"
#-- error-193
eval 'if(a) then (b) fi c'; echo "status $?"
#-- error-194
eval 'if (a)then (b)fi'; echo "status $?"
#-- error-195
eval 'while(a)do (b) done'; echo "status $?"
#-- error-196
eval '! (a) b'; echo "status $?"
#-- error-197
eval 'case a in (b'; echo "status $?"
#-- error-198
eval 'c) d;; (e) esac f'; echo "status $?"
#-- error-199
eval 'case a in b'; echo "status $?"
#-- error-200
eval 'c'; echo "status $?"
#-- error-201
eval 'd) e;& esac g'; echo "status $?"
#-- error-202
eval 'case "$a" in "$b") ;; $c) ;; `d`) ;; esac '; echo "status $?"
#-- error-203
eval '$'; echo "status $?"
#-- error-204
eval 'a $'; echo "status $?"
#-- error-205
eval '"$"'; echo "status $?"
#-- error-206
eval 'echo "a\'; echo "status $?"
#-- error-207
eval 'echo a\\'; echo "status $?"
#-- error-208
eval '&> '; echo "status $?"
#-- error-209
eval '&>> &'; echo "status $?"
#-- error-210
eval '>& '; echo "status $?"
#-- error-211
eval '>'; echo "status $?"
#-- error-212
eval ' '; echo "status $?"
#-- error-213
eval '>'; echo "status $?"
#-- error-214
eval '> '; echo "status $?"
#-- error-215
eval '<> <'; echo "status $?"
#-- error-216
eval '<<- '; echo "status $?"
#-- error-217
eval '<<<<a'; echo "status $?"
#-- error-218
eval '<(a'; echo "status $?"
#-- error-219
eval '>(a'; echo "status $?"
#-- error-220
eval 'a<(b'; echo "status $?"
#-- error-221
eval '<(a) (b)'; echo "status $?"
#-- error-222
echo a
if x; then
echo "abc

#-- error-223
a |
| b
#-- error-224
echo $(
fi
)
#-- error-225
echo "$(
if x
)"
#-- error-226
(( 1 +
2
#-- error-227
a
"b
c
#-- error-228
case x in
a)
b
;;
c d)
esac
#-- error-229
f()


a
#-- error-230
for i
in a
do b
}
#-- error-231
if a
then b
else
#-- error-232
cat <<EOF
foo
EOF
)
#-- error-235
echo 'a
b' )
#-- error-236
[[ a
== b ]]
#-- error-237
[[ a &&
b c ]]
#-- error-238
a=(1
2
|
3)
#-- error-239
{ a
b
) c
#-- error-240
while
do
a;done
#-- error-241
a && 

 | b
#-- error-242
for ((a;
b;c
)); do d; done; )
#-- error-243
[[

a
]]
#-- error-244
((
1
)) )
#-- error-245
x=$(
cat <<E
a
E
) )
#-- error-246
for i in a b


do x; done y
#-- error-247
case x

in

b)

c

;;

esac )
#-- error-248
a |

 b )
#-- error-249
f() # c
# d
{ a; }  )
#-- error-250
function x
{
a
}
}
#-- alias-plain
shopt -s expand_aliases
alias foo='echo bar'
foo x; foo y
#-- alias-recursive
shopt -s expand_aliases
alias echo='echo a' q1=q2 q2=q1
q1() { echo fn; }
echo b
q2
#-- alias-trailing-blank
shopt -s expand_aliases
alias e='echo ' x='y z'
e x x
e 'x' \x
#-- alias-not-same-line
shopt -s expand_aliases
alias hi='echo hello'; hi 2>/dev/null || echo no
hi
#-- alias-compound
shopt -s expand_aliases
alias begin={ end=} w='while false; do'
begin
echo in
end
w :; done; echo $?
alias iff='if true; then echo yes; '
iff fi
#-- alias-quoted-across
shopt -s expand_aliases
alias q='echo "a'
q b"
#-- alias-comsub
shopt -s expand_aliases
alias k='echo k'
echo "$(k)" `k`
f() { k; }
unalias k
f
#-- alias-newline
shopt -s expand_aliases
alias n='echo 1
echo 2'
n
#-- alias-assign
shopt -s expand_aliases
alias v='echo v' a='A=1 '
A=2 v; a v
#-- alias-case
shopt -s expand_aliases
alias a='echo no'
case a in a) echo pattern;; esac
for a in a; do echo $a; done
#-- heredoc-kinds
x=1
cat <<A; cat <<'B'; cat <<-C
$x `echo 2` $((3)) \$x \a \\
A
$x \
B
	tab
	$x
	C
#-- heredoc-join
cat <<A
a\
b
A\
B
A
#-- heredoc-empty-delim
cat <<''
abc

echo next
#-- heredoc-in-comsub
echo "$(cat <<A
in $(echo x)
A
)" after
#-- heredoc-param
unset y; cat <<A
${y:-"q"} ${y:-'q'} "x" 'x' ${y:-$(echo "z")}
A
#-- heredoc-pipe
cat <<A | tr a b | cat - <<B
aaa
A
bbb
B
#-- heredoc-loop
while read l; do echo "<$l>"; done <<A
1
2
A
#-- heredoc-quotes
cat <<\A; cat <<"B C"
$x
A
$x
B C
#-- quotes
echo a'b c'"d e"\ f$'\t|\x41\101\u00e9\cA|'$"loc"; printf '%q ' a'b'\ $'x\ty' "$'a'"; echo
#-- ansi-c
printf '<%s>' $'a\'b' $'\e\a\z' $'\x{41}' $'a\0b' $'\c?' $'\477'; echo
#-- backquote
echo `echo \`echo in\`` "`echo \"q\"`" `echo '$x' \$x \\\\`
#-- comsub-case
echo $(case a in a) echo yes;; b) echo no;; esac) "$(case a in (a) echo 'x)';; esac)"
#-- comsub-comment
echo $(echo a # it's )
) b
#-- arith-or-subshell
echo $((1+(2*3))) $( (echo a); (echo b) ) $((echo c); (echo d)); ((1+1)); echo $?; ((echo x); echo y)
#-- arith-quotes
a=3; echo $(( "a" + 1 )) $((a?2:1)) $[a*2] $(( $(echo 4) + `echo 5` ))
#-- params
x=abc; set -- p q; echo ${x} ${#x} ${x:1} ${x:0:1} ${x: -1} ${x/b/-} ${x//[ac]/_} ${x/#a/z} ${x/%c/z} ${x^} ${x^^} ${x,} ${x~} ${#} ${#@} ${2} ${!#} ${x@Q} ${x:-d} ${y-d} ${y+e} ${x+e}
#-- param-bad-1
echo ${x y}
echo next
#-- param-bad-2
echo "${x!}"; echo same line
#-- param-slash
x=a/b; echo ${x//\//-} ${x////-} ${x///-} ${x/"/"/-} ${x//[\/]/+}
#-- param-dquote-single
echo "${y-'a}'}" "${y-'"'b}" "${y-\}}" "${y-"a b"}"
#-- param-join
xy=1; echo $x\
y ${x\
y} ${\
xy} ${#\
xy} $\
{xy} $\
(echo 2) $\
((1+2))
#-- arrays
a=(1 2
 3 # c
 "4 5" [7]=x [8]+=y $(echo 9 10)); declare -p a; a+=(z); a[1+1]=w; declare -p a; b=(4*3)/2; echo "$b"; declare -A m=([a b]=1 ["c"]=2); declare -p m
#-- array-error-goes-on
a=(1 & 2)
echo next $?
#-- case-forms
case x in esac; case a in (a|b) echo 1;& c) echo 2;;& a) echo 3;; *) echo 4; esac
#-- select-if
if false; then echo 1; elif true; then echo 2; else echo 3; fi; until true; do :; done; for ((i=0; i<2; i++)) { echo $i; }; for i in a b; { echo $i; }; for i do echo $i; done
#-- reserved-as-words
echo if then else fi { } ! [[ ]] case in esac; for in in in; do echo $in; done; function if { echo fn; }; \if
#-- comments
echo a#b # c
# d
echo 'e # f' # g
#-- line-continuation
echo a\
b \
 c &\
& echo d |\
| echo e
#-- function-forms
function f { echo 1; }; function g() (echo 2); h() if true; then echo 3; fi; i () { echo $1; } >&2; f; g; h; i 4
#-- extglob
shopt -s extglob
case abc in a+(b|x)c) echo 1;; esac; [[ foo == @(foo|bar) ]] && echo 2; echo @(no|match) !(x y)
#-- extglob-cond
[[ 'a b' == a*( )b ]]; echo $?; [[ ab =~ ^(a|x)b$ ]] && echo ${BASH_REMATCH[1]}; [[ 'a b' =~ (a b) ]]; echo $?
#-- cond-lines
[[ a == a &&
 ( b == c ||
 ! d == e ) ]]; echo $?; [[ a < b ]]; echo $?; [[ -n x && -z '' ]]; echo $?
#-- redirections
echo a >f 2>&1; cat <f; echo b >>f; cat 0<f; {fd}<f; exec 3<f; cat <&3; exec 3<&-; echo c &>f; cat f; echo d >& f; cat f; cat <<<"e f"; echo g >|f; cat f; 2>/dev/null cat nosuch; echo $?
#-- coproc
coproc cat; echo hi >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x; exec {COPROC[1]}>&-; wait 2>/dev/null; coproc N { read y; echo got $y; }; echo z >&${N[1]}; read x <&${N[0]}; echo $x
#-- bang-time
! true; echo $?; ! ! true; echo $?; !; echo $?; ! false | true; echo $?
#-- semicolons
echo a; echo b & wait; { echo c; }; ( echo d );
#-- deep
x=a; for i in 1 2 3 4 5 6 7 8; do x='$(echo '$x')'; done; eval echo $x
