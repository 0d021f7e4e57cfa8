# test and [: each operator, precedence by number of arguments, messages. Compared with bash 5.2.
r() { "$@"; echo "$* => $?"; }
d=/tmp/shell-case-test; rm -rf $d; mkdir $d; cd $d || exit
touch f; echo x > s; chmod 755 s; ln -s s l; ln -s nowhere dangling; mkdir dir; chmod 1777 dir; ln s hard; touch -d 2020-01-01 old; touch -d 2021-01-01 new
r [ ]; r [ a ]; r [ "" ]; r [ ! ]; r [ ! a ]; r [ ! "" ]; r [ -f ]; r [ -z "" ]; r [ -q a ]; r [ a b ]
r [ a = a ]; r [ a == b ]; r [ a != b ]; r [ a \< b ]; r [ a \> b ]; r [ a x b ]; r [ ! -z a ]; r [ \( a \) ]; r [ \( "" \) ]
r [ a -a b ]; r [ a -o "" ]; r [ "" -a b ]; r [ 1 -eq x ]; r [ x -eq 1 ]; r [ 1 -lt 2 ]; r [ " 1 " -eq 1 ]; r [ 1a -eq 1 ]; r [ '' -eq 0 ]
r [ 99999999999999999999 -eq 1 ]; r [ 9223372036854775807 -gt -9223372036854775808 ]; r [ 9223372036854775808 -gt 1 ]; r [ 0x10 -eq 16 ]; r [ 010 -eq 10 ]; r [ +5 -eq 5 ]; r [ - -eq 1 ]
for o in eq ne lt le gt ge; do for p in '1 2' '2 2' '2 1' '-1 1'; do set -- $p; r [ "$1" -$o "$2" ]; done; done
r [ ! a = b ]; r [ ! a = a ]; r [ \( a = a \) ]; r [ \( ! a \) ]; r [ a b c d ]; r [ a = a x ]; r [ a = a -a b = b ]; r [ a = a -o b = c -a c = d ]
r [ \( a = a -o b = c \) -a c = d ]; r [ ! \( a = a \) ]; r [ a = a -a ]; r [ -a ]; r [ -a a ]; r [ a -a ]; r [ \( a ]; r [ \( a = a ]; r [ a \) ]; r [ -n a -a -n ]
r test \( a = a; r test \( a; r [ a = a b ]; r [ a; r test a = a ]; r test; r test ']'; r [
r [ -z ]; r [ -t ]; r [ -t 99 ]; r [ -t x ]; r [ -t '' ]; r [ -t -a a ]; r [ -t -a a = a ]; r [ ! -t ]; r [ -t 0 -a a = a ]; r [ a = a -a -t x ]; r [ a = a -a -t 1x -a b ]
r [ -v HOME ]; r [ -v zz ]; a=(1 2); r [ -v a[1] ]; r [ -v a[5] ]; r [ -v 'a[@]' ]; r [ -v 1 ]; r [ -v 9 ]; r [ -R a ]; declare -n nr=a; r [ -R nr ]
declare -A h=([x]=1 [@]=2); k=x; r [ -v 'h[$k]' ];  r [ -v 'h[x]' ]; r [ -v 'h[y]' ]; r [ -v h ]; r [ -v 'h[@]' ]; r [ -v 'h[*]' ]
b=(); r [ -v b ]; b[1]=1; r [ -v b ]; r [ -v 'b[-1]' ]; r [ -v 'b[-5]' ]; r [ -v 'b[1+0]' ]; r [ -v 'zz[0]' ]; r [ -v 'HOME[0]' ]; r [ -v 'HOME[1]' ]; r [ -v '' ]; r [ -v '@' ]; r [ -v 0 ]; declare -i dd; r [ -v dd ]
r [ -o errexit ]; r [ -o nosuch ]; r [ -o ]; r [ ! -o errexit ]; set -u; r [ -o nounset ]; set +u
r [ dir -ef dir/. ]; r [ s -ef hard ]; r [ s -ef l ]; r [ s -ef f ]; r [ s -ef none ]; r [ new -nt old ]; r [ old -nt new ]; r [ old -ot new ]; r [ new -nt none ]; r [ none -nt new ]; r [ none -ot new ]; r [ new -ot none ]; r [ none -nt none ]
for o in a b c d e f g h k p r s t u w x G L N O S; do for f in f s l dangling dir none /dev/null ''; do r [ -$o "$f" ]; done; done
mkfifo p; r [ -p p ]; chmod g+s,u+s f; r [ -g f ]; r [ -u f ]
r [ -z a -b c ]; r [ ! ! a ]; r [ ! ! ! a ]; r [ ! ! a = a ]; r [ \( \( a \) \) ]; r [ \( \) ]; r [ \( \( ]; r [ \) ]; r [ a = ]; r [ = ]; r [ = = = ]; r [ -a = -a ]; r [ ! = ! ]; r [ \( = \( ]; r [ \( = \) ]; r [ -f = ]; r [ -f = a ]; r [ -eq -eq -eq ]; r [ a -eq ]; r [ 1 -eq 1 -eq 1 ]
r [ a = b = c ]; r [ a -x b c ]; r [ x y z -a ]; r [ 1 -eq 1 -a 2 -eq x ]; r [ 1 -eq 2 -a 2 -eq x ]; r [ 1 -eq 1 -o 2 -eq x ]; r [ -n a b c d ] ; r [ a -n b c ]; r [ -z "" -o -z "" -o ]; r [ \( a -a b \) -o \( c \) x ]; r [ a -a -n ]; r [ a -a -n = -n ]; r [ -l a ]; r [ -l abc -eq 3 ]; r [ a =~ a ]
r [ a = a -a -z ]; r [ a = a -a -f ]; r [ a = a -a -f -a b ]; r [ -e -a b ]; r [ ! -a b ]; r [ ! a b c ]; r [ -a -a -a -a ]; r [ a = a -a '(' -z '' ')' ]; r [ '(' '!' ')' ]; r [ '(' '!' a ')' ]; r [ '!' '(' ')' ]; r [ '(' a ')' -a '(' b ')' ]; r [ a = a -a ! ]; r [ a = a -a ! b ]
r [ -v ]; r [ a -v b ]; r [ a -nt ]; r [ -n -o -z ]; r [ 1 -eq 1 -o ]; r [ -o -o -o ]; r [ -o -o ]; r [ ! ! ]; r [ ! ! ! ]; r [ a ! b ]; r [ '(' a b ')' ]; r [ '(' -n b ')' ]; r [ '(' a = b ')' ]; r [ '(' a = b ')' -a x ]; r [ '(' a = b -a x ]; r [ ! '(' a b ')' ]; r [ ! a b ]; r [ a -a '(' b ]
cd /; rm -rf $d
