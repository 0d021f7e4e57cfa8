# SPDX-License-Identifier: Apache-2.0
# Small questions, answered with python3 -c.
# Uses: python3
set -e
python3 -c 'import json; d = json.load(open("package.json")); print(d["name"], len(d["dependencies"]))'
python3 -c '
import csv, collections
total = collections.Counter()
for row in csv.DictReader(open("data/orders.csv")):
    if row["status"] == "paid":
        total[row["date"][:7]] += int(row["quantity"]) * float(row["price"])
for month, value in sorted(total.items()):
    print(month, "%.2f" % value)'
grep -c ERROR logs/app-0.log | python3 -c 'import sys; n = int(sys.stdin.read()); print(n, n * n)'
python3 -c '
import re, glob
names = set()
for path in glob.glob("app/*/*.py"):
    names.update(re.findall(r"^def (\w+)", open(path).read(), re.M))
print(len(names), sorted(names)[:3])'
printf '3\n1\n2\n' | python3 -c 'import sys; print(sorted(int(x) for x in sys.stdin))'
python3 - <<'PY' >summary.json
import json, statistics
ms = [json.loads(line)["ms"] for line in open("data/events.jsonl")]
print(json.dumps({"n": len(ms), "mean": statistics.mean(ms), "median": statistics.median(ms)}))
PY
python3 -c 'import json; d = json.load(open("summary.json")); print(d["n"], round(d["mean"], 3), d["median"])'
