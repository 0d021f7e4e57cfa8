# SPDX-License-Identifier: Apache-2.0
"""The file trees that the scripts of tests/differ work on: made from a seed, with the same names in every variant."""
import json
import os
import random

WORDS = ('alpha beta gamma delta epsilon zeta eta theta iota kappa the quick brown fox jumps over lazy dog foo bar baz qux '
         'Hello World ERROR warning info TODO fixme main return int x y z 10 42 007 3.14 -5 a.b a-b a_b foo(bar) [x] {y} '
         '"quoted" it\'s $HOME back\\slash a*b what? semi;colon #hash @at 50% tab\there').split(' ')
CITIES = ['Paris', 'Oslo', 'Rome', 'New York', 'Berlin', 'Kyiv', '']
LEVELS = ['INFO', 'WARN', 'ERROR', 'DEBUG']
EPOCH = 1577836800      # 2020-01-01: a tree's files are that old, each an hour after the one before


def sentence(r, low=0, high=8):
    return ' '.join(r.choice(WORDS) for _ in range(r.randint(low, high)))


def number(r):
    return r.choice([str(r.randint(-20, 120)), str(r.randint(0, 10**6)), f'{r.uniform(-9, 99):.2f}', f'{r.randint(1, 9)}K',
                     '007', '0', f'{r.randint(1, 99)}'])


def person(r, i):
    return {'id': i, 'name': r.choice(['ann', 'bob', 'cid', 'dee', 'Eve', 'fay']), 'qty': r.randint(0, 30),
            'price': round(r.uniform(0, 50), 2), 'city': r.choice(CITIES)}


def texts(r):
    """Names and bytes of the regular files."""
    lines = [sentence(r) for _ in range(r.randint(5, 25))]
    changed = [line for line in lines if r.random() > .15]
    for _ in range(r.randint(1, 4)):
        changed.insert(r.randint(0, len(changed)), sentence(r, 1))
    people = [person(r, i) for i in range(1, r.randint(5, 14))]
    csv = 'id,name,qty,price,city\n' + ''.join(','.join(str(v) for v in p.values()) + '\n' for p in people)
    keys = sorted(r.sample(range(1, 40), 12))
    join1 = sorted(f'{k} {r.choice(WORDS[:20])}' for k in keys[:9])
    join2 = sorted(f'{k} {r.choice(WORDS[:20])} {r.randint(1, 9)}' for k in keys[3:])
    log = ''.join(f'2024-0{r.randint(1, 3)}-{r.randint(10, 28)}T{r.randint(10, 23)}:{r.randint(10, 59)}:0{r.randint(0, 9)}Z '
                  f'{r.choice(LEVELS)} [svc-{r.randint(1, 3)}] {sentence(r, 1, 5)} took={r.randint(1, 900)}ms\n'
                  for _ in range(r.randint(10, 40)))
    nested = {'name': 'proj', 'version': f'1.{r.randint(0, 9)}.0', 'deps': {w: f'^{r.randint(1, 9)}' for w in WORDS[:4]},
              'tags': r.sample(WORDS[:12], 3), 'empty': {}, 'none': None, 'ok': True, 'text': 'line\n"q" \u00e9'}
    code = ('#include <stdio.h>\n\n/* TODO: ' + sentence(r, 2, 4).replace('*', '') + ' */\nint main(void)\n{\n\tint x = 42;\n'
            '\tprintf("%d\\n", x);\n\treturn 0;\n}\n')
    return {
        'a.txt': '\n'.join(lines) + '\n',
        'b.txt': '\n'.join(changed) + '\n',
        'c.txt': '\n'.join(sentence(r, 1) for _ in range(4)),
        'dup.txt': ''.join(sorted(f'{r.choice(WORDS[:6])}\n' for _ in range(14))),
        'empty': '',
        # Where pipelines write: a listing at their other end would race with a new name.
        'out1': '', 'out2': '', 'out3': '',
        'nums.txt': ''.join(number(r) + '\n' for _ in range(15)),
        'ints.txt': ''.join(f'{r.randint(-50, 999)}\n' for _ in range(12)),
        'p.csv': csv,
        'tab.tsv': ''.join('\t'.join([r.choice(WORDS[:9]), str(r.randint(0, 99)), sentence(r, 0, 2)]) + '\n' for _ in range(8)),
        's1.txt': '\n'.join(sorted(set(r.choice(WORDS[:16]) for _ in range(9)))) + '\n',
        's2.txt': '\n'.join(sorted(set(r.choice(WORDS[:16]) for _ in range(9)))) + '\n',
        'j1.txt': '\n'.join(join1) + '\n',
        'j2.txt': '\n'.join(join2) + '\n',
        'd.json': json.dumps(people, indent=r.choice([None, 2])) + '\n',
        'e.json': json.dumps(nested, indent=2, ensure_ascii=False) + '\n',
        'n.jsonl': ''.join(json.dumps(p) + '\n' for p in people[:5]),
        'app.log': log,
        'crlf.txt': ''.join(sentence(r, 1, 3) + '\r\n' for _ in range(4)),
        'utf8.txt': 'h\u00e9llo w\u00f6rld\n\u65e5\u672c\u8a9e text\nna\u00efve caf\u00e9\nplain\n',
        'bin.dat': bytes(r.randrange(256) for _ in range(r.randint(50, 300))),
        'odd name.txt': sentence(r, 3) + '\n',
        '-dash': 'dash file\n',
        '.hidden': 'hidden\n',
        'odd/st*r': 'star\n', "odd/q'uote": 'quote\n', 'odd/new\nline': 'newline\n', 'odd/[b]': 'bracket\n', 'odd/ lead': 'l\n',
        'src/main.c': code, 'src/util.c': code.replace('main', 'util').replace('42', '7'),
        'src/util.h': '#pragma once\nint util(void);\n',
        'src/sub/deep.py': 'import sys\n\ndef foo(x):\n    return x + 1\n\nprint(foo(41))\n',
        'src/sub/notes.md': '# Notes\n\n- ' + sentence(r, 2) + '\n- foo\n',
        'run.sh': '#!/bin/sh\necho run "$@"\n',
    }


