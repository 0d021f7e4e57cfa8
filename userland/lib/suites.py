# SPDX-License-Identifier: Apache-2.0
"""How the upstream suites of the userland's tools are started: for userland/suite. Each suite reads the unpacked source and
lists its cases; {root} in a case stands for the copy of the source that it runs in. No test is here, only their form."""
import glob
import os
import re
import subprocess

# What a test may call and no session has: its tests are left out, and counted.
FOREIGN = (('needs perl', re.compile(r'\bperl\b|\$PERL|\brequire_perl_\b')),
           ('needs a compiler', re.compile(r'\$CC\b|\bgcc\b|\brequire_gcc_shared_\b')),
           ('needs a tracer', re.compile(r'\bstrace\b|\bgdb\b|\brequire_strace_\b|\bvalgrind\b')))


def by_status(case, status, output):
    return {case.name} if status == 0 else set()


class Case:
    """A script. @passed says which tests passed, by status and output. @driver: the tools whose calls alone are in the
    sandbox; the script itself is not. @skipped says of output why tests were not run. @left_out: why it is not run at all."""

    def __init__(self, name, script, workdir='', env=None, path=(), passed=by_status, skipped=None, driver=(), left_out=''):
        self.name, self.script, self.workdir, self.passed, self.skipped = name, script, workdir, passed, skipped
        self.env = {'TMPDIR': '/tmp', 'TZ': 'UTC0', 'LC_ALL': 'C', **(env or {})}
        self.path, self.driver, self.left_out = list(path), driver, left_out


class Suite:
    def __init__(self, package, cases):
        self.package, self.cases = package, cases


def read(*path):
    with open(os.path.join(*path), encoding='latin-1') as f:
        return f.read()


def write(text, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), 'w', encoding='latin-1') as f:
        f.write(text)
    os.chmod(os.path.join(*path), 0o755)


def foreign(text):
    code = re.sub(r'^\s*#.*', '', text, flags=re.M)
    return next((why for why, pattern in FOREIGN if pattern.search(code)), '')


# ---- tests with gnulib's init.sh: a script each, status 0 passed, 77 skipped ----

# Stands in for the programs of the same names that the suites compile: the limits of a 64-bit machine, and the bytes of a
# character in the locales that are everywhere.
def limits():
    rows = []
    for name, bits in (('CHAR', 8), ('SHRT', 16), ('INT', 32), ('LONG', 64), ('SSIZE', 64), ('OFF_T', 64), ('INTMAX', 64),
                       ('TIME_T', 64), ('OFF', 64), ('PID_T', 32)):
        top = (1 << (bits - 1)) - 1
        rows += [(name + '_MAX', top), (name + '_OFLOW', top + 1), (name + '_MIN', -top - 1), (name + '_UFLOW', -top - 2)]
    for name, bits in (('UCHAR', 8), ('USHRT', 16), ('UINT', 32), ('ULONG', 64), ('SIZE', 64), ('UINTMAX', 64), ('UID_T', 32),
                       ('GID_T', 32)):
        rows += [(name + '_MAX', (1 << bits) - 1), (name + '_OFLOW', 1 << bits)]
    rows.append(('IO_BUFSIZE', 131072))
    return '#!/bin/sh\ncat <<EOF\n' + ''.join('%s=%d\n' % row for row in rows) + 'EOF\n'


MB_CUR_MAX = '#!/bin/sh\ncase $1 in C | POSIX) echo 1 ;; C.UTF-8) echo 6 ;; *) echo 1; exit 1 ;; esac\n'


