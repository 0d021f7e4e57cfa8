# SPDX-License-Identifier: Apache-2.0
# Application logs: levels, the worst components, errors by the hour, slow requests and percentiles.
# Uses: sed awk tac
set -e
cat logs/app-*.log >all.log
echo "lines: $(wc -l <all.log)"
for level in ERROR WARN INFO DEBUG; do
    printf '%-6s %s\n' "$level" "$(grep -c " $level " all.log)"
done
echo "== errors by component"
grep ' ERROR ' all.log | sed -E 's/.*\[([a-z]+)\].*/\1/' | sort | uniq -c | sort -k1,1nr -k2 | head -8
echo "== errors by hour"
grep ' ERROR ' all.log | cut -dT -f2 | cut -d: -f1 | sort | uniq -c | awk '{ printf "%s:00 %3d %s\n", $2, $1, substr("####################", 1, $1 / 2) }'
echo "== percentiles"
grep -o 'ms=[0-9]*' all.log | cut -d= -f2 | sort -n >ms.txt
n=$(wc -l <ms.txt)
for p in 50 90 99; do
    echo "p$p $(sed -n "$((n * p / 100))p" ms.txt)"
done
echo "== last errors"
tac all.log | grep -m 5 ' ERROR '
echo "== slowest"
sort -t= -k3,3nr -k1,1 all.log | head -5
