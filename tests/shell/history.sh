### history is recorded
set -o history
echo a
for i in 1 2
do
  echo $i
done
if true; then
  echo x; fi
case a in
a) echo y
;;
esac
f()
{
  echo "in
quotes"
}
f
cat <<X
doc
X
# a comment
echo a \
 b
history
history 3; history x; history 1 2; history -d 99; history -d 2-3; history -d -1; history; echo $HISTCMD
(history | tail -n 1); history -c; history
### HISTCONTROL and HISTIGNORE
HISTCONTROL=ignoreboth; set -o history
 echo hidden
echo a
echo a
HISTIGNORE='echo*:&'
echo b
true
true
HISTCONTROL=erasedups HISTIGNORE=
HISTCONTROL=erasedups
true
history
### files of the history
HISTFILE=hist; HISTSIZE=5; set -o history
echo 1
echo 2
history -a; cat hist
echo 3
history -w f; cat f
echo 4
echo 5
history -r f; history; printf 'x\ny\n' >> hist; history -n; history
HISTTIMEFORMAT='%Y ' ; history 1 | cut -c1-9
history -r nosuch; echo $?; history -w /nope/x; echo $?; history -rw; history -s a b c; history 2; history -p '!!' 'x !a'
### the file is written at the end
printf 'HISTFILE=h; HISTFILESIZE=2; set -o history\necho a\necho b\necho c\n' > s; bash s; cat h
### history expansion
set -o history -H
echo one two three
echo !!
echo !:2 !:$ !:^ !:* !:1-2
echo '!!' "!!" \!\! a!
!echo
!?two
^o^0
!!:gs/o/0/
echo /a/b.c
echo !:1:h !:1:t !:1:r !:1:e
!nosuch
echo $?
echo !99
echo !!:z
echo !!:9
echo !-1:p
echo "$(echo '!' )" ${!x} $! [!a] !
set -o posix; echo "!!"
history
### fc
set -o history
echo a
echo b
fc -l
fc -ln -2
fc -lr
fc -l echo
fc -l 1 2
fc -s
fc -s a=x 'echo a'
fc -s nosuch; echo $?
fc -l nosuch; echo $?
FCEDIT=cat
fc
fc -e cat 1 2
fc -e false; echo $?
fc -x
history
### history where it is not recorded
bash -c 'set -o history
echo a; history'
set -o history
eval 'echo a
echo b'
echo 'echo c' > s; . ./s; history; set +o history; echo d; history 1; set -o history; echo $HISTCMD
