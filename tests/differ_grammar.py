# SPDX-License-Identifier: Apache-2.0
"""The grammar of tests/differ: random scripts over the tree of differ_tree.py, of things that have one right outcome.

A method `c_NAME` gives a command line of the command NAME: with files of the tree, or, when `pipe` is true, one that reads
standard input. What the order of directory entries, time, process numbers or a race would show is kept out: find is
sorted, a reader that stops early stands behind little data.
"""
import random
import shlex

TEXT = ['a.txt', 'b.txt', 'c.txt', 'dup.txt', 'nums.txt', 'ints.txt', 'p.csv', 'tab.tsv', 's1.txt', 'app.log', 'crlf.txt', 'utf8.txt',
        'link', '"odd name.txt"', './-dash', 'src/main.c', 'src/util.h', 'src/sub/notes.md', 'empty', 'j1.txt', '.hidden']
MISSING = ['nofile', 'void', 'dangling', 'src/none', 'a.txt/x']
DIRS = ['.', 'src', 'src/sub', 'odd', 'void', 'dirlink']
NEW = ['new', 'out1', 'out2', 'void/n', 'src/new.c', '"new name"']
# What runs by itself in our shell, for where there is no userland.
BUILTINS = {'echo', 'printf', 'test', 'read', 'true', 'pwd', 'cd'}