def make(path, seed):
    r = random.Random(f'tree {seed}')
    names = []
    os.makedirs(path)
    for name, data in texts(r).items():
        full = os.path.join(path, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'wb') as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        os.chmod(full, 0o755 if name.endswith('.sh') else 0o644)
        names.append(full)
    os.chmod(os.path.join(path, 'c.txt'), 0o600)
    os.mkdir(os.path.join(path, 'void'))
    for name, target in (('link', 'a.txt'), ('dangling', 'nowhere'), ('dirlink', 'src'), ('src/up', '../b.txt')):
        os.symlink(target, os.path.join(path, name))
    for i, full in enumerate(names):
        os.utime(full, (EPOCH + 3600 * i,) * 2)
    for top, dirs, _ in os.walk(path, topdown=False):
        os.chmod(top, 0o755)
        os.utime(top, (EPOCH,) * 2)


def look(path):
    """What of a tree is compared: name -> kind, mode and content. What git keeps for itself holds times. Of modes, what a
    copy out of the sandbox keeps."""
    found = {}
    for top, dirs, files in os.walk(os.fsencode(path)):
        if b'.git' in dirs:
            dirs.remove(b'.git')
        for name in dirs + files:
            full = os.path.join(top, name)
            st = os.lstat(full)
            kind = st.st_mode & 0o170000
            if kind == 0o120000:
                found[os.path.relpath(full, os.fsencode(path))] = ('link', os.readlink(full))
            elif kind == 0o100000:
                try:
                    with open(full, 'rb') as f:
                        data = f.read(1 << 20)
                except PermissionError:
                    data = None
                found[os.path.relpath(full, os.fsencode(path))] = ('file', oct(st.st_mode & 0o777), data)
            else:
                found[os.path.relpath(full, os.fsencode(path))] = (oct(st.st_mode & 0o170777 | 0o700),)
    return found
