# SPDX-License-Identifier: Apache-2.0
# A function is renamed and a constant changed all over a repository, and the result is checked.
# Uses: sed diff
set -e
before=$(grep -rho 'legacy_call' app | wc -l)
cp -r app app.orig
grep -rlZ 'legacy_call' app | xargs -0 sed -i 's/\blegacy_call(/modern_call(/g'
find app -name '*.py' -print0 | xargs -0 sed -i -E 's/^DEBUG_MODE = False$/DEBUG_MODE = os.environ.get("DEBUG") == "1"/; s/^TIMEOUT = ([0-9]+)$/TIMEOUT = \1 * 1000/'
after=$(grep -rho 'modern_call' app | wc -l)
echo "renamed $after of $before"
if grep -rq 'legacy_call' app; then echo "some are left"; exit 1; fi
for pkg in core web jobs; do
    changed=$(diff -rq "app.orig/$pkg" "app/$pkg" | wc -l)
    echo "$pkg: $changed files changed"
done
diff -u app.orig/core/mod0.py app/core/mod0.py | sed '1,2d' || true
find app -name '*.py' | sort | xargs cat | grep -c 'TIMEOUT = [0-9]* \* 1000'
rm -r app.orig
