# SPDX-License-Identifier: Apache-2.0
# A repository is made; work on a branch is committed, merged and looked back at.
# Uses: git sed
set -e
export GIT_AUTHOR_NAME=Ana GIT_AUTHOR_EMAIL=ana@example.org GIT_COMMITTER_NAME=Ana GIT_COMMITTER_EMAIL=ana@example.org
export GIT_AUTHOR_DATE='2024-06-07T09:00:00Z' GIT_COMMITTER_DATE='2024-06-07T09:00:00Z' GIT_CONFIG_GLOBAL=/dev/null
git init -q -b main .
git add app lib config package.json
git commit -q -m 'first import'
git checkout -q -b feature
sed -i 's/legacy_call/modern_call/' app/core/*.py
git add -u
git commit -q -m 'core: call the modern one'
git diff --stat main..feature | tail -1
git checkout -q main
echo '# end' >>config/dev.ini
git commit -q -a -m 'config: an end'
git merge -q --no-ff -m 'merge feature' feature
git log --oneline --graph | cat
git status --short | sort | head -5
git show --stat --format=%s HEAD~1 | tail -2
git grep -c modern_call | sort | head -3
git tag v1
git describe --tags
git rev-parse HEAD