def gnu_env(tests, name, version, programs):
    return {'srcdir': '{root}/' + tests if tests else '{root}', 'top_srcdir': '{root}', 'abs_top_srcdir': '{root}',
            'abs_top_builddir': '{root}', 'abs_srcdir': '{root}/' + tests, 'VERSION': version, 'PACKAGE_VERSION': version,
            'LOCALE_FR': 'none', 'LOCALE_FR_UTF8': 'none', 'LOCALE_JA': 'none', 'AWK': 'awk', 'EGREP': 'grep -E', 'SHELL': '/bin/sh',
            'PREFERABLY_POSIX_SHELL': '/bin/sh', 'CONFIG_SHELL': '/bin/bash', 'PERL': 'perl', 'MAKE': 'make', 'CC': 'gcc',
            'EXEEXT': '', 'host_os': 'linux-gnu', 'host_triplet': 'x86_64-pc-linux-gnu', 'fail': '0', 'PCRE_WORKS': '1',
            'built_programs': programs, 'CONFIG_HEADER': '{root}/config.h', 'GREP_TEST_NAME': name, 'SED_TEST_NAME': name,
            'CU_TEST_NAME': name, 'DIFFUTILS_TEST_NAME': name, 'PACKAGE_BUGREPORT': 'bug-report@example.org'}


def gnu(tests, patterns, programs, srcdir=None, utf8=False):
    """The suite of scripts that match @patterns below @tests. @srcdir: what the scripts call $srcdir, else @tests."""
    def cases(source):
        write(limits(), source, 'stand-in/getlimits')
        write(MB_CUR_MAX, source, 'stand-in/get-mb-cur-max')
        write('', source, 'config.h')
        version = os.path.basename(source).rsplit('-', 1)[1]
        named = programs or ' '.join(sorted(os.path.basename(p)[:-2] for p in glob.glob(os.path.join(source, 'man/*.x'))))
        found = []
        for path in sorted({p for pattern in patterns for p in glob.glob(os.path.join(source, tests, pattern))}):
            name = os.path.relpath(path, os.path.join(source, tests))
            if not os.path.isfile(path) or re.search(r'(^|/)(init|envvar-check|lang-default|sample-test|Makefile|local)(\.|$)', name):
                continue
            text = read(path)
            if not re.match(r'#!\s*/bin/(ba)?sh', text) and not re.search(r'^\. .*init\.sh', text, re.M):
                continue
            env = gnu_env(tests if srcdir is None else srcdir, name.replace('/', '-'), version, named)
            found.append(Case(name, '/bin/sh {root}/%s/%s 9>&2' % (tests, name), tests if srcdir is None else srcdir, env,
                              ['{root}/stand-in'], left_out=foreign(text)))
        return found + perl_cases(source, tests, version, named)
    return cases


def perl_cases(source, tests, version, programs):
    """Tables in Perl, run by the suite's own Coreutils.pm, which lies beside them."""
    module = next((os.path.dirname(p) for p in glob.glob(os.path.join(source, tests, '**/Coreutils.pm'), recursive=True)), None)
    found = []
    for path in sorted(glob.glob(os.path.join(source, tests, '**/*.pl'), recursive=True)) if module else []:
        name = os.path.relpath(path, os.path.join(source, tests))
        text = read(path)
        tool = re.search(r'''\$prog(?:_name)?\s*=\s*['"](\w+)['"]''', text)
        if not tool or 'run_tests' not in text:
            continue
        rel = os.path.relpath(module, source)
        loads = ' '.join('-M' + m for m in ('Coreutils', 'CuSkip') if os.path.exists(os.path.join(module, m + '.pm')))
        loads += ' "-MCuTmpdir qw(%s)"' % tool.group(1)
        script = 'perl -w -I{root}/%s %s -- {root}/%s/%s 3>&1 9>&2 </dev/null' % (rel, loads, tests, name)
        env = gnu_env(tests, name.replace('/', '-'), version, programs)
        env['srcdir'] = '{root}' if tests == 'tests' and os.path.isdir(os.path.join(source, 'tests/misc')) else env['srcdir']
        found.append(Case('perl/' + name, script, tests, env, driver=(tool.group(1),)))
    return found


# ---- DejaGNU: Tcl which calls find and xargs ----

def deja(case, status, output):
    return {'%s:%s' % (case.name, m) for m in re.findall(r'^PASS: (\S+?),?$', output, re.M)}