class Grammar:
    def __init__(self, seed, have, only=None, utf8=False, safe=False):
        """have: the commands that both sides know. only: those a line begins with. safe: nothing hides a refusal."""
        self.r = random.Random(seed)
        self.utf8, self.safe = utf8, safe
        names = [m[2:] for m in dir(self) if m.startswith('c_')]
        self.have = have | BUILTINS
        self.commands = [n for n in names if n in self.have and (not only or n in only)]
        self.filters = [n for n in self.commands if n in self.FILTERS]
        self.only = only

    FILTERS = {'cat', 'head', 'tail', 'wc', 'cut', 'tr', 'sort', 'uniq', 'sed', 'awk', 'grep', 'tac', 'nl', 'fold', 'expand', 'unexpand',
               'fmt', 'paste', 'tee', 'od', 'base64', 'md5sum', 'cksum', 'xargs', 'numfmt', 'tsort', 'pr', 'sha256sum', 'gzip', 'base32', 'sum', 'sha512sum',
               'shuf'}

    # ---- small parts ----

    def pick(self, *xs):
        return self.r.choice(xs)

    def chance(self, p):
        return self.r.random() < p

    def n(self, low=0, high=9):
        return str(self.r.randint(low, high))

    def opts(self, *xs, p=.3, join=True):
        """Some of the options, now and then joined into one word."""
        chosen = [x for x in xs if self.chance(p)]
        self.r.shuffle(chosen)
        if join and len(chosen) > 1 and all(len(x) == 2 and x[0] == '-' for x in chosen) and self.chance(.6):
            return ' -' + ''.join(x[1] for x in chosen)
        return ''.join(' ' + x for x in chosen)

    def file(self, p=.06):
        return self.pick(*MISSING) if self.chance(p) else self.pick(*TEXT)

    def files(self, low=1, high=3):
        if self.chance(.12):
            return self.pick('*.txt', 'src/*', '*.{txt,csv}', 's?.txt', '[a-c].txt', 'src/*.[ch]', '*.none')
        return ' '.join(self.file() for _ in range(self.r.randint(low, high)))

    def input(self, pipe, low=1, high=2):
        if pipe:
            return self.pick('', '', '', ' -')
        return ' ' + self.files(low, high)

    def word(self):
        return self.pick('foo', 'alpha', 'the', 'ERROR', 'x', '42', 'main', 'int', 'o', 'a', 'bar', '1', 'Hello', '-', ',')

    def regex(self, kind='B', depth=2):
        def atom(d):
            k = self.r.random()
            if k < .5:
                return self.pick('a', 'o', 'e', 'foo', 'the', 'x', '1', '0', ' ', 'in', 'ERR', 'l', ',', '-', '"')
            if k < .6:
                return '.'
            if k < .8 or d <= 0:
                return self.pick('[a-f]', '[0-9]', '[^a-z]', '[[:alpha:]]', '[[:space:]]', '[[:digit:]]', '[A-Z]', '[^ ]', '[]x]', r'\w', r'\W',
                                 r'\b', r'\s', r'\.', '[aeiou]', r'\<', r'\>')
            inner = self.regex_body(kind, d - 1, atom)
            if kind == 'B':
                return r'\(' + inner + r'\)'
            return '(' + inner + ')'
        body = self.regex_body(kind, depth, atom)
        return self.pick('', '', '', '', '^') + body + self.pick('', '', '', '', '$')

    def regex_body(self, kind, d, atom):
        out = ''
        for _ in range(self.r.randint(1, 3)):
            a = atom(d)
            if a not in (r'\b', r'\<', r'\>') and self.chance(.3):
                a += self.pick('*', '*', r'\+', r'\?', r'\{1,2\}', r'\{2\}') if kind == 'B' else self.pick('*', '+', '?', '{1,2}', '{2}', '{,2}')
            out += a
        if self.chance(.15):
            out += (r'\|' if kind == 'B' else '|') + atom(d)
        return out

    def quoted(self, s):
        return shlex.quote(s) if not self.chance(.2) or any(c in s for c in '"$`\\!') else '"' + s + '"'

    # ---- commands that read text ----

    def c_cat(self, pipe):
        return 'cat' + self.opts('-n', '-b', '-s', '-E', '-T', '-A', '-v', p=.12) + self.input(pipe)

    def c_head(self, pipe):
        return 'head' + self.pick('', ' -n ' + self.n(), ' -' + self.n(1), ' -c ' + self.n(0, 40), ' -n -' + self.n(), ' -qn2', ' -v -n1',
                                  ' -c -' + self.n(0, 30), ' --lines=3', ' -n 1K') + self.input(pipe)

    def c_tail(self, pipe):
        return 'tail' + self.pick('', ' -n ' + self.n(), ' -n +' + self.n(), ' -c ' + self.n(0, 40), ' -' + self.n(1), ' -c +' + self.n(0, 30),
                                  ' -qn 1', ' -v -n 2') + self.input(pipe)

    def c_wc(self, pipe):
        return 'wc' + self.opts('-l', '-w', '-c', '-m', '-L', p=.35) + self.input(pipe)

    def c_cut(self, pipe):
        span = self.pick('1', '2', '1,3', '2-', '-2', '1-3', '3,1', '2-4,6', '9', '0', '1-2,2-5')
        how = self.pick(f'-d, -f{span}', f'-f {span}', f"-d ' ' -f {span}", f'-c {span}', f'-b{span}', f"-d: -f {span} -s",
                        f"-d, -f {span} --output-delimiter='|'", f'-d, --complement -f{span}', f'-c {span} --output-delimiter=:', f"-s -d' ' -f{span}")
        return f'cut {how}' + (' p.csv' if 'd,' in how and not pipe else self.input(pipe))

    def c_tr(self, pipe):
        sets = ['a-z', 'A-Z', "'[:lower:]'", "'[:upper:]'", 'aeiou', '0-9', "'\\n'", "' '", 'xyz', "'[:space:]'", "'[:punct:]'", 'a', "'a-c*'",
                "'\\t'", "'[x*]'", "'\\101'", "'[=a=]'", "'[:alnum:]'"]
        s = self.pick(f'{self.pick(*sets)} {self.pick(*sets)}', f'-d {self.pick(*sets)}', f'-s {self.pick(*sets)}',
                      f'-cd {self.pick(*sets)}', f'-c {self.pick(*sets)} {self.pick(*sets)}', f'-s {self.pick(*sets)} {self.pick(*sets)}',
                      "'[:lower:]' '[:upper:]'", 'a-z A-Z', f'-t {self.pick(*sets)} xy', f'-ds {self.pick(*sets)} {self.pick(*sets)}',
                      f"-cs 'a-zA-Z' '\\n'")
        return f'tr {s}' + ('' if pipe else ' < ' + self.file(0))

    def c_sort(self, pipe):
        key = self.pick('', '', ' -k2', ' -k2,2', ' -k 1,1n', " -k2.2,3", ' -k3nr -k1', ' -k1,1 -k2,2n', ' -k2b,2', ' -t, -k3,3n', ' -t, -k2', ' -t: -k1.2',
                        ' -k1.1,1.2', ' -t, -k4nr,4 -k1n', ' -k1,1f', ' -k2,2V')
        return 'sort' + self.opts('-r', '-n', '-u', '-f', '-b', '-s', '-d', '-i', '-g', '-h', '-V', '-z', '-M', p=.1) + key + \
            self.pick('', '', '', '', ' -c', ' -m', ' -C', '') + self.input(pipe)

    def c_uniq(self, pipe):
        return 'uniq' + self.opts('-c', '-d', '-u', '-i', '-D', '-z', p=.15) + self.pick('', '', ' -f1', ' -s2', ' -w3', ' --group', ' --all-repeated=separate',
                                                                                    ' -f 1 -w 2') + (self.input(pipe) if pipe else ' ' + self.file())

    def c_sed(self, pipe):
        e = self.pick('', '', ' -E')
        kind = 'E' if e else 'B'
        addr = lambda: self.pick('', '', self.n(1), '$', '1,3', '2,$', f'/{self.word()}/', '1~2', '2!', '0~3', '/o/,/a/', '$!', '2,+1', '1,/e/', '0,/a/', '3,~2', '/a/I')
        rx = lambda: self.regex(kind, 1).replace('/', '.')
        rep = lambda: self.pick('X', '[&]', '', r'\U&', r'\u&', '<&>', 'a b', r'\n', '&&', r'\L&\E!', r'\t', r'x\&y')
        cmd = lambda: self.pick(f's/{rx()}/{rep()}/{self.pick("", "g", "2", "I", "gI", "p", "2g", "w out3")}', 'p', 'd', '=', 'q', 'n', 'N', 'G', 'h;g', 'x', 'D', 'P', 'l', 'y/abc/xyz/',
                                f'a\\\n{self.word()}', f'i {self.word()}', f'c {self.word()}', 'n;d', '$!N;P;D', 'H;$!d;x;s/\\n/,/g', 'q3', 'Q', 'r j1.txt', 'z', 'F', 'w out1',
                                ':a;s/oo/o/;ta', 'R s1.txt', 'y/a,/,a/', 's|a|/|g', 'b', 'l 20', 'W out2', '{p;p}', 's/\\(.\\)\\(.\\)/\\2\\1/' if kind == 'B' else 's/(.)(.)/\\2\\1/')
        exprs = ' '.join('-e ' + shlex.quote(addr() + cmd()) for _ in range(self.r.randint(1, 2)))
        flags = self.opts('-n', '-s', '-z', '-u', p=.15)
        if not pipe and self.chance(.15):
            return f'sed -i{self.pick("", "", ".bak", "old_*")}{e}{flags} {exprs} {self.pick("a.txt", "b.txt c.txt", "p.csv", "link", "src/*.c", "nofile")}'
        return f'sed{e}{flags} {exprs}' + self.input(pipe)

    def c_grep(self, pipe):
        kind = self.pick('', '', '-E', '-E', '-F', '-P', '-G')
        if kind == '-F':
            pattern = self.pick(self.word(), 'a.b', '[x]', '*', 'o')
        elif kind == '-P':
            pattern = self.pick(r'\d+', r'(?<=a)\w', r'\bfoo\b', r'(?i)error', r'o(?!o)', r'\w+$', r'^\S+', r'(a|e)\1?', r'x*?', r'took=\K\d+', r'[[:upper:]]{2,}', r'\x41', r'(\d)\1')
        else:
            pattern = self.regex('E' if kind == '-E' else 'B')
        o = self.opts('-n', '-i', '-v', '-c', '-o', '-w', '-x', '-l', '-L', '-h', '-H', '-q', '-s', '-b', '-a', '-z', p=.1) + self.pick('', '', '', ' -A1', ' -B1', ' -C 2', ' -m1', ' -m 2', ' --color=always',
                                                                                                                                ' -T', ' -y', ' --no-messages')
        command = f'grep {kind}{o}'.rstrip() + (' -e ' + self.word() if self.chance(.1) else '') + ' -e ' + self.quoted(pattern)
        if not pipe and self.chance(.15):
            return f'grep -r{kind[1:]}{o} -e {self.quoted(pattern)} {self.pick("src", ".", "odd", "")} {self.pick("", "--include=*.c", "--exclude=*.h", "--exclude-dir=sub")}'.rstrip() + ' | sort'
        return command + self.input(pipe)

    def c_awk(self, pipe):
        fs = self.pick('', '', '', ' -F,', " -F'\\t'", " -F'[ ,]'", ' -F:', ' -v x=3', " -v OFS=-")
        num = lambda: self.pick('$1', '$2', '$3', 'NR', 'NF', '$NF', 'length($0)', 'x', '2', '$1*2', 'NR%2', 'int($2/3)', '-1', '$1+0')
        string = lambda: self.pick('$0', '$1', '$2', '"s"', '$NF', 'toupper($1)', 'substr($0,2,3)', '$1"-"$2', 'tolower($0)', 'sprintf("%05.1f|%-5s|%x",$1,$2,NR)', 'length', 'index($0,"a")', 'FILENAME', 'gensub(/a/,"b","g")', 'substr($0,0,2)', 'substr($0,-1)', 'substr("hello",2)', 'NF?$NF:"none"')
        cond = lambda: self.pick('', f'/{self.regex("E", 1)}/'.replace('//', '/a/'), f'NR=={self.n(1)}', f'{num()}>{self.n()}', '$1~/a/', 'NR>1', '!/foo/', f'NR==2,NR==4', 'END', 'BEGIN', '$0 in seen', '!seen[$0]++', 'NF', 'length>10')
        act = lambda: self.pick(f'{{print {string()}}}', f'{{print {string()},{num()}}}', f'{{s+={num()}}} END{{print s}}', f'{{c[{string()}]++}} END{{for(k in c) print k, c[k] | "sort"}}',
                                f'{{printf "%s %d %5.2f\\n", {string()}, {num()}, {num()}}}', '{$2="";print}', '{n=split($0,a," ");for(i=n;i>0;i--) printf "%s ",a[i]; print ""}', '{gsub(/o/,"0");print}', '{sub(/[a-e]+/,"[&]");print}',
                                '{while(i<3){i++;print i}}', '{print > "out1"}', '{if(NF>2) print NF; else print "few"}', '{print length($0)": "$0}', '{$1=$1;print}', '{print NR, $0; next}', '{x=x $1}END{print x}', 'function f(n){return n<2?1:n*f(n-1)} {print f(NF)}',
                                '{if(match($0,/[0-9]+/)) print RSTART,RLENGTH}', '{print;exit 3}', '{"echo hi"|getline l; print l}', '{print -$1, !$1, $1%3, $1^2}', '{NF=2;print}', '{print strtonum("0x1f"), substr($0,2)}', '{delete a;a[1]=NR;print length(a)}', '{do{k++}while(k<2);print k}', '{printf "%c%c\\n",65,$1}', '{print 1e6, 0.1+0.2, 1/3, 100000000000}', '{getline;print}',
                                '{switch(NF){case 1:print "one";break;default:print "more"}}', '{print and(NR,3), or(NR,4)}', '{print substr($0,length($0))}', '{print ENVIRON["HOME"]!=""}', '{OFMT="%.2f";print 3.14159}', '{print toupper(substr($1,1,1)) substr($1,2)}')
        c = cond()
        return f'awk{fs} {shlex.quote(c + act())}' + ('' if pipe else ' ' + self.files())

    def c_tac(self, pipe):
        return 'tac' + self.pick('', '', ' -s ,', ' -b', " -r -s '[ao]'") + self.input(pipe)

    def c_nl(self, pipe):
        return 'nl' + self.pick('', ' -ba', ' -bn', ' -w3', " -s': '", ' -v5 -i2', ' -nrz', ' -nln', " -bp'^a'", ' -ba -l2') + self.input(pipe, 1, 1)

    def c_fold(self, pipe):
        return 'fold' + self.pick(' -w10', ' -w 20 -s', ' -b -w7', ' -5', ' -sw 15', ' -w 1', ' -bs -w 6', ' -s -w 3') + self.input(pipe, 1, 1)

    def c_expand(self, pipe):
        return 'expand' + self.pick('', ' -t4', ' -i', ' -t 2,6,10', ' -i -t3', ' -t /4') + self.input(pipe, 1, 1)

    def c_unexpand(self, pipe):
        return 'unexpand' + self.pick('', ' -a', ' -t4', ' -a -t 3', ' --first-only') + self.input(pipe, 1, 1)

    def c_fmt(self, pipe):
        return 'fmt' + self.pick('', ' -w 30', ' -s', ' -u', ' -w20 -c', ' -t') + self.input(pipe, 1, 1)

    def c_paste(self, pipe):
        if pipe:
            return 'paste' + self.pick(' -s', ' - -', ' -d, - -', " -sd+", " -s -d ',;'", ' - a.txt', " -sd '\\n\\t'")
        return 'paste' + self.pick('', ' -d,', ' -s', " -d '\\t:'", ' -sd ,', " -d '\\0'", ' -z') + ' ' + self.files(1, 3)

    def c_tee(self, pipe):
        return 'tee' + self.pick('', ' -a', '', ' -p') + ' ' + self.pick('out3', 'out1', 'out1 out2', '/dev/null', 'nodir/x') + ('' if pipe else ' < ' + self.file(0))

    def c_od(self, pipe):
        return 'od' + self.pick('', ' -c', ' -An -tx1', ' -tx2z', ' -b', ' -An -c -w8', ' -td4', ' -j3 -N10 -c', ' -Ax -tu1', ' -v -to1', ' -s', ' -ta', ' -tx8z -w16', ' -i', ' -tx1 -tc', ' -td1z -w5', ' --endian=big -tx4',
                                ' -l -N 20', ' -to4 -Ad', ' -w3 -tx1', ' -b -c') + self.input(pipe, 1, 1)

    def c_base64(self, pipe):
        return self.pick('base64' + self.pick('', ' -w 20', ' -w0'), 'base64 | base64 -d' if pipe else 'base64 -w30') + ('' if pipe else ' ' + self.file())

    def c_md5sum(self, pipe):
        return 'md5sum' + self.pick('', '', ' -b', ' --tag', ' -z') + self.input(pipe)

    def c_sha256sum(self, pipe):
        return self.pick('sha256sum', 'sha1sum', 'sha512sum', 'b2sum') + self.pick('', '', ' -b', ' --tag') + self.input(pipe)

    def c_cksum(self, pipe):
        return self.pick('cksum', 'sum', 'cksum -a crc', 'cksum -a md5', 'sum -s') + self.input(pipe)

    def c_base32(self, pipe):
        return self.pick('base32' + self.pick('', ' -w 20', ' -w0'), 'base32 | base32 -d' if pipe else 'base32 -w9') + ('' if pipe else ' ' + self.file())

    def c_sum(self, pipe):
        return 'sum' + self.pick('', ' -r', ' -s') + self.input(pipe)

    def c_sha512sum(self, pipe):
        sums = self.pick('md5sum', 'sha224sum', 'sha384sum', 'sha512sum', 'sha1sum')
        if pipe:
            return sums + self.pick('', ' --tag', ' -c', ' -c --quiet')
        return f'{sums} {self.files()} > out1; {sums} -c{self.pick("", " --quiet", " --status", " -w", " --strict", " --ignore-missing")} out1'

    def c_shuf(self, pipe):
        how = self.pick(f' -n {self.n()}', f' -n {self.n(90, 99)} | sort', ' | sort', ' -r -n 4', ' -z | tr "\\0" x')
        if pipe:
            return f'shuf{how} | wc -l'
        return self.pick(f'shuf {self.file()} | sort', f'shuf -i {self.n(1, 5)}-{self.n(4, 9)} | sort', 'shuf -e a b c | sort', f'shuf {self.file()}{how} | wc -l', 'shuf -n1 -e x x')

    def c_printenv(self, pipe):
        return self.pick('A=1 printenv A', 'printenv NOSUCH', 'A=1 B=2 printenv A B NOSUCH', 'printenv HOME | wc -l', 'A="x y" printenv -0 A | tr "\\0" "\\n"', 'env -i A=1 B=2 printenv')

    def c_link(self, pipe):
        return self.pick(f'link {self.file()} {self.pick(*NEW)}', f'unlink {self.file()}', f'unlink {self.pick(*DIRS)}', 'link a.txt b.txt', 'link a.txt', 'unlink a.txt b.txt', 'mkfifo ff; stat -c "%F %a" ff; rm ff',
                         'mkfifo -m 640 ff; stat -c "%F %a" ff; rm ff', 'mkfifo a.txt', 'mkfifo ff && { echo x > ff & cat ff; wait; rm ff; }', f'sync {self.file()}')

    def c_xargs(self, pipe):
        body = 'xargs' + self.opts('-r', '-t' if self.safe else '-r', p=.2) + self.pick('', ' -n1', ' -n 2', ' -L1', " -I{}", ' -d , ', " -d '\\n'", ' -0', ' -s 200', " -n3 -P1", ' -I % ', ' -E the') + ' '
        if '-I' in body:
            body += self.pick('echo "<{}>"', 'echo % {} %', "sh -c 'echo \"$1\"' _ {}", 'printf "%s|" {}', 'basename {}')
        else:
            body += self.pick('echo', 'printf "<%s>"', 'echo a', "sh -c 'echo $#'", 'ls -d', 'wc -c', 'cat', 'false', 'basename -a', "sh -c 'exit 3'", 'test -f', 'nosuchcommand', '')
        return body.rstrip() + ('' if pipe else ' < ' + self.pick('s1.txt', 'ints.txt', 'dup.txt', 'nums.txt', 'j1.txt'))

    def c_numfmt(self, pipe):
        return 'numfmt' + self.pick(' --to=si', ' --to=iec', ' --from=si --invalid=ignore', ' --to=iec-i --suffix=B', ' --field=2 --to=si --invalid=warn', ' --padding=8', ' --round=up --to=si', ' --format=%.2f', ' --grouping') + \
            (' --invalid=ignore' if pipe else ' ' + self.pick('1234', '1048576 99', '-5000', '1K', '12.5', 'abc', '999999'))

    def c_tsort(self, pipe):
        return 'tsort' + ('' if pipe else ' ' + self.pick('s1.txt', 'j1.txt', 'empty'))

    def c_pr(self, pipe):
        return 'pr -t' + self.pick('', ' -2', ' -n', ' -o3', ' -w 40 -3', ' -l 20 -2', ' -d', ' -e4', " -s, -2") + self.input(pipe, 1, 1)

    def c_gzip(self, pipe):
        if pipe:
            return self.pick('gzip -c | gzip -dc', 'gzip -9 | zcat', 'gzip -1n | wc -c', 'gzip -n | gzip -t && echo fine', 'gzip -nc | md5sum', 'bzip2 | bunzip2', 'xz | xz -dc', 'zstd -q | zstd -dc', 'gzip -dc')
        return self.pick('gzip -n b.txt', 'gzip -kn9 a.txt', 'gzip -cn a.txt > new.gz; gzip -l new.gz | tail -1 | wc -w', 'gzip -n *.log && gunzip *.gz', 'gzip -d a.txt', 'gzip -cn s1.txt s2.txt | zcat', 'gzip -t a.txt', 'bzip2 -k a.txt && bzcat a.txt.bz2', 'xz -k b.txt; xzcat b.txt.xz; rm b.txt.xz', 'gzip -nr src; find src | sort', 'gunzip nofile', 'gzip -nv empty 2>/dev/null')

    # ---- commands that read several files, or none ----

    def c_comm(self, pipe):
        return 'comm' + self.opts('-1', '-2', '-3', p=.3) + self.pick('', '', ' --total', ' --output-delimiter=:', ' --nocheck-order', ' --check-order', ' -z') + ' ' + self.pick('s1.txt s2.txt', 's1.txt -  < s2.txt', 'a.txt b.txt', 's1.txt nofile', 's1.txt s1.txt', 'empty s2.txt')

    def c_join(self, pipe):
        return 'join' + self.pick('', '', ' -a1', ' -a 2', ' -v1', ' -a1 -a2 -e - -o 0,1.2,2.2', ' -o 1.1,2.2', ' -1 1 -2 1', ' -t" "', ' -j1', ' -i', ' --check-order', ' --header', ' -e X -o auto -a1', ' --nocheck-order -1 2') + ' ' + self.pick('j1.txt j2.txt', 'j2.txt j1.txt', 'j1.txt - < j2.txt', 's1.txt s2.txt', 'a.txt j1.txt', 'j1.txt nofile')

    def c_diff(self, pipe):
        pair = self.pick('a.txt b.txt', 'b.txt a.txt', 's1.txt s2.txt', 'a.txt a.txt', 'a.txt empty', 'c.txt a.txt', 'src/main.c src/util.c', 'a.txt nofile', 'crlf.txt utf8.txt', 'bin.dat a.txt', 'src dirlink', '- a.txt < b.txt')
        return 'diff' + self.pick('', '', ' -u --label a --label b', ' -q', ' -s', ' -U1 --label x --label y', ' --normal', ' -e', ' -n', ' -y -W 60', ' -c --label o --label n', ' -y --suppress-common-lines', ' --brief', " --unchanged-line-format= --old-line-format='<%L' --new-line-format='>%L'", ' -D FOO') + \
            self.opts('-i', '-w', '-b', '-B', '-a', '--strip-trailing-cr', '-d', p=.1, join=False) + ' ' + pair

    def c_cmp(self, pipe):
        return 'cmp' + self.pick('', ' -s', ' -l', ' -b', ' -n 5', ' -i 2', ' -bl') + ' ' + self.pick('a.txt b.txt', 'a.txt a.txt', 'a.txt empty', 'c.txt a.txt', 'a.txt nofile', '- a.txt < b.txt', 'a.txt link')

    def c_patch(self, pipe):
        return self.pick('diff -u --label a.txt --label a.txt a.txt b.txt > p.diff; patch -s < p.diff; cmp a.txt b.txt && echo same', 'diff a.txt b.txt | patch a.txt -o new -s; cmp new b.txt && echo same',
                         'diff -u --label a/a.txt --label b/a.txt a.txt b.txt | patch -p1 --dry-run', 'cp b.txt z; diff -u --label z --label z b.txt a.txt | patch -b; ls z*', 'diff -u --label a.txt --label a.txt a.txt b.txt | patch -R -f; ls *.rej *.orig',
                         'diff -e a.txt b.txt > p.ed; wc -l p.ed', 'printf x | patch -p0; echo $?', 'diff -c --label a.txt --label a.txt a.txt b.txt | patch; echo $?')

    def c_seq(self, pipe):
        return 'seq' + self.pick('', ' -w', ' -s,', " -f '%03g'", ' -s " "') + ' ' + self.pick(self.n(0, 12), f'{self.n()} {self.n(5, 15)}', f'{self.n()} {self.n(1, 4)} 20', '5 -1 1', '1 .5 3', '-3 3', '10 1', '0.1 0.1 0.5', '1e1', 'x', '8 11', '1 2 3 4', '')

    def c_printf(self, pipe):
        return 'printf ' + self.pick(r"'%s\n' " + self.args(), r"'%d %5d|%-5d|%05d\n' 1 2 3 4", r"'%s=%d\n' a 1 b 2 c", r"'%b\n' 'a\tb\n\0101'", r"'%q\n' " + self.args(), r"'%x %X %o %#x\n' 255 255 8 16", r"'%5.2f|%e|%g\n' 3.14159 1234.5 1e-5", r"'%c%c\n' abc def",
                                     r"'%*d|%-*s|\n' 5 42 6 ab", r"'%.3s|\n' abcdef", r"'%%|%5%\n'", r"'a\x41\u00e9\n'", r"'%d\n' 0x1f 010 \'a abc", r"'no newline'", r"'%s' a b c", r"'%(%Y)T\n' 0", r"'\e[1m%s\e[0m\n' bold", r"'%+d % d\n' 5 6", r"'%i\n' -7", r"'%u\n' 3", r"'%s %s\n' one", "-v v '%s' x; echo $v", r"'%.0f %.1f\n' 2.5 0.05", r"'%10s|%-10s|\n' é é", r"-- '%s\n' x", "''")

    def args(self):
        return ' '.join(self.pick('a', "'b c'", '""', '-n', '$HOME', '"$v"', "'x'", '1', '\\\\', '"q\'q"', '~', '{1..3}', 's?.txt', "$'a\\nb'", '"${x:-def}"') for _ in range(self.r.randint(1, 4)))

    def c_echo(self, pipe):
        return 'echo' + self.pick('', '', '', ' -n', ' -e', ' -E', ' -ne') + ' ' + self.args()

    def c_expr(self, pipe):
        return 'expr ' + self.pick('1 + 2', '7 \\* 6', '10 / 3', '10 % 3', 'length hello', 'substr hello 2 3', 'index hello l', 'abc : "a\\(.\\)"', 'abc : ab', '3 \\> 2', 'a = b', '"" \\| def', '1 / 0', '5 \\& 0', 'x + 1', '\\( 1 + 2 \\) \\* 3', '', '-1 + 1', 'match foobar "o*"', '99999999999999999999 + 1', '+ length', 'a \\< b')

    def c_basename(self, pipe):
        return self.pick('basename', 'dirname') + ' ' + self.pick('a/b/c.txt', '/', '//', 'a/', 'x', '""', '/usr/', '.', 'a//b') if self.chance(.6) else self.pick('basename a/b.c .c', 'basename -a a/b c/d', 'basename -s .c x.c y.c', 'dirname -z a/b', 'dirname a/b /c d', 'basename -z a', 'basename', 'basename .c .c', 'dirname a b/ ///')

    def c_realpath(self, pipe):
        return self.pick('realpath', 'readlink', 'readlink -f', 'readlink -e', 'readlink -m', 'realpath -m', 'realpath -s', 'realpath -e', 'realpath --relative-to=src', 'realpath --relative-base=.', 'readlink -n', 'realpath -q', 'readlink -v', 'realpath -z', 'realpath -L', 'readlink -z') + ' ' + self.pick('link', 'a.txt', 'dangling', 'dirlink/main.c', 'src/up', 'nofile', 'x/y', '.', 'dirlink/../a.txt', 'dirlink link', '""', 'a.txt/', './src//sub/', 'dirlink')

    c_readlink = c_realpath

    def c_test(self, pipe):
        t = self.pick('-f a.txt', '-d src', '-e nofile', '-s empty', '-L link', '-h dangling', '-x run.sh', '-r a.txt', '-w src', '-n "$v"', '-z ""', 'a = a', 'a != b', '1 -lt 2', '10 -eq 10', 'x -eq 1', 'a.txt -nt b.txt', 'a.txt -ot b.txt', 'link -ef a.txt', '! -f src', '-f a.txt -a -d src', '-f x -o -d src', '', 'x', '"a" ">" b', '\\( 1 -eq 1 \\)', '-t 0', '-p a.txt', '-S a.txt', '-v HOME', '-o errexit', '-u a.txt', '1 -lt', '-k .', '-O a.txt', '-N a.txt', '-b a.txt', 'a -b c d e')
        return self.pick(f'test {t}', f'[ {t} ]', f'env test {t}', f'[ {t} ] && echo y || echo n')

    def c_find(self, pipe):
        top = self.pick('.', 'src', 'odd', '. src', 'nofile', 'dirlink', 'dirlink/', '-L .', '-H dirlink', '-P .', 'a.txt', 'src odd', '')
        test = lambda: self.pick("-name '*.txt'", '-type f', '-type d', '-type l', "-iname '*.C'", '-size +0', '-size -2', '-empty', "-path './src/*'", '-perm 644', '-perm -u+x', '-newer b.txt', "-regex '.*\\.[ch]'", '-maxdepth 1', '-mindepth 1', '-name src -prune -o', '! -name "*.c"',
                               "\\( -name '*.c' -o -name '*.h' \\)", '-size 1', '-size -100c', '-links 1', '-user nobody', '-lname "a*"', '-readable', '-executable', '-not -type f', '-xtype f', '-xtype l', '-perm /111', '-true', '-false', '-samefile a.txt', "-wholename '*sub*'", "-regextype posix-extended -regex '.*(c|h)'", '-depth', '-newermt 2020-01-01T05:00:00', '-type f,l', '-size +1k', "-name '[a-c]*'", '-daystart -mtime +1', '-mmin +5', "-name '.*'", '-maxdepth 2', '-inum 0', '-follow', '-uid 0', '-anewer nofile', '-type x', '-nogroup', '-name', '-size x', '-ilname "A*"', "-iregex '.*TXT'", '-mount', '-xdev', '-noleaf', '-ipath "./SRC/*"')
        act = self.pick('', '', '', '-print', '-print0 | tr "\\0" "\\n"', "-printf '%p %y %f\\n'", "-type f -printf '%P %s %m\\n'", '-exec echo {} \\;', '-exec echo x {} +  | wc -w', "-printf '%h|%d|%l\\n'", '-exec test -f {} \\; -print', "-printf '%M %n\\n'", '-execdir echo {} \\;', "-name a.txt -printf '%TY-%Tm %t\\n'", '-ls | wc -l', "-type f -printf '%-20f|%5s\\n'", '-exec false {} \\;', "-printf '%u %g %#m %H\\n'", '-name a.txt -fprint out1', "-printf '%f\\101\\n'", '-exec grep -l foo {} +', "-printf '%%|%Y\\n'", "-exec sh -c 'echo \"$0\" $#' {} + | wc -l", '-print -o -print', '-name b.txt -printf "%T@ %TH:%TM\\n"', '-exec', '-exec nosuch {} \\;')
        if self.chance(.08):
            return self.pick("find src -name '*.h' -delete", 'find . -empty -delete', "find odd -type f -exec rm {} +", "find src -depth -type d -exec chmod 700 {} \\;", "find . -type l -exec rm -f {} \\;", 'find void src/sub -delete', "find . -name '*.c' -exec mv {} {}.bak \\;", "find . -type f -execdir chmod g+w {} +")
        tests = ' '.join(test() for _ in range(self.r.randint(0, 3)))
        return f'find {top} {tests} {act}'.replace('  ', ' ').strip() + ' | sort'

    def c_ls(self, pipe):
        what = self.pick('', 'src', '-d *', 'src odd', '*.txt', 'nofile a.txt', '-d .*', 'link', 'dirlink', 'dirlink/', 'odd', 'void', 'a.txt src', '-d src/ void', '. src')
        return 'ls' + self.opts('-a', '-1', '-r', '-A', '-F', '-p', '-Q', '-b', '-R', '-m', '-x', '-C', '-N', '-q', '-B', '-X', '-v', '-S', '-L', '-H', p=.08) + self.pick('', '', ' -w40', ' -I "*.txt"', ' --hide=*.c', ' -T4 -w 30 -C', ' --group-directories-first', ' --color=always', ' --indicator-style=slash', ' -lnd --time-style=+', ' -lgod --time-style=+%Y', ' --sort=size', ' --quoting-style=c', ' --quoting-style=shell-escape', ' --zero', ' --file-type', ' --sort=extension', ' -tr', ' -t', ' -U1d') + ' ' + what

    def c_stat(self, pipe):
        return 'stat ' + self.pick("-c '%n %s %a'", "-c %F", "-c '%A %h %u'", "-c '%Y'", '-L -c %s', "--printf '%n|%s\\n'", "-c '%N'", "-c '%U:%G %f'", "-c '%10s|%-10n|%04a'", "-c '%y'", '-c %%%n', '-c "%n %q"', "-c '%.2Y'") + ' ' + self.pick('a.txt', 'run.sh b.txt', 'link', 'nofile', 'p.csv', 'dangling', 'c.txt')

    def c_du(self, pipe):
        return 'du -b' + self.pick('', ' -c', ' -h', 'a') + ' ' + self.pick('a.txt', 'a.txt b.txt', '*.txt', 'nofile', 'p.csv')

    def c_file(self, pipe):
        return 'file' + self.pick('', ' -b', ' -i', ' -L', ' --mime-type', ' -bh') + ' ' + self.pick('a.txt', 'src/main.c', 'd.json', 'empty', 'link', 'src', 'run.sh', 'crlf.txt', 'utf8.txt', 'nofile', 'dangling')

    def c_date(self, pipe):
        when = self.pick('@0', '@1700000000', "'2024-02-29'", "'2024-01-31 12:34:56'", "'2024-03-01 -1 day'", "'2023-12-25 +2 weeks'", '2024-02-30', "'Jan 5 2021'", "'2024-06-15T10:00:00Z'", "'2024-05-05 next monday'", 'bogus', "'2020-01-01 00:00:00 +0200'", "'1 Jan 2000 3pm'", "'2024-01-01 + 90 minutes'", '20240115', "'12/25/2023'", "'2024-01-01 last friday'", "'@86400 + 1 month'", "'2024-01-01 yesterday'")
        return f'date -u -d {when} ' + self.pick('+%F', "'+%Y-%m-%d %H:%M:%S'", '+%s', "'+%a %b %e %j'", "'+%A, %d %B %Y'", '-Iseconds', '-R', '+%T', "'+%I %p %y %C %u %w %U %V %G'", '', '+%-d/%-m', "'+%_H|%05d|%^a|%#Z'", '+%N', '--rfc-3339=seconds', '-I', "'+%D %r %c %x %X'", '+%:z', '+%q%n%t%%', '+%10Y|%-5d')

    def c_factor(self, pipe):
        return 'factor ' + self.pick('12 97', '1', '0', '123456789012345678', '-3', 'x', '18446744073709551617')

    def c_env(self, pipe):
        line = self.pick('env -i A=1 env', 'env X=2 sh -c "echo $X \\$X"', 'env -u HOME printenv HOME', 'A=b printenv A', 'env -i printenv', 'env FOO=1 BAR=2 printenv FOO BAR', 'env nosuch', "env -S 'echo a b'", 'env -C src pwd', 'env false', 'env -i sh -c "echo [$HOME]"', 'env -0 -i A=1 B=2 | tr "\\0" ";"', 'env --chdir=nodir true', 'env - B=3 env', 'env A=1 B=2 true', 'printenv nosuch', 'env -u A -i true')
        return line if 'printenv' in self.have else line.replace('printenv', 'env true')

    def c_timeout(self, pipe):
        return self.pick('timeout 5 echo fast', 'timeout 0.1 sleep 2', 'timeout -k 1 5 false', 'timeout -s KILL 0.1 sleep 2', 'timeout 5 sh -c "exit 4"', 'timeout --preserve-status 0.1 sleep 2', 'timeout x true', 'timeout 5 nosuch', 'timeout 0 true')

    def c_jq(self, pipe):
        f = self.pick('.', 'length', '.[0]', '.[].name', 'map(.qty)|add', '[.[]|select(.qty>5)]|length', 'sort_by(.price)|.[0].name', 'group_by(.city)|map({c:.[0].city,n:length})', '.[]|[.id,.name]|@csv', 'map(select(.name|test("a")))', '[.[].price]|max', 'to_entries|length', '.[1:3]|map(.id)', 'first|keys', 'map(.name|ascii_upcase)|unique|join(",")', '.[-1]', '[.[]|.qty*2]', 'any(.qty>20)', 'map({(.name):.qty})|add', '.[0]|to_entries[]|"\\(.key)=\\(.value)"', 'INDEX(.id)|keys', 'reduce .[] as $x (0;.+$x.qty)', 'limit(2;.[])', '.x', '.[0].nope.deep', 'error("x")', 'map(.price|floor)', '[paths]|length', 'tojson|length', 'min_by(.qty)', '.[0]|del(.city)', 'with_entries(.value+=1)', '.[2].name as $n|$n', 'map(has("qty"))|all', 'flatten|length', '[range(5)]', '@base64', '.[]|.name|ltrimstr("a")', '.[]|(.price|tostring)', 'walk(.)', 'input', '..|numbers', 'env.HOME|type', '.[0]|has("id")', '[.[]|.city]|sort', '{', '.[0].price|sqrt', 'splits("a")', 'map(.name|explode|implode)', '[limit(3;repeat(1))]', 'getpath([0,"id"])', '@text', '@json', '@html', 'ascii', '.[0]|.name|=.+"!"')
        g = self.pick('.', '.deps|keys', '.tags[]', '.version', '.text', '.none', '.deps|to_entries', '.tags|index("foo")', '.name+"-"+.version', '.empty|length', 'keys_unsorted', '.text|@sh', '.tags|@csv', '.deps|map_values(length)', 'del(.deps)', '.ok and false', '.missing // "dflt"', '[.[]|type]', '.text|length', '.text|@uri', '.tags|reverse', 'tostream', 'paths|join(".")?', '.version|split(".")|map(tonumber)', 'leaf_paths')
        o = self.opts('-r', '-c', '-S', '-e', '-M', '-j', '-a', '-s', '-n', p=.12) + self.pick('', '', '', ' --tab', ' --indent 1', ' --arg v 1')
        return f'jq{o} {shlex.quote(f)} {self.pick("d.json", "d.json", "n.jsonl")}' if self.chance(.6) else f'jq{o} {shlex.quote(g)} {self.pick("e.json", "e.json", "a.txt", "nofile")}'

    def c_bc(self, pipe):
        e = self.pick('1+2*3', '2^100', 'scale=5; 1/3', 'scale=10; sqrt(2)', 'obase=16; 255', 'ibase=2; 1010', 'define f(x){return x*x}; f(5)', 'for(i=0;i<3;i++) i', '1/0', 'a=5;a*=2;a', '10%3', '-7/2', 'x', 'scale=3;e(1)', 'scale=4;s(1)+c(1)', 'length(12345)', '3>2', 'if(1) 4 else 5', '1+', 'print "hi\\n"', '.5*.5', 'scale=20;4*a(1)', 'obase=2;10', '99999999999999999999*99999999999999999999')
        return f'echo {shlex.quote(e)} | bc{self.pick("", " -l", " -q", " -lq")}'

    def c_dc(self, pipe):
        return f'dc -e {shlex.quote(self.pick("2 3+p", "5k 1 3/p", "16o255p", "2 100^p", "[1p]x", "1 2 3f", "10 3~f", "2v p", "0 1/p", "1 2rp", "z p", "3 4 d*p"))}'

    def c_sqlite3(self, pipe):
        q = self.pick('select 1+1', "select upper('abc'), length('héllo')", 'select 1/2, 1/2.0', "select 'a'||'b'", 'create table t(a,b); insert into t values(1,2),(3,4); select sum(a),avg(b) from t', 'with recursive c(x) as (values(1) union all select x+1 from c where x<5) select x from c', "select json_extract('{\"a\":1}','$.a')", "select date('2024-01-31','+1 month')", 'select typeof(1.0), typeof(null)', 'select nosuch', "select printf('%05d|%s',42,'x')", 'create table t(a primary key); insert into t values(1); insert into t values(1)', "select group_concat(value) from (select 1 value union select 2)", 'select max(1,2), min(3,4), abs(-5), round(2.567,1)', "select substr('hello',2,3), instr('hello','l'), replace('aa','a','b')", 'select * from sqlite_master', "select strftime('%Y-%j',0,'unixepoch')", 'select row_number() over (order by 1)', "select like('a%','abc'), 'a' glob 'A*'", 'select hex(12), quote(x\'00ff\')', "values(1,'a'),(2,'b')", 'select')
        if self.chance(.2):
            return self.pick('sqlite3 :memory: ".mode csv" ".import p.csv t" "select city,count(*) from t group by city order by 1"', 'sqlite3 :memory: ".mode csv" ".import p.csv t" ".mode json" "select name,qty from t limit 2"', 'sqlite3 x.db "create table t(a); insert into t values(7)"; sqlite3 x.db "select a from t"; rm x.db', "sqlite3 :memory: '.import --csv p.csv t' '.schema'", "sqlite3 :memory: '.tables'")
        return 'sqlite3' + self.pick('', '', ' -csv', ' -json', ' -line', ' -header', ' -column', ' -box', ' -markdown', ' -separator "|"', ' -list -noheader', ' -html', ' -quote', ' -tabs', ' -table') + f' :memory: {shlex.quote(q)}'

    def c_git(self, pipe):
        setup = 'git init -q -b main g && cd g && git config user.email a@b.c && git config user.name N && cp ../a.txt ../b.txt . && git add . && GIT_AUTHOR_DATE="2024-01-01T00:00:00Z" GIT_COMMITTER_DATE="2024-01-01T00:00:00Z" git commit -qm one'
        steps = [self.pick('git log --oneline', 'git status --short', 'echo x >> a.txt; git diff', 'git mv a.txt c.txt; git status -s', 'git branch', 'git ls-files -s', 'git rev-parse HEAD', 'git show --stat', 'git log --format="%h %an %ad %s" --date=iso', 'cp ../b.txt a.txt; git diff --stat', 'git cat-file -p HEAD^{tree}', 'git tag v1; git describe --tags', 'git checkout -q -b dev; git branch', 'echo n > n; git add n; git commit -qm two; git log --format=%s', 'rm a.txt; git status --porcelain', 'git grep -n foo', 'git stash list', 'echo y >> b.txt; git stash -q; git status -s; git stash pop -q; git status -s', 'git reset --hard -q HEAD; git status', 'git hash-object a.txt', 'git config --list --local | sort', 'git blame -s a.txt | head -3', 'git archive HEAD | tar tf - | sort', 'git show HEAD:a.txt | head -2', 'git diff --name-status HEAD', 'git rm -q b.txt; git status -s', 'git ls-tree -r HEAD', 'git shortlog -sn HEAD', 'git log -1 --format=%H%n%T', 'git checkout nosuch', 'git commit -qm none', 'git clean -n', 'git apply --check ../p.diff', 'git cherry-pick nosuch', 'echo z > z; git clean -fq; ls', 'git branch -d main', 'git log --stat --format=%s', 'git diff --cached --quiet; echo $?', 'git rev-list --count HEAD', 'git show-ref', 'git symbolic-ref HEAD', 'git merge-base HEAD HEAD', 'git log --graph --oneline', 'git switch -qc t; echo q>q; git add q; git commit -qm q; git switch -q main; git merge -q --no-edit t; git log --format=%s', 'git notes list', 'git count-objects | cut -d" " -f1', 'git fsck', 'git diff --word-diff HEAD', 'git var GIT_EDITOR', 'git check-ignore a.txt; echo $?', 'git name-rev --name-only HEAD', 'git log -p --format=%s | head -20') for _ in range(self.r.randint(1, 3))]
        return '( ' + setup + '; ' + '; '.join(steps) + ' )'

    def c_tar(self, pipe):
        return self.pick('tar cf - src | tar tf - | sort', 'tar czf t.tgz src odd && mkdir x && tar xzf t.tgz -C x; rm t.tgz', "tar cf t.tar --exclude='*.h' src; tar tf t.tar | sort; rm t.tar", 'tar cf - a.txt link | tar xf - -C void', 'tar cf t.tar a.txt b.txt; tar xf t.tar -O a.txt; rm t.tar', 'tar cf - -C src . | tar xf - -C void --strip-components=1', 'tar cjf t.tbz src; tar tjf t.tbz | sort | wc -l; rm t.tbz', 'tar cf t.tar s1.txt; tar xf t.tar -C void; rm t.tar')

    # ---- commands that change the tree ----

    def new(self):
        return self.pick(*NEW)

    def c_cp(self, pipe):
        return 'cp' + self.pick('', '', ' -p', ' -n', ' -f', ' -u', ' -v', ' -b', ' -L', ' -P', ' -T', ' -i', ' -l', ' -s', ' --backup=numbered', ' -d', ' -S .sav -b', ' --remove-destination', ' --attributes-only') + ' ' + self.pick(f'{self.file()} {self.new()}', f'{self.file()} {self.file()} void', '-r src void', '-a src new', '-R dirlink new', 'link new', '-r src/. void', 'src new', 'a.txt a.txt', '-rv src/sub void | sort', '-t void a.txt b.txt', '--parents src/main.c void', '-rL src new', 'a.txt nodir/', 'a.txt b.txt c.txt', 'dangling new', '-rT src void', '-r src a.txt', '', 'a.txt', 'a.txt src', '-a link dangling new', '*.txt src')

    def c_mv(self, pipe):
        return 'mv' + self.pick('', '', ' -n', ' -v', ' -f', ' -b', ' -u', ' -T', ' --backup=t', ' -i') + ' ' + self.pick(f'{self.file()} {self.new()}', f'{self.file()} {self.file()} void', 'src void', 'src new', 'a.txt b.txt', 'link new', 'dirlink void/', '-t void a.txt src', 'nofile x', 'a.txt a.txt', 'src src/sub', 'a.txt nodir/x', 'src a.txt', '*.txt void', 'void src/void', 'a.txt src/', 'dangling x', 'odd/* void', '', 'a.txt', 'src/sub odd/', 'a.txt new/')

    def c_rm(self, pipe):
        return 'rm' + self.pick('', ' -f', ' -r', ' -rf', ' -v', ' -d', ' -i', ' -I') + ' ' + self.pick(self.file(), 'nofile', 'void', 'src/*.c', 'link', 'dirlink', 'a.txt b.txt nofile', '-- -dash', './-dash', 'dangling', '"odd name.txt"', 'odd/*', '.', '', 'src/sub', 'a.txt/', 'dirlink/', 'src/.')

    def c_mkdir(self, pipe):
        return self.pick('mkdir new', 'mkdir -p x/y/z', 'mkdir void', 'mkdir -p void', 'mkdir -m 700 new', 'mkdir a/b', 'mkdir -v new new2', 'mkdir -pv x/y', 'mkdir a.txt', 'mkdir -p a.txt/x', 'mkdir -m u=rx,go= new', 'rmdir void', 'rmdir src', 'rmdir nofile', 'mkdir -p x/y && rmdir -p x/y', 'rmdir --ignore-fail-on-non-empty src', 'mkdir', 'rmdir -v void', 'mkdir -p x/{a,b}/c', 'mkdir -pm 711 q/r', 'mkdir dangling', 'mkdir ""', 'rmdir dirlink', 'mkdir -m 1777 st', 'mkdir -m a+t,g-w st', 'mkdir -p -m 0 x/y', 'mkdir new/', 'rmdir a.txt void', 'mkdir -p dirlink/n')

    def c_ln(self, pipe):
        return 'ln' + self.pick('', '', ' -s', ' -s', ' -sf', ' -sfn', ' -v', ' -sr', ' -b', ' -f', ' -sT', ' -L', ' -P') + ' ' + self.pick('a.txt new', 'src new', 'nofile new', 'a.txt b.txt', 'a.txt void', '../a.txt src/l', 'a.txt b.txt void', 'link new', 'src dirlink', '-t void a.txt', 'a.txt nodir/x', 'void/../a.txt void/k', 'a.txt', 'dangling new', 'a.txt a.txt', 'src/main.c', '', '"" e')

    def c_touch(self, pipe):
        return self.pick('touch new', 'touch -c new', "touch -d '2021-03-04 05:06:07' a.txt; stat -c %Y a.txt", 'touch -t 202001020304 new; stat -c %y new', 'touch -r b.txt new; stat -c %Y new', 'touch nodir/x', 'touch a.txt void', 'touch -h -d @5 link; stat -c %Y link', 'touch -d @100 new; stat -c "%X %Y" new', 'touch -m -d 2000-01-01 a.txt; stat -c %Y a.txt', 'touch dangling', 'touch -d bogus new', 'touch', 'touch -t 1 new', 'touch a.txt/', 'touch ""', 'touch -a -d @7 a.txt; stat -c "%X %Y" a.txt', 'touch -d "2020-01-01 +1 day" new; stat -c %Y new', 'touch -- -x', 'touch -r nofile new', "touch -d 2020-01-01T00:00:00.5 new; stat -c %.1Y new")

    def c_chmod(self, pipe):
        return 'chmod' + self.pick('', '', '', ' -R', ' -v', ' -c', ' -f') + ' ' + self.pick('644', 'u+x', 'go-r', 'a=r', '755', 'u=rwx,g=rx,o=', '+x', '-w', 'g=u', '0600', 'u+s', '1777', 'o+t', 'X', 'a+X', 'u-x,g+w', '=', '999', 'ug=rw', '--reference=c.txt', 'u=g', '+t', 'g+s', 'go=', 'u+rwX,go-w', '7', '-x') + ' ' + self.pick('a.txt', 'src/main.c b.txt', 'run.sh', 'nofile', 'link', 'void', 'src', '*.txt', 'dangling', 'odd')

    def c_truncate(self, pipe):
        return 'truncate ' + self.pick('-s 5 a.txt', '-s 0 a.txt', '-s +3 a.txt', '-s -2 a.txt', '-s 100 new', '-c -s 5 nofile', '-s %16 a.txt', '-r b.txt a.txt', '-s 1K new', '-s x a.txt', '-s "<10" a.txt', '-s "/8" a.txt', '-o -s 1 new', 'a.txt', '-s 5')

    def c_install(self, pipe):
        return 'install ' + self.pick('a.txt new', '-m 600 a.txt new', '-d x/y', '-D a.txt x/y/z', 'a.txt b.txt void', '-t void a.txt', '-v a.txt new', '-C a.txt new', '-m u=rx run.sh void', 'src new', 'nofile x', '-b a.txt b.txt', '-d -m 700 q', '-p a.txt new', '')

    def c_dd(self, pipe):
        return 'dd status=none ' + self.pick('if=a.txt bs=4 count=3', 'if=a.txt of=new bs=1 skip=3', 'if=a.txt conv=ucase', 'if=/dev/zero bs=10 count=2 of=new', 'if=a.txt of=b.txt conv=notrunc bs=5 count=1', 'if=a.txt conv=swab', 'if=a.txt of=new seek=2 bs=3 count=2', 'if=nofile', 'if=a.txt bs=7 count=2 conv=lcase', 'if=a.txt ibs=3 obs=5 count=4', 'if=a.txt cbs=20 conv=block', 'bs=0', 'if=a.txt iflag=skip_bytes skip=5 count=1 bs=9')

    def c_split(self, pipe):
        return self.pick('split -l 3 a.txt', 'split -b 50 a.txt pre_', 'split -n 3 a.txt', 'split -d -l 5 a.txt n', 'split -a 3 -l 4 a.txt', 'split -C 60 a.txt', 'split -n l/2 a.txt', "split -l2 --filter='wc -c' a.txt", 'split -l 4 --additional-suffix=.t a.txt q', 'split -n 2/3 a.txt', 'split -x -l 3 a.txt h', 'csplit -s a.txt 3 5', "csplit a.txt /foo/", "csplit -s -f cs a.txt '/a/' '{1}'", "csplit -sz a.txt '%e%' 4", 'split nofile', 'split -l 0 a.txt', 'split -n r/2 a.txt', 'csplit -s -b %03d.p a.txt 2', 'split -l 5 - z < b.txt', "csplit -k a.txt '/nosuch/'")

    def c_zip(self, pipe):
        return self.pick('zip -q z.zip a.txt b.txt && unzip -p z.zip a.txt; rm -f z.zip', 'zip -qr z.zip src && mkdir x && cd x && unzip -q ../z.zip; cd ..; rm z.zip', 'zip -q z.zip nofile; echo $?', 'zip -q - a.txt | wc -c', 'zip -qj z.zip src/main.c; unzip -Z1 z.zip; rm z.zip', 'zip -q z.zip *.txt; unzip -l z.zip | tail -1 | tr -s " "; rm z.zip', 'zip -q z.zip a.txt; unzip -tq z.zip; rm z.zip', 'unzip nofile')

    def c_tree(self, pipe):
        return 'tree --noreport' + self.opts('-a', '-d', '-F', '-i', '-f', '-p', '-s', '-r', p=.1) + self.pick('', ' -L 1', ' -P "*.c"', ' -I "*.txt"', ' --dirsfirst', ' -J', ' --charset=ascii', ' --prune', ' -X') + ' ' + self.pick('', 'src', 'odd', 'nofile', 'void')

    def c_ptx(self, pipe):
        return self.pick('ptx -A s1.txt', 'ptx s1.txt', 'ptx -f s2.txt')

    def c_pathchk(self, pipe):
        return 'pathchk ' + self.pick('a', '-p a:b', '""', 'a.txt/x', '-P -- -x', '-- a b')

    def c_mktemp(self, pipe):
        return self.pick('f=$(mktemp); test -f $f && echo made; rm $f', 'd=$(mktemp -d x.XXXX) && stat -c %a $d; rmdir $d', 'mktemp x', 'mktemp -u yXXXXX.txt | wc -c', 'f=$(mktemp -p void tXXX); ls void | wc -l; rm $f', 'mktemp nodir/XXXX; echo $?', 'mktemp --suffix=.c -u qXXXX | cut -c 6-')

    def c_xxd(self, pipe):
        return 'xxd' + self.pick('', ' -p', ' -l 20', ' -c 8', ' -u', ' -b -l 6') + ' ' + self.file()

    # ---- Python, Lua, Tcl: the languages are tested elsewhere; here only their place in scripts ----

    def c_python3(self, pipe):
        return 'python3 -c ' + shlex.quote(self.pick('print(1+1)', 'import sys; print(sys.argv[1:])', 'import json; print(json.load(open("e.json"))["name"])', 'import os; print(sorted(os.listdir("src")))', 'raise SystemExit(3)', 'print(open("a.txt").read().upper(), end="")', 'import csv; print(sum(int(r["qty"]) for r in csv.DictReader(open("p.csv"))))', 'import re; print(re.findall(r"\\w+", "a b-c"))', 'import hashlib; print(hashlib.md5(b"x").hexdigest())', 'import subprocess; print(subprocess.run(["echo","x"],capture_output=True).stdout)', 'open("new","w").write("x")', '1/0', 'import os; os.mkdir("x"); os.rename("x","y")', 'print(f"{3.14159:.2f} {255:x}")', 'import collections; print(collections.Counter("hello").most_common(2))', 'import datetime; print(datetime.date(2024,2,29)+datetime.timedelta(days=1))', 'import glob; print(sorted(glob.glob("*.txt")))', 'import shutil; shutil.copytree("src","new")', 'import pathlib; print(pathlib.Path("src/main.c").stat().st_size)'))

    # ---- pipelines and statements ----

    def command(self, pipe=False, only=None):
        names = self.filters if pipe else self.commands
        if not names:
            return 'cat' + ('' if pipe else ' a.txt')
        name = only or self.r.choice(names)
        line = getattr(self, 'c_' + name)(pipe)
        return ' '.join(line.split(' ')).strip()

    def pipeline(self):
        k = self.r.random()
        first = self.command()
        if k < .5 or first.startswith('('):
            return first
        stages = [first] + [self.command(True) for _ in range(self.pick(1, 1, 2, 3))]
        return ' | '.join(stages)

    def redirect(self, s):
        if any(c in s for c in ';\n&') or s.startswith('('):
            s = '{ ' + s + '; }'
        k = self.r.random()
        if k < .5:
            return f'{s} > {self.pick("out1", "out2", "out3", "nodir/x")}'
        if k < .7:
            return f'{s} >> {self.pick("out1", "out3")}'
        if k < .8 and not self.safe:
            return f'{s} 2>/dev/null'
        if k < .9:
            return f'{s} >| out3; cat out3'
        return f'{s} > /dev/null'

    def plain(self):
        s = self.pipeline()
        if self.chance(.2):
            s = self.redirect(s)
        return s + self.pick('', '', '; echo "rc=$?"', '; echo "rc=$?"', ' && echo yes', ' || echo no')

    def scalar(self):
        return self.pick('v', 'w', 'x', 'HOME', '1', 'arr[1]', 'arr[@]', 'm[k]', '#', '?', 'unset_', 'n', '*', '@')

    def value(self):
        return self.pick('abc', '"a b  c"', "'*'", '5', '"$w"', '$((n+1))', '$(echo sub)', '/usr/lib/x.tar.gz', '""', "$'t\\tq'", 'é', '${v}x', '`echo bt`', '"$(cat s1.txt | head -n 2)"', '$((RANDOM*0))', 'foo.txt', 'Hello', "'a:b:c'")

    def expansion(self):
        n = self.scalar()
        s = self.pick(f'${{{n}}}', f'${{#{n}}}', f'${{{n}:-dflt}}', f'${{{n}:+alt}}', f'${{{n}%.*}}', f'${{{n}##*/}}', f'${{{n}/a/X}}', f'${{{n}//[aeiou]/_}}', f'${{{n}:1:3}}', f'${{{n}^^}}', f'${{{n},}}', f'${{{n}: -2}}', f'${{{n}@Q}}', '${!m[@]}', '${#arr[@]}', '${arr[-1]}', '${arr[@]:1:2}', '$((n*2+1))', '$((n>3?1:0))', '${!v}', '${v:=set}', '${arr[@]/#/p}', '${arr[*]}', '$(( 7 % 3 ** 2 ))', '$((0x1f & 7))', '$((n++))', '$((2#101))', '${v/%c/Z}', f'${{{n}#?}}', '${!arr[@]}', '${@:2}', '${*: -1}', '$#', '$?', '${v@U}', '${v@A}', '${arr[@]@K}', '$(( 1 << 4 | 3 ))', '$((-7/2))', '${#v}', '~', '{a,b}$v', '{1..5..2}', '${v:0:-1}')
        if s.startswith('${#') and n in ('#', '*', '@', '?'):
            s = '${#v}'
        return s if self.chance(.3) else f'"{s}"'

    def cond(self):
        return self.pick('[[ $v == a* ]]', '[[ -f a.txt ]]', '(( n > 3 ))', '[ "$v" = abc ]', 'grep -q foo a.txt', '[[ $v =~ ^([a-z]+)(.*)$ ]]', 'test -d src', '[[ -z $unset_ && -n $HOME ]]', '! true', '[[ $n -lt 5 || $v < b ]]', 'true', 'false', '[[ a.txt -nt b.txt ]]', '(( n % 2 ))', '[ -e nofile ]', 'cmp -s a.txt b.txt' if 'cmp' in self.have else 'true', '[[ $v != *c ]]', '[[ "$v" == "a"* ]]', '[[ x = [[:alpha:]] ]]', '[[ -v arr[1] ]]', '[[ ! -e x ]]', 'cd src 2>/dev/null && cd ..')

    def body(self, depth):
        return '; '.join(self.simple(depth) for _ in range(self.pick(1, 1, 2)))

    def simple(self, depth=0):
        k = self.r.random()
        if k < .35:
            return 'echo ' + ' '.join(self.expansion() for _ in range(self.r.randint(1, 3)))
        if k < .5:
            return self.pick(f'v={self.value()}', f'w={self.value()}', f'arr[1]={self.value()}', f'm[z]={self.value()}', f'arr+=({self.value()})', f'v+={self.value()}', f'n=$((n+{self.n()}))', 'unset "arr[0]"', 'unset v', f'arr=({self.args()})', 'let n+=2', '((n-=1))', f'read -r v w <<< {self.value()}', f'printf -v x "%03d" {self.n()}', 'set -- a "b c" d', 'shift', 'IFS=,', 'unset IFS', 'declare -i n=3+4', 'declare -u up=abc; echo $up', 'readarray -t arr < s1.txt', 'export v', 'declare -p n', 'mapfile -t -n 2 arr < a.txt', 'IFS=: read -ra arr <<< a:b:c', 'declare -r ro=1; ro=2', 'typeset -l lo=ABC; echo $lo', 'declare -a q=([3]=x y); echo "${!q[@]}"', 'declare -n ref=v; ref=viaref; echo $v')
        if k < .85:
            return self.command() if self.chance(.7) else self.pipeline()
        return self.pick('true', 'false', ':', 'return 2 2>/dev/null', 'shopt -s nullglob', 'echo *.zzz', 'pushd src > /dev/null; pwd; popd > /dev/null', '(cd src && ls)', 'type -t echo', 'eval "echo $v"', 'wait', 'echo done >&2', 'set -f; echo *; set +f', 'shopt -s extglob globstar', 'echo **/*.c', 'echo src/*', 'getopts ab: o -a -b x; echo $o $OPTIND', 'command -v nosuch', 'hash -r', 'umask 077', 'umask', 'umask 022', 'echo "${PIPESTATUS[@]}"', 'break', 'continue', 'test -f a.txt', 'dirs', 'printf "%s\\n" "${FUNCNAME[0]}" $LINENO', 'trap - EXIT', 'exec 3>new; echo x >&3; exec 3>&-', 'cat <&4 4< a.txt', 'times > /dev/null', 'builtin echo b', 'command echo c', 'echo $BASH_SUBSHELL', 'set -o noclobber; echo x > a.txt; set +o noclobber', 'echo "$_"', 'shopt -s dotglob; echo *; shopt -u dotglob', 'shopt -s nocasematch; [[ ABC == abc ]] && echo m; shopt -u nocasematch')

    def compound(self, depth):
        b = lambda: self.body(depth - 1) if depth <= 0 else (self.statement(depth - 1) if self.chance(.3) else self.body(depth))
        k = self.r.randint(0, 17)
        if k == 0:
            return f'for i in {self.pick("1 2 3", "*.txt", "$(seq 3)", chr(34) + "${arr[@]}" + chr(34), "{a..c}", "$v", "src/*", chr(34) + "$@" + chr(34))}; do\n  echo "i=$i"\n  {b()}\ndone'
        if k == 1:
            return f'for ((i=0; i<{self.n(1, 4)}; i++)); do\n  {b()}\ndone'
        if k == 2:
            return f'while IFS={self.pick(",", "", ":", chr(39) + " " + chr(39))} read -r{self.pick("", "a")} {self.pick("l", "p q", "p q rest")}; do\n  echo "[${{l-}}|${{p-}}|${{q-}}]"\ndone < {self.pick("p.csv", "a.txt", "c.txt", "s1.txt", "crlf.txt")}'
        if k == 3:
            return f'if {self.cond()}; then\n  {b()}\nelif {self.cond()}; then\n  {b()}\nelse\n  {b()}\nfi'
        if k == 4:
            return f'case {self.pick("$v", "abc", chr(34) + "$1" + chr(34), "a.txt")} in\n  {self.pick("a*", "[a-c]*", "abc|x", "?", "*.txt")}) {b()} {self.pick(";;", ";;", ";&", ";;&")}\n  *) {b()} ;;\nesac'
        if k == 5:
            f = self.pick('fa', 'fb')
            return f'{f}() {{\n  local v={self.value()}\n  {b()}\n  {self.pick("return " + self.n(0, 3), "echo in $1 $#", ":")}\n}}\n{f} {self.args()}; echo "rc=$?"'
        if k == 6:
            return f'( {b()} ); echo "sub=$?"'
        if k == 7:
            return f'{{\n  {b()}\n  {b()}\n}} | {self.command(True)}'
        if k == 8:
            quote = self.pick('EOF', "'EOF'", '-EOF', '"EOF"')
            tail = quote.strip('-\'"')
            return f'cat <<{quote}{self.pick("", " | " + self.command(True))}\n\t{self.word()} $v ${{w}} \\$x\n$(echo cmd) `echo bt` $((n+1)) \\\\ "q"\n{chr(9) if quote[0] == "-" else ""}{tail}'
        if k == 9:
            return f'x=$({self.pipeline()}); echo "$? ${{#x}}"; echo "$x" | {self.command(True)}'
        if k == 10:
            return f'while read -r l; do n=$((n+1)); {self.pick("echo " + chr(34) + "$n:$l" + chr(34), "v=$l", "[[ $l == a* ]] && continue; echo " + chr(34) + "$l" + chr(34))}; done < <({self.pipeline()})\necho "n=$n v=$v"'
        if k == 11:
            return f'until (( n > {self.n(8, 12)} )); do n=$((n+{self.n(1, 5)})); {self.simple()}; done'
        if k == 12:
            return f'set -e\n{b()}\n{b()}\nset +e'
        if k == 13:
            return f'trap \'echo {self.pick("bye $?", "trap", "$v")}\' {self.pick("EXIT", "ERR", "EXIT", "RETURN", "USR1")}\n{b()}\n{self.pick("false", ":", "kill -USR1 $$", "(exit 3)")}'
        if k == 14:
            return f'{{ {self.simple()}; }} > out1 &\nwait\ncat out1'
        if k == 15:
            return f'diff <({self.pipeline()}) <({self.pipeline()}) | grep -c .' if 'diff' in self.have else f'cat <({self.pipeline()})'
        if k == 16:
            return f'{self.cond()} && {self.simple()} || {self.simple()}'
        return f'set -o pipefail; {self.command()} | sort | wc -l; echo "${{PIPESTATUS[*]}}"; set +o pipefail'

    def statement(self, depth=1):
        k = self.r.random()
        if k < .45:
            return self.plain()
        if k < .6:
            return self.simple()
        return self.compound(depth)

    def script(self):
        head = self.pick('', '', 'v=abc w="d  e" n=4\narr=(one "two three" 4)\ndeclare -A m=([k]=val)\nset -- p1 "p 2"\n', 'v=abc n=2\n')
        # Half of the scripts are command lines alone: they find differences of commands sooner.
        if self.chance(.5):
            return '\n'.join(self.plain() for _ in range(self.r.randint(2, 6))) + '\n'
        return head + '\n'.join(self.statement() for _ in range(self.r.randint(2, 5))) + '\n'
