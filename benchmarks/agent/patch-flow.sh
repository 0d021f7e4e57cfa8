# SPDX-License-Identifier: Apache-2.0
# Changes are made into patches, checked, applied, taken back and merged.
# Uses: diff patch sed
set -e
cp -r app/core a
cp -r app/core b
sed -i 's/legacy_call/modern_call/' b/*.py
sed -i '/TODO/d' b/mod1*.py
sed -i '1a # changed' b/mod2.py
diff -ruN a b >change.patch || true
grep -c '^@@' change.patch
grep '^+++' change.patch | cut -f1 | wc -l
cp -r a c
(cd c && patch -s -p1 --dry-run <../change.patch && echo applies)
(cd c && patch -s -p1 <../change.patch)
diff -r b c && echo applied
(cd c && patch -s -R -p1 <../change.patch)
diff -r a c && echo taken back
for file in b/mod1*.py; do
    diff -u "a/${file#b/}" "$file" >"${file##*/}.patch" || true
    printf '%s +%s -%s\n' "${file##*/}" "$(grep -c '^+[^+]' "${file##*/}.patch")" "$(grep -c '^-[^-]' "${file##*/}.patch")"
done
cmp a/mod2.py b/mod2.py || true
diff a/mod2.py b/mod2.py || true
rm -r a b c
