# SPDX-License-Identifier: Apache-2.0
"""What the checks share: the list of source files and the report of findings."""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
findings = []


def find(path, line, text):
    """Notes one finding; finish() prints it."""
    findings.append((os.path.relpath(path, ROOT), line, text))


def finish(what):
    """Prints the findings and ends with 1 if there are any."""
    for path, line, text in sorted(findings):
        print(f"{path}:{line}: {text}")
    print(f"{os.path.basename(sys.argv[0])}: {len(findings)} findings in {what}")
    sys.exit(1 if findings else 0)


def sources(suffixes=(".c", ".h"), tops=("src", "cli", "benchmarks", "tests")):
    """Paths of our source files, sorted."""
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(ROOT, top)):
            folders[:] = sorted(f for f in folders if not f.startswith("."))
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.join(folder, name)


def module_of(path):
    """The module a file belongs to: src/NAME/… or cli/…; None elsewhere."""
    parts = os.path.relpath(path, ROOT).split(os.sep)
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return parts[0] if parts[0] == "cli" else None


def is_test(path):
    """Whether a file is part of a test or fuzz target."""
    return bool(re.search(r"/(test|fuzz)/", path)) or "/tests/" in path


def read(path):
    """The text of a file; bytes that are not UTF-8 are kept."""
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        return f.read()


def blank_comments(text, strings=False):
    """Replaces comments (and the insides of literals with @strings) by blanks; every offset stays."""

    def blank(m):
        s = m.group(0)
        if s[0] in "\"'":
            return s[0] + re.sub(r"[^\n]", " ", s[1:-1]) + s[-1] if strings else s
        return re.sub(r"[^\n]", " ", s)

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def rows(name):
    """Lines of a list in tools/ or docs/, without comments and blanks: (line number, text)."""
    for i, line in enumerate(read(os.path.join(ROOT, name)).split("\n"), 1):
        line = line.split("#")[0].strip()
        if line:
            yield i, line
