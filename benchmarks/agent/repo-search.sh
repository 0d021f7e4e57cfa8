# SPDX-License-Identifier: Apache-2.0
# Repository search: who defines what, who calls a function that is to go, what is left to do, and by whom.
# Uses: sed awk
set -e
echo "== definitions"
grep -rhoE '^def [a-z_0-9]+' app | sed 's/^def //; s/_[0-9]*$//' | sort | uniq -c | sort -k1,1nr -k2 | head -15
echo "== callers of legacy_call"
grep -rl 'legacy_call' app --include='*.py' | sort | while read -r file; do
    printf '%s:%s\n' "$file" "$(grep -c 'legacy_call' "$file")"
done
echo "== first caller in context"
first=$(grep -rl 'legacy_call' app | sort | head -1)
grep -n -B2 -A2 'legacy_call' "$first" | head -20
echo "== left to do, by person"
grep -rnE '(TODO|FIXME|XXX)\([a-z]+\)' app | sort | awk -F'[()]' '{ n[$2]++ } END { for (p in n) print n[p], p }' | sort -k1,1nr -k2
echo "== big files"
find app lib -type f \( -name '*.py' -o -name '*.c' \) -size +2k -printf '%s %p\n' | sort -k1,1nr -k2 | head -10
echo "== modules that are imported most"
grep -rhE '^from app' app | awk '{ print $2 "." $4 }' | sort | uniq -c | sort -k1,1nr -k2 | head -10
