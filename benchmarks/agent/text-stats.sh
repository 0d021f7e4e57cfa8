# SPDX-License-Identifier: Apache-2.0
# Statistics of text: words, lengths, letters and what is the same in two chapters.
# Uses: sed awk comm fold nl
set -e
echo "== words"
cat docs/*.md | tr -cs 'A-Za-z' '\n' | tr 'A-Z' 'a-z' | grep -v '^$' | sort | uniq -c | sort -k1,1nr -k2 | head -12
echo "== lengths of words"
cat docs/*.md | tr -s ' \n' '\n\n' | awk '{ n[length($0)]++ } END { for (l in n) print l, n[l] }' | sort -n
echo "== letters"
cat docs/ch00.md | fold -w1 | grep '[a-z]' | sort | uniq -c | sort -k1,1nr -k2 | head -6
echo "== longest lines"
awk '{ print length($0) ":" FILENAME ":" FNR }' docs/*.md | sort -t: -k1,1nr -k2,2 -k3,3n | head -4
echo "== in both"
for i in 00 01; do tr -cs 'a-z' '\n' <docs/ch$i.md | sort -u >words.$i; done
comm -12 words.00 words.01 | wc -l
comm -23 words.00 words.01 | head -4
echo "== by chapter"
for f in docs/*.md; do
    printf '%s %s %s\n' "$(basename "$f")" "$(wc -w <"$f")" "$(grep -c . "$f")"
done | sort -k2,2nr -k1,1 | nl | head -5
