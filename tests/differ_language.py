# SPDX-License-Identifier: Apache-2.0
"""Random scripts of the shell's language for tests/differ --language: builtins and syntax, no commands but cat and sort."""
from differ_grammar import Grammar

NAMES = ['v', 'w', 'n', 'u', 'e']
VALUES = ['abc', '"d  e"', "'*'", "''", '42', '-7', '"a b c"', 'héé', "$'t\\tn\\n'", '"x=1"', '~', '"${v}x"', '$((n+1))', '"$(echo sub)"', 'ABC',
          "'a:b:c'", '010', '0x1f']
PATTERNS = ['a', '*', '?', '[a-c]', 'b*', '*b', '[!x]', '+([a-z])', '@(a|abc)', '!(abc)', '"*"', '$w', 'é', '*[[:space:]]*', '?(a)b*']
ATTRIBUTES = ['', '-i ', '-l ', '-u ', '-x ', '-r ', '-a ', '-A ', '-c ', '-n ', '-ai ', '-t ']
KEYS = ['0', '1', '5', '-1', 'k', '"a b"', '$n', 'n', 'n+1', '"]"', "''", '@', '*']
SIGNALS = ['EXIT', 'ERR', 'DEBUG', 'RETURN', 'USR1', 'TERM', 'INT', 'CHLD']
FORMATS = ["'%s|'", "'%5s|%-4s|'", "'%d '", "'%q '", "'%b'", "'%x %o '", "'%.2s,'", "'%c'", "'%05d|%+d '", "'%s' -- ", "'%(%Y)T '", "'%*d|' 4"]


