# SPDX-License-Identifier: Apache-2.0
# Files are found by name, size and age, counted, renamed and moved.
# Uses: sed
set -e
echo "python: $(find app -name '*.py' | wc -l), C: $(find lib -name '*.[ch]' | wc -l)"
find . -type f -name '*.py' -size +3k | sort | head -5
find . -type f -printf '%f\n' | sed 's/.*\.//' | sort | uniq -c | sort -k1,1nr -k2
find docs -name '*.md' | sort | while read -r file; do
    target=${file%.md}.txt
    mv "$file" "$target"
done
ls docs | head -3
mkdir -p attic/tests
find tests -name 't0*.sh' -exec mv {} attic/tests/ \;
ls attic/tests | wc -l
find app -name 'mod1*.py' -print0 | sort -z | xargs -0 -n 5 wc -l | grep total | sort
find lib -name '*.c' | sort | xargs -I{} sh -c 'head -1 {} | grep -q include && basename {}' | wc -l
find . -newer package.json -type f | sort | head -3
find app -type f -empty | sort
find . -type d | sort | xargs -I{} sh -c 'echo "{} $(ls {} | wc -l)"'
chmod -R go-rwx config
find config -perm 600 | wc -l