def findutils(source):
    found = gnu('tests', ['find/*.sh', 'xargs/*.sh'], 'find xargs', srcdir='')(source)
    for tool, variable in (('find', 'FTSFIND'), ('xargs', 'XARGS')):
        for path in sorted(glob.glob(os.path.join(source, tool, 'testsuite', '*', '*.exp'))):
            group, name = path.split(os.sep)[-2:]
            if group == 'config':
                continue
            write('', source, tool, 'ftsfind.o' if tool == 'find' else 'xargs.o')
            script = 'mkdir -p {root}/run/%s && cd {root}/run/%s && runtest --tool %s --srcdir {root}/%s/testsuite ' \
                     '--objdir . %s=$(command -v %s) %s/%s -a' % (name, name, tool, tool, variable, tool, group, name)
            found.append(Case('tcl/%s/%s' % (group, name), script, env={'base_dir': '.'}, passed=deja, driver=(tool,)))
    return found


# ---- gawk: make says what a test runs ----

def gawk(source):
    tests = os.path.join(source, 'test')
    text = re.sub(r'@\w+@', '', read(tests, 'Makefile.in'))
    # Only what make runs for a test is asked, not that it makes its own Makefile.
    rules = re.sub(r'^(Makefile|\$\(\w+\)|\$\(top_builddir\)[^:]*|\$\(srcdir\)/Makefile.in):.*\n(\t.*\n)*', '', text, flags=re.M)
    write(rules.replace('AWKLIBPATH=../extension/.libs', ''), tests, 'Makefile')
    names = []
    for group in ('BASIC_TESTS', 'UNIX_TESTS', 'GAWK_EXT_TESTS', 'LOCALE_CHARSET_TESTS', 'SHLIB_TESTS', 'MACHINE_TESTS'):
        listed = re.search(r'^%s = ((?:.*\\\n)*.*)' % group, text, re.M).group(1)
        names += [n for n in listed.replace('\\\n', ' ').split() if n not in names]
    found = []
    for name in names:
        recipe = subprocess.run(['make', '-n', '-s', 'AWKPROG=gawk', 'CMP=cmp', 'srcdir=.', 'abs_srcdir={root}/test',
                                 'abs_builddir={root}/test', 'SHELL=/bin/sh', name], cwd=tests, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True, check=False).stdout
        if recipe.strip():
            # A test that passes has removed its output.
            script = recipe + '\ntest ! -e _%s && test ! -e _%s.2' % (name, name)
            found.append(Case(name, script, 'test', {'LC_ALL': 'C', 'AWK': 'gawk'}, left_out=foreign(recipe)))
    return found


# ---- jq: groups of a program, its input and its outputs ----

def jq(source):
    found = []
    for file in ('jq.test', 'onig.test', 'base64.test', 'optional.test'):
        text = open(os.path.join(source, 'tests', file), encoding='utf-8').read()
        groups = [g for g in re.split(r'\n\s*\n', re.sub(r'^#.*\n', '', text, flags=re.M)) if g.strip()]
        for i, group in enumerate(groups, 1):
            name = '%s/%d' % (file, i)
            place = os.path.join(source, 'tests', 'one', name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, 'w', encoding='utf-8') as f:
                f.write(group.strip('\n') + '\n')
            found.append(Case(name, 'jq -L tests/modules --run-tests tests/one/' + name, env={'LC_ALL': 'C.UTF-8'}))
    return found


# ---- git: scripts that print a line for each of their tests ----

GIT_GROUPS = re.compile('t(0[0-9]|1[0-5]|2[0-4]|3[0-9]|4[0-2]|55[01]|6[0-4]|7[0-7])')

# Those uses of git's test-tool that need no code of git.
TEST_TOOL = r'''#!/bin/bash
case $1 in
env-helper)
    shift
    default=false quiet=
    while [ $# -gt 1 ]; do
        case $1 in --default=*) default=${1#*=} ;; --exit-code) quiet=1 ;; esac
        shift
    done
    value=${!1-$default}
    case ${value,,} in true | yes | on | [1-9]*) value=true ;; *) value=false ;; esac
    [ -n "$quiet" ] || echo $value
    [ $value = true ]
    ;;
path-utils)
    case $2 in
    file-size) stat -c %s -- "${@:3}" ;;
    real_path) realpath -- "$3" ;;
    absolute_path) realpath -s -- "$3" ;;
    *) exit 126 ;;
    esac
    ;;
chmtime)
    shift
    get=
    case $1 in --get) get=1; shift ;; esac
    change=
    case $1 in [-+=]*) change=$1; shift ;; esac
    for file; do
        old=$(stat -c %Y -- "$file") || exit 1
        case $change in
        '') new=$old ;;
        =[-+]*) new=$(($(date +%s) ${change#=})) ;;
        =*) new=${change#=} ;;
        *) new=$((old $change)) ;;
        esac
        [ $new = $old ] || touch -m -d @$new -- "$file" || exit 1
        [ -z "$get" ] || echo $new
    done
    ;;
date)
    case $2 in is64bit | time_t-is64bit) ;; *) exit 126 ;; esac
    ;;
sha1) sha1sum | cut -c1-40 ;;
sha256) sha256sum | cut -c1-64 ;;
genzeros) head -c "$2" /dev/zero ;;
getcwd) pwd -P ;;
*)
    echo "no test-tool $1 here" >&2
    exit 126
    ;;
esac
'''