class Language(Grammar):
    def value(self):
        return self.pick(*VALUES)

    def name(self):
        return self.pick(*NAMES)

    def pattern(self):
        return self.pick(*PATTERNS)

    def key(self):
        return self.pick(*KEYS)

    def reference(self):
        return self.pick(self.name(), self.name(), 'arr', 'm', f'arr[{self.key()}]', f'm[{self.key()}]', 'arr[@]', 'arr[*]', 'm[@]', '1', '2', '@',
                         '*', '#', '?', 'nosuch', 'ref', '!ref', '!v', '!arr[@]', '!m[@]', '-')

    def parameter(self):
        x = self.reference()
        op = self.pick('', '', '', ':-' + self.value(), '-' + self.value(), ':=dflt', ':+alt', '+' + self.value(), '?', ':?msg', '#' + self.pattern(),
                       '##' + self.pattern(), '%' + self.pattern(), '%%' + self.pattern(), f'/{self.pattern()}/X', f'//{self.pattern()}/<&>',
                       f'/#{self.pattern()}/H', f'/%{self.pattern()}/T', ':1', ':1:2', ': -2', ':0:-1', '^', '^^', ',', ',,', '~', '~~',
                       '^^' + self.pattern(), '@Q', '@A', '@a', '@U', '@u', '@L', '@E', '@K', '@k', ':$n', ':n:1')
        text = '${' + x + op + '}'
        return self.pick(text, f'"{text}"', f'"<{text}>"', f'x{text}y', f'"${{#{x}}}"')

    def words(self, low=1, high=3):
        return ' '.join(self.pick(self.parameter, self.value)() for _ in range(self.r.randint(low, high)))

    def arithmetic(self, depth=2):
        if not depth:
            return self.pick('n', 'arr[1]', 'arr[n]', self.n(), 'v', 'u', '-3', '${#w}', 'm[k]', 'nosuch', '0x1f', '2#101', 'arr[-1]')
        a, b = self.arithmetic(depth - 1), self.arithmetic(depth - 1)
        return self.pick(f'{a}+{b}', f'{a}*{b}', f'{a}-{b}', f'{a}/{b}', f'{a}%{b}', f'({a}<{b})', f'{a}==1?{b}:2', f'!{a}', f'~{a}', f'n++ + {b}',
                         f'--n', f'n+={a}', f'arr[2]={b}', f'{a}&&{b}', f'{a}||{b}', f'{a},{b}', f'{a}<<2', f'{a}^{b}', f'{a}**2', f'u={a}')

    def condition(self):
        a = self.pick(self.parameter(), self.name())
        return self.pick(f'[[ {a} == {self.pattern()} ]]', f'[[ {a} != {self.pattern()} ]]', f'[[ -n {a} ]]', f'[[ -v {self.pick("v", "nosuch", "arr[1]", "m[k]", "arr[9]", "ref")} ]]',
                         f'[[ {a} < b || -z {self.parameter()} ]]', f'[[ {a} =~ ^(a|.)(b*) ]]', f'(( {self.arithmetic()} ))', f'[ {a} = abc ]', f'[[ ! {a} -eq 3 ]]',
                         f'test -n {a}', f'[[ -R ref ]]', f'[[ -o errexit ]]', f'! [[ {a} ]]', f'[[ {a} -nt none ]]')

    def here(self):
        end = self.pick('X', "'X'", '-X')
        tab = '\t' if end[0] == '-' else ''
        body = ''.join(f'{tab}{self.pick(self.parameter(), "plain $((n+2)) text", "$(echo in)", chr(92) + "$v", "`echo b`")}\n' for _ in range(self.r.randint(0, 3)))
        return f'<<{end}\n{body}{tab}X\n'

    def s_assign(self):
        return self.pick(f'{self.name()}={self.value()}', f'{self.name()}+={self.value()}', f'arr[{self.key()}]={self.value()}', f'm[{self.key()}]={self.value()}',
                         f'arr=({self.words(0, 3)})', f'arr+=({self.words(1, 2)})', f'm=([k]={self.value()} [{self.key()}]={self.value()})', f'arr=([3]={self.value()} z)',
                         f'unset {self.pick("v", "arr", "arr[1]", "m[k]", "-n ref", "ref", "-f f", "nosuch", "m")}', f'm+=([{self.key()}]=more)')

    def s_declare(self):
        return self.pick(f'declare {self.pick(*ATTRIBUTES)}{self.name()}={self.value()}', f'declare {self.pick(*ATTRIBUTES)}{self.pick("x1", "arr", "m", "v")}',
                         f'declare -p {self.pick("v", "w", "n", "arr", "m", "ref", "nosuch", "x1")}', f'declare -n ref={self.pick("v", "arr", "m", "arr[1]", "m[k]", "w")}',
                         f'ref={self.value()}', 'ref+=more', 'declare +x v', f'export {self.name()}={self.value()}', f'declare -a x2=({self.words(0, 2)}); declare -p x2')

    def s_echo(self):
        return f'echo {self.words()}'

    def s_printf(self):
        return self.pick(f'printf {self.pick(*FORMATS)} {self.words()}; echo', f'printf -v {self.pick("v", "arr[1]", "m[k]", "ref")} {self.pick(*FORMATS)} {self.words(1, 2)}')

    def s_arith(self):
        return self.pick(f'echo $(( {self.arithmetic()} ))', f'let "{self.arithmetic()}"; echo $?', f'(( {self.arithmetic()} )); echo $? $n')

    def s_read(self):
        return self.pick(f'read {self.pick("v", "v w", "-r v", "-a arr", "-n 2 v", "-N 3 v", "-d : v", "", "-r v w n", "-a m")} <<< {self.pick(self.value(), self.parameter())}; echo "$? $v|$w|$REPLY"',
                         f'IFS={self.pick(":", "", ",", "$IFS")} read -r v w <<< {self.value()}; echo "$v|$w"',
                         f'mapfile {self.pick("", "-t ", "-n 1 ", "-s 1 ", "-O 2 ", "-t -d b ", "-tc 1 -C echo ")}arr < <(printf "%s\\n" {self.words()}); declare -p arr')

    def s_function(self):
        body = '; '.join(self.simple_statement() for _ in range(self.r.randint(1, 3)))
        local = self.pick('', 'local v=loc; ', 'local -n lr=${1:-v}; lr=through; ', 'local -a arr=(l1 l2); ', 'local -; set -f; ', 'local v; ', 'local -i n=2+3; ')
        return f'f() {{ {local}{body}; {self.pick("return 3", "return", ":", "false")}; }}\nf {self.pick("w", "arr", "", "p1 p2")}; echo "$? $v"'

    def s_trap(self):
        return self.pick(f"trap 'echo trap-{self.n()} $?' {self.pick(*SIGNALS)}", f'trap - {self.pick(*SIGNALS)}', 'trap', 'kill -USR1 $$', f"trap '' {self.pick('USR1', 'INT')}",
                         f"(trap 'echo sub' EXIT; {self.simple_statement()})", 'false')

    def s_heredoc(self):
        return self.pick('cat ', 'read -r v ', 'while read -r l; do echo "[$l]"; done ', '{ cat; echo after; } ') + self.here()

    def s_getopts(self):
        return (f'OPTIND=1; while getopts {self.pick("ab:", ":ab:", "a")} o {self.pick("-a", "-b x", "-ab", "-c", "-a -- -b", "-b", "x -a")}; '
                'do echo "$o ${OPTARG-none} $OPTIND"; done')

    def s_process(self):
        return self.pick(f'cat <(echo {self.words()})', f'echo {self.words()} | {{ read -r v; echo "got $v"; }}; echo $v', f'v=$({self.simple_statement()}); echo "$v"',
                         'coproc { read -r x; echo "co:$x"; }; echo hi >&"${COPROC[1]}"; read -r y <&"${COPROC[0]}"; echo "$y"; wait', f'echo {self.words()} > >(cat); wait $!',
                         f'({self.simple_statement()}); echo $?', f'{self.simple_statement()} &\nwait; echo $?', f'! {self.condition()}; echo $?', 'exec {fd}> new; echo x >&$fd; exec {fd}>&-; cat new')

    def s_option(self):
        return self.pick('set -f', 'set +f', 'shopt -s extglob', 'shopt -s nullglob', 'shopt -u nullglob', 'set -u', 'set +u', 'shopt -s nocasematch', 'set -o pipefail', 'IFS=:',
                         'IFS=', 'unset IFS', 'set -- a "b c" d', 'shift', 'set --', 'shopt -s lastpipe', 'set -e', 'set +e', 'set -x', 'set +x', 'set -o posix', 'set +o posix')

    def s_bad(self):
        return self.pick('eval "fi"', "eval 'echo \"x'", 'declare 1x=2', 'echo ${v b}', 'nosuch_command', 'cd /nosuch', 'arr[]=1', 'readonly ro=1; ro=2', 'return 3', 'break', 'local x',
                         'unset ro', 'export 2x', 'shift 99', '. ./nosuch', 'let "1+"', '[ a b ]', '[ a -eq 1 ]', 'read 1x <<< a', 'printf %d abc', 'getopts', 'exec 9<nosuch', '[[ a -eq 1+ ]]',
                         'echo $((1/0))', 'type nosuch', 'alias nosuch', 'kill -NOSUCH 1', 'trap x NOSUCH', 'wait 99999', 'umask 9', 'hash nosuch', 'caller x', 'history x', 'fc -z', 'complete -o x y')

    def simple_statement(self):
        return self.pick(self.s_assign, self.s_assign, self.s_echo, self.s_echo, self.s_declare, self.s_printf, self.s_arith, self.s_bad)()

    def compound(self, depth=1):
        inner = '; '.join(self.simple_statement() for _ in range(self.r.randint(1, 2)))
        return self.pick(f'if {self.condition()}; then {inner}; else {self.simple_statement()}; fi', f'for v in {self.words()}; do {inner}; done',
                         f'for ((i=0; i<{self.n(0, 3)}; i++)); do {inner}; done', f'case {self.parameter()} in {self.pattern()}) {inner};; *) echo other;; esac',
                         f'i=0; while ((i++ < 2)); do {inner}; {self.pick("continue", "break", ":")}; done', f'select v in {self.words()}; do echo "$v $REPLY"; break; done <<< {self.n(0, 3)}',
                         f'{{ {inner}; }} 2>&1', f'{self.condition()} && {self.simple_statement()} || {self.simple_statement()}')

    def script(self):
        head = 'v=abc w="d  e" n=4\narr=(one "two three" 4)\ndeclare -A m=([k]=val)\nset -- p1 "p 2"\n'
        kinds = [self.s_assign, self.s_declare, self.s_echo, self.s_echo, self.s_printf, self.s_arith, self.s_read, self.s_function, self.s_trap, self.s_heredoc,
                 self.s_getopts, self.s_process, self.s_option, self.s_bad, self.compound, self.compound]
        if self.chance(.5):
            head = 'shopt -s extglob\n' + head
        return head + ''.join(s if s.endswith('\n') else s + '\n' for s in (self.pick(*kinds)() for _ in range(self.r.randint(3, 7))))
