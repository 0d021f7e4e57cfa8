# SPDX-License-Identifier: Apache-2.0
# A web server's log: visitors, paths, statuses and bytes, and the addresses that do nothing but fail.
# Uses: sed awk
set -e
log=logs/access.log
echo "requests $(wc -l <$log), addresses $(cut -d' ' -f1 $log | sort -u | wc -l)"
echo "== paths"
awk -F'"' '{ split($2, r, " "); print r[2] }' $log | sort | uniq -c | sort -k1,1nr -k2 | head
echo "== statuses"
awk '{ n[$9]++; b[$9] += $10 } END { for (s in n) printf "%s %d %.1f KiB\n", s, n[s], b[s] / 1024 }' $log | sort
echo "== busiest"
cut -d' ' -f1 $log | sort | uniq -c | sort -k1,1nr -k2 | head -5 | while read -r count address; do
    bad=$(grep "^$address " $log | grep -cE '" (404|500) ' || true)
    echo "$address $count requests, $bad failed"
done
echo "== failed logins by user"
grep 'POST /login' $log | grep -E '" (404|500) ' | awk '{ print $3 }' | sort | uniq -c | sort -k1,1nr -k2 | head -5
echo "== hours with errors"
sed -nE 's/.*2024:([0-9]{2}):.*" 500 .*/\1/p' $log | sort | uniq -c | sort -k1,1nr -k2 | head -6