GIT_OPTIONS = '''SHELL_PATH='/bin/sh'
TEST_SHELL_PATH='/bin/sh'
PERL_PATH='/usr/bin/perl'
DIFF='diff'
PYTHON_PATH='/usr/bin/python3'
TAR='tar'
NO_CURL='1'
NO_EXPAT='1'
NO_PERL='1'
NO_PYTHON='1'
NO_GETTEXT='1'
NO_PTHREADS='1'
NO_UNIX_SOCKETS='1'
NO_GITWEB='1'
USE_LIBPCRE2=''
NO_REGEX=''
PAGER_ENV='LESS=FRX LV=-c'
DC_SHA1=''
RUNTIME_PREFIX=''
X=''
'''


def tap(case, status, output):
    lines = re.findall(r'^ok (\d+) - (.*)$', output, re.M)
    return {'%s#%s %s' % (case.name, number, text) for number, text in lines if '# skip' not in text and '# TODO' not in text}


def git(source):
    write(GIT_OPTIONS, source, 'GIT-BUILD-OPTIONS')
    write(TEST_TOOL, source, 't/helper/test-tool')
    os.makedirs(os.path.join(source, 'templates/blt'), exist_ok=True)
    found = []
    for path in sorted(glob.glob(os.path.join(source, 't', 't[0-9]*.sh'))):
        name = os.path.basename(path)[:-3]
        if not GIT_GROUPS.match(name):
            continue
        lines = [l for l in read(path).split('\n') if 'test-tool' in l or 'test_expect' in l]
        env = {'GIT_TEST_INSTALLED': '/usr/bin', 'GIT_TEST_EXEC_PATH': '', 'TERM': 'dumb', 'SHELL_PATH': '/bin/sh',
               'GIT_TEST_CMP': 'diff -u', 'NO_SVN_TESTS': '1', 'GIT_TEST_CHAIN_LINT': '0', 'GIT_TEST_MAINT_SCHEDULER': ''}
        needs = any(t in ''.join(lines) for t in ('lib-httpd', 'git-daemon'))
        found.append(Case(name, '/bin/sh ./%s.sh --no-chain-lint' % name, 't', env, passed=tap,
                          left_out='needs a network' if needs else ''))
    return found


# ---- Python: unittest's lines ----

# test_call and test_capi are left out: their subject is _testcapi, which no Python for use has.
PYTHON_MODULES = '''abc argparse array ast base64 bigmem binascii binop bisect bool bytes bz2 calendar class cmath cmd
code codecs collections colorsys compare compile complex configparser contains context contextlib copy copyreg csv dataclasses
datetime decimal decorators defaultdict deque descr dict dictviews difflib dis doctest dynamic email.test_email enum enumerate
eof exceptions extcall fileinput float fnmatch format fractions frozen fstring funcattrs functools future generators genericpath
genexps getopt gettext glob global grammar graphlib hash hashlib heapq hmac html htmlparser imp index inspect int io ipaddress
isinstance iter itertools json keyword keywordonlyarg lambda linecache list listcomps long longexp lzma math memoryview metaclass
minidom named_expressions netrc numeric_tower opcodes operator optparse ordered_dict os pathlib patma peepholer pickle pickletools
pkgutil platform plistlib popen positional_only_arg posixpath pow pprint print property pstats pyexpat queue quopri raise random
range re reprlib richcmp runpy sax scope secrets set setcomps shelve shlex shutil slice sort sqlite3 stat statistics str strftime
string stringprep strptime struct structseq subprocess sum super symtable sys tabnanny tarfile tempfile textwrap time timeit
tokenize trace traceback tuple types typing ucn unary unicode unicodedata unittest univnewlines unpack unpack_ex urlparse userdict
userlist userstring utf8source uu uuid weakref weakset with xml_etree xml_etree_c yield_from zipapp zipfile zipimport zlib
zoneinfo'''.split()


