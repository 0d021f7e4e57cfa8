# SPDX-License-Identifier: Apache-2.0
# A report in Markdown from several sources.
# Uses: sed awk
set -e
bar() { local n=$1 text=; while [ "$n" -gt 0 ]; do text+='*'; n=$((n - 1)); done; echo "$text"; }
{
    cat <<HEAD
# Report on $(basename "$(sed -n 's/.*"name": "\(.*\)",/\1/p' package.json)") $(sed -n 's/.*"version": "\(.*\)",/\1/p' package.json)

| part | files | lines | words | bytes |
|:-----|------:|------:|------:|------:|
HEAD
    for part in app/core app/web app/jobs lib/src lib/include docs tests config; do
        files=$(ls "$part" | wc -l)
        read -r lines words bytes <<<"$(cat "$part"/* | wc)"
        printf '| `%s` | %d | %d | %d | %d |\n' "$part" "$files" "$lines" "$words" "$bytes"
    done
    echo
    echo "## Chapters"
    echo
    for file in docs/*.md; do
        title=$(head -1 "$file")
        sections=$(grep -c '^## ' "$file")
        echo "- ${title#\# } ($sections sections, $(wc -w <"$file") words)"
    done
    echo
    echo "## Orders by month"
    echo
    tail -n +2 data/orders.csv | cut -d, -f3 | cut -c1-7 | sort | uniq -c | while read -r count month; do
        printf '    %s %4d %s\n' "$month" "$count" "$(bar $((count / 20)))"
    done
    cat <<TAIL

Made from $(find . -type f | wc -l) files; $(awk -F, '$6 == "open" { n++ } END { print n }' data/orders.csv) orders are open.
TAIL
} >REPORT.md
cat REPORT.md
