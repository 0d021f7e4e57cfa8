# SPDX-License-Identifier: Apache-2.0
# A manifest of checksums is made and checked, changes are found, files with equal contents too.
# Uses: sha256sum md5sum sed awk
find app lib docs -type f | sort | xargs sha256sum >manifest
wc -l <manifest
sha256sum -c --quiet manifest && echo intact
echo tampered >>docs/ch03.md
rm lib/src/unit5.c
sha256sum -c --quiet manifest 2>/dev/null | sort
cp docs/ch01.md docs/copy1.md
cp docs/ch01.md app/copy2.md
find . -name '*.md' -exec md5sum {} + | sort | awk '{ n[$1]++; f[$1] = f[$1] " " $2 } END { for (h in n) if (n[h] > 1) print n[h] ":" f[h] }' | sort
for file in data/*.csv; do
    sum=$(md5sum <"$file")
    echo "${sum%% *}  $(basename "$file")"
done
sed 's/  .*//' manifest | cut -c1 | sort | uniq -c | sort -k1,1nr -k2 | head -3
while read -r sum file; do
    [ -f "$file" ] || { echo "missing $file"; continue; }
    [ "$(sha256sum "$file" | cut -d' ' -f1)" = "$sum" ] || echo "changed $file"
done < <(grep -E 'docs|lib/src' manifest)
