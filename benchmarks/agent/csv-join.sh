# SPDX-License-Identifier: Apache-2.0
# Two tables are cleaned, joined and summed up.
# Uses: awk sed join paste
set -e
tail -n +2 data/customers.csv | sort -t, -k1,1 >customers.tmp
tail -n +2 data/orders.csv | grep -v ',void$' | sort -t, -k2,2 -k1,1n >orders.tmp
join -t, -1 2 -2 1 -o 1.1,0,2.2,2.3,2.4,1.3,1.4,1.5 orders.tmp customers.tmp >joined.csv
echo "rows $(wc -l <joined.csv), orders without a customer $(join -t, -1 2 -2 1 -v 1 orders.tmp customers.tmp | wc -l)"
echo "country,orders,total"
awk -F, '{ n[$4]++; t[$4] += $7 * $8 } END { for (c in n) printf "%s,%d,%.2f\n", c, n[c], t[c] }' joined.csv | sort
echo "month,plan,total"
awk -F, '{ t[substr($6, 1, 7) "," $5] += $7 * $8 } END { for (k in t) printf "%s,%.2f\n", k, t[k] }' joined.csv | sort
echo "best customers"
awk -F, '{ t[$2 "," $3] += $7 * $8 } END { for (k in t) printf "%.2f,%s\n", t[k], k }' joined.csv | sort -t, -k1,1nr | head -5
cut -d, -f4 joined.csv | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/\2=\1/' | paste -sd' '
for status in paid open void; do
    grep -c ",$status\$" data/orders.csv
done | paste -sd/
