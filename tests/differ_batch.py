# SPDX-License-Identifier: Apache-2.0
"""Many random calls of one command in one script, run by the machine's bash and in one session. For tests/sed_differ and
tests/diff_differ, which say what is called.

The script prints a line "##N STATUS" in front of what call N gave. The userland is not used: what the command hands over to it is
left out of the comparison and counted. Output is TAP, a line for each batch.
"""
import argparse
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
REFUSED = b'is not implemented here'
LIMIT = 900     # seconds of a batch
STUCK = b'124'  # status of what timeout ended


def results(data, seeds):
    """By number: status, and all that was written."""
    found, rest = {}, data
    for i, seed in enumerate(seeds):
        mark = b'\n##%d ' % seed
        at = rest.find(mark)
        if at < 0:
            break
        rest = rest[at + len(mark):]
        end = rest.find(b'\n##%d ' % seeds[i + 1]) if i + 1 < len(seeds) else len(rest)
        found[seed] = rest[:end if end >= 0 else len(rest)]
    return found


def run(argv, cwd, env):
    return subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          timeout=LIMIT, check=False).stdout


def compare(binary, place, seeds, text, describe):
    """Differences as texts, and how many calls were not compared."""
    with open(os.path.join(place, 'batch'), 'w', encoding='utf-8') as f:
        f.write(text)
    env = {'PATH': '/usr/bin:/bin', 'TZ': 'UTC0'}
    native = run(['/bin/bash', 'batch'], place, env)
    here = run([binary, 'run', '--quiet', '--user', '0', '--mount', f'{place}:{place}', '--workdir', place, '--env', 'PATH=/usr/bin:/bin',
                '--env', 'TZ=UTC0', '-c', '. ./batch'], place, {**env, 'FRONTAL_USERLAND': '/nonexistent'})
    want, got = results(native, seeds), results(here, seeds)
    bad, left = [], 0
    for i, seed in enumerate(seeds):
        a, b = want.get(seed, b''), got.get(seed, b'')
        if a.startswith(STUCK) or REFUSED in b:
            left += 1
        elif a != b:
            bad.append(f'{seed}: {describe(i, seed)}\n  want {a[:3000]!r}\n  got  {b[:3000]!r}')
    return bad, left


def main(doc, version, count, size, prepare, batch_text, describe):
    """version: (argv, first bytes) of the reference. prepare(place, seeds) makes files. batch_text(seeds) is the script."""
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--count', type=int, default=count)
    p.add_argument('--bin', default=os.environ.get('FRONTAL_SANDBOX', os.path.join(HERE, '..', 'build', 'frontal-sandbox')))
    p.add_argument('--show', action='store_true', help='print the calls instead')
    options = p.parse_args()
    options.bin = os.path.abspath(options.bin)
    if not subprocess.run(version[0], stdout=subprocess.PIPE, check=False).stdout.startswith(version[1]):
        print('1..0 # SKIP no %s on this machine' % version[1].decode())
        return 0
    failed = left = 0
    batches = range(options.seed, options.seed + options.count, size)
    print(f'1..{len(batches)}', flush=True)
    for number, first in enumerate(batches, 1):
        seeds = list(range(first, min(first + size, options.seed + options.count)))
        if options.show:
            print('\n'.join(describe(i, s) for i, s in enumerate(seeds)))
            continue
        with tempfile.TemporaryDirectory(prefix='differ-') as place:
            prepare(place, seeds)
            bad, n = compare(options.bin, place, seeds, batch_text(seeds), describe)
        left += n
        # A batch that was handed over whole has tested nothing.
        bad += ['nothing could be compared'] if n == len(seeds) else []
        failed += bool(bad)
        print(f'{"not ok" if bad else "ok"} {number} - calls {first} to {seeds[-1]}')
        print(''.join(f'# {line}\n' for text in bad for line in text.split('\n')), end='', flush=True)
    print(f'# {left} of {options.count} calls were not compared')
    return 1 if failed else 0
