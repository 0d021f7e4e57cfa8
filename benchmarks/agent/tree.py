#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tree that the agent scripts work on: a small project with sources, logs, tables, events and tests.
Usage: tree.py DIR      Always the same bytes and the same times."""

import json
import os
import random
import sys

rnd = random.Random(20240607)
root = sys.argv[1]
STAMP = 1717750800
WORDS = """account batch buffer cache channel client cursor daemon digest driver engine filter frame handle index journal
kernel ledger limit lookup marker merge message module node offset packet parser payload policy pool prefix process profile queue
record region report request result router sample schema script section server session signal socket source stage state stream
string symbol table target task thread ticket token tracker value vector version window worker writer""".split()
NAMES = ["ana", "bo", "chen", "dina", "emil", "fay", "gus", "hana"]


def put(path, text, mode=0o644):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, mode)


def python_module(pkg, number):
    name = f"{rnd.choice(WORDS)}_{number}"
    lines = ['"""' + " ".join(rnd.choices(WORDS, k=8)).capitalize() + '."""', "import os", "import json"]
    for other in sorted(rnd.sample(range(number), min(number, 2))):
        lines.append(f"from app.{pkg} import mod{other}")
    lines += ["", "DEBUG_MODE = False", f"TIMEOUT = {rnd.randint(1, 90)}", ""]
    for f in range(rnd.randint(4, 9)):
        verb = rnd.choice(["load", "save", "find", "parse", "check"])
        lines += ["", f"def {verb}_{rnd.choice(WORDS)}_{f}(self, {rnd.choice(WORDS)}, limit={rnd.randint(1, 500)}):"]
        for _ in range(rnd.randint(3, 9)):
            lines.append(f"    {rnd.choice(WORDS)} = {rnd.choice(WORDS)}.{rnd.choice(WORDS)}({rnd.randint(0, 999)})")
        if rnd.random() < 0.3:
            lines.append(f"    # {rnd.choice(['TODO', 'FIXME', 'XXX'])}({rnd.choice(NAMES)}): {' '.join(rnd.choices(WORDS, k=4))}")
        if rnd.random() < 0.25:
            lines.append("    print(legacy_call(limit))")
        lines.append(f"    return {rnd.choice(WORDS)}")
    lines += ["", f"class {name.title().replace('_', '')}:", "    pass", ""]
    return "\n".join(lines)


def c_source(number, headers):
    uses = sorted(rnd.sample(range(headers), 3))
    lines = [f'#include "h{h}.h"' for h in uses] + ["#include <stdio.h>", ""]
    for f in range(rnd.randint(3, 7)):
        lines += [f"int {rnd.choice(WORDS)}_{number}_{f}(int {rnd.choice('abcde')})", "{", f"    int n = {rnd.randint(1, 99)};",
                  f'    printf("{rnd.choice(WORDS)} %d\\n", n);', f"    return n * {rnd.randint(2, 9)};", "}", ""]
    return "\n".join(lines)


def main():
    for pkg in ("core", "web", "jobs"):
        put(f"app/{pkg}/__init__.py", "")
        for i in range(30):
            put(f"app/{pkg}/mod{i}.py", python_module(pkg, i))
    for i in range(12):
        below = f'#include "h{i + rnd.randint(1, 3)}.h"\n' if i < 9 else ""
        put(f"lib/include/h{i}.h", f"#pragma once\n{below}#define LIMIT_{i} {rnd.randint(1, 999)}\nint call_{i}(int);\n")
    for i in range(24):
        put(f"lib/src/unit{i}.c", c_source(i, 12))
    for i in range(20):
        text = f"# Chapter {i}\n"
        for s in range(5):
            text += f"\n## Section {i}.{s}\n\n"
            for _ in range(6):
                text += " ".join(rnd.choices(WORDS, k=rnd.randint(6, 14))).capitalize() + ".\n"
        put(f"docs/ch{i:02}.md", text)
    for day in range(4):
        lines, second = [], 0
        for _ in range(1500):
            second += rnd.randint(1, 90)
            level = rnd.choices(["INFO", "DEBUG", "WARN", "ERROR"], [70, 15, 10, 5])[0]
            lines.append(f"2024-06-{day + 3:02}T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}Z {level} "
                         f"[{rnd.choice(WORDS[:12])}] {rnd.choice(WORDS)} {rnd.choice(WORDS)} id={rnd.randint(1, 400)} "
                         f"ms={int(rnd.expovariate(0.01))}")
        put(f"logs/app-{day}.log", "\n".join(lines) + "\n")
    lines = []
    for i in range(4000):
        path = rnd.choice(["/", "/login", "/api/items", "/api/orders", "/static/app.js", "/health"])
        lines.append(f'10.0.{rnd.randint(0, 3)}.{rnd.randint(1, 40)} - {rnd.choice(NAMES + ["-"] * 8)} '
                     f'[07/Jun/2024:{i // 170 % 24:02}:{i // 3 % 60:02}:{i * 20 % 60:02} +0000] "{rnd.choice(["GET", "GET", "POST"])} '
                     f'{path} HTTP/1.1" {rnd.choices([200, 301, 404, 500], [85, 5, 7, 3])[0]} {rnd.randint(100, 90000)}')
    put("logs/access.log", "\n".join(lines) + "\n")
    put("data/customers.csv", "id,name,country,plan\n" + "".join(
        f"{i},{rnd.choice(NAMES)}-{rnd.choice(WORDS)},{rnd.choice(['de', 'fr', 'jp', 'us', 'br'])},"
        f"{rnd.choice(['free', 'team', 'pro'])}\n" for i in range(1000, 1300)))
    put("data/orders.csv", "order,customer,date,quantity,price,status\n" + "".join(
        f"{i},{rnd.randint(1000, 1320)},2024-{rnd.randint(1, 6):02}-{rnd.randint(1, 28):02},{rnd.randint(1, 9)},"
        f"{rnd.randint(100, 99999) / 100:.2f},{rnd.choice(['paid', 'paid', 'paid', 'open', 'void'])}\n" for i in range(2500)))
    put("data/events.jsonl", "".join(json.dumps({
        "id": i, "type": rnd.choice(["click", "view", "buy", "error"]), "user": {"name": rnd.choice(NAMES), "age": rnd.randint(18, 80)},
        "tags": rnd.sample(WORDS[:10], rnd.randint(0, 3)), "ms": rnd.randint(1, 4000)}) + "\n" for i in range(1000)))
    put("package.json", json.dumps({
        "name": "shop", "version": "1.4.2", "scripts": {"build": "build all", "test": "test all", "lint": "lint app"},
        "dependencies": {w: f"^{rnd.randint(0, 9)}.{rnd.randint(0, 20)}.{rnd.randint(0, 9)}" for w in WORDS[:25]},
        "devDependencies": {w: f"~{rnd.randint(0, 9)}.{rnd.randint(0, 20)}.0" for w in WORDS[30:42]}}, indent=2) + "\n")
    for env in ("dev", "stage", "prod"):
        put(f"config/{env}.ini", "".join(
            f"[{s}]\n" + "".join(f"{w} = {rnd.randint(1, 9999)}\n" for w in rnd.sample(WORDS, 8)) + "\n"
            for s in ("server", "database", "cache", "queue")))
        put(f"config/{env}.env", "".join(f"APP_{w.upper()}={rnd.randint(1, 99)}\n" for w in WORDS[:20]) + "# end\n")
    for i in range(30):
        fails = i in (7, 19)
        flaky = i in (3, 12, 25)
        body = "".join(f'[ "$(({rnd.randint(1, 50)} * {k + 2}))" -gt {k} ] || exit 1\n' for k in range(6))
        if flaky:
            body += 'n=$(cat "$STATE/$ME" 2>/dev/null || echo 0)\necho $((n + 1)) >"$STATE/$ME"\n[ "$n" -ge 1 ] || { echo "flaky: try $n"; exit 1; }\n'
        if fails:
            body += f'echo "expected {i} but got {i + 1}" >&2\nexit {i % 3 + 1}\n'
        put(f"tests/t{i:02}.sh", "ME=${0##*/}\n" + body + 'echo "ok: $ME"\n', 0o755)
    for top, dirs, files in os.walk(root, topdown=False):
        for n in files:
            os.utime(os.path.join(top, n), (STAMP, STAMP))
        os.utime(top, (STAMP, STAMP))


main()