def unittest_results(case, output):
    """Names and what follows "..." of each. A test may print before it, and has its description on the next line."""
    parts = re.split(r'^(\w+ \([\w.]+\))', output, flags=re.M)
    for name, text in zip(parts[1::2], parts[2::2]):
        result = re.search(r'\.\.\. (?:.*\n)*?(?:.*\s)?(ok|skipped .*|FAIL|ERROR|expected failure)$', text, re.M)
        if result:
            yield '%s:%s' % (case.name, name), result.group(1)


def unittests(case, status, output):
    return {name for name, result in unittest_results(case, output) if result == 'ok'}


def unittests_skipped(case, output):
    """Why a test was not run, by its name; by None: why a whole module was not."""
    why = {name: result[len('skipped '):].strip('\'"') for name, result in unittest_results(case, output)
           if result.startswith('skipped ')}
    whole = re.findall(r'^(?:unittest\.case\.SkipTest|ModuleNotFoundError): (.*)$', output, re.M)
    if whole and not re.search(r'^Ran \d+ tests', output, re.M):
        why[None] = whole[-1]
    return why


# What the tests believe of any WASI, that there are no children, and what they ask CPython's own test modules: where columns stand
# in tracebacks, two numbers.
PYTHON_EDITS = (
    ('support/__init__.py', 'has_subprocess_support = not is_emscripten and not is_wasi', 'has_subprocess_support = True'),
    ('support/__init__.py', 'raise unittest.SkipTest("_testinternalcapi required")', 'return False'),
    ('test_sqlite3/test_dbapi.py', 'from _testcapi import INT_MAX, ULLONG_MAX', 'INT_MAX, ULLONG_MAX = 2**31 - 1, 2**64 - 1'),
)


def python_edit(source):
    for name, old, new in PYTHON_EDITS:
        path = os.path.join(source, 'Lib/test', name)
        with open(path, encoding='utf-8') as f:
            text = f.read()
        if old not in text:
            raise SystemExit('suite: %s is not as it was' % path)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace(old, new))


def python(source):
    found = []
    for module in PYTHON_MODULES:
        name = module if '.' in module else 'test_' + module
        env = {'PYTHONPATH': '{root}/tests-alone', 'LC_ALL': 'C.UTF-8', 'PYTHONDONTWRITEBYTECODE': '1'}
        if os.path.exists(os.path.join(source, 'Lib/test', name.replace('.', '/'))) or \
                os.path.exists(os.path.join(source, 'Lib/test', name.replace('.', '/') + '.py')):
            script = 'mkdir -p /tmp/py-$$ && cd /tmp/py-$$ && python3.11 -m unittest -v test.%s' % name
            found.append(Case(name, script, env=env, passed=unittests, skipped=unittests_skipped))
    python_edit(source)
    os.makedirs(os.path.join(source, 'tests-alone'), exist_ok=True)
    os.symlink('../Lib/test', os.path.join(source, 'tests-alone/test'))
    return found


SUITES = {
    'coreutils': Suite('coreutils', gnu('tests', ['*/*.sh'], '', srcdir='')),
    'diffutils': Suite('diffutils', gnu('tests', ['*'], 'cmp diff diff3 sdiff')),
    'findutils': Suite('findutils', findutils),
    'gawk': Suite('gawk', gawk),
    'git': Suite('git', git),
    'grep': Suite('grep', gnu('tests', ['*'], 'grep egrep fgrep')),
    'jq': Suite('jq', jq),
    'python': Suite('python3.11', python),
    'sed': Suite('sed', gnu('testsuite', ['*.sh'], 'sed', srcdir='')),
}
