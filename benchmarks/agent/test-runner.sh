# SPDX-License-Identifier: Apache-2.0
# Runs the tests of a project, again those that failed, and writes TAP and a report.
# Uses:
export STATE=$PWD/state
mkdir -p "$STATE" out
n=0 passed=0 failed=0 flaky=0
echo "1..$(ls tests/*.sh | wc -l)" >out/report.tap
for test in tests/*.sh; do
    n=$((n + 1))
    name=$(basename "$test" .sh)
    tries=0
    until bash "$test" >"out/$name.out" 2>"out/$name.err"; do
        status=$?
        tries=$((tries + 1))
        [ "$tries" -lt 3 ] || break
    done
    if [ "$tries" -ge 3 ]; then
        failed=$((failed + 1))
        echo "not ok $n - $name # status $status" >>out/report.tap
        while IFS= read -r line; do echo "# $line"; done <"out/$name.err" >>out/report.tap
    else
        passed=$((passed + 1))
        [ "$tries" -eq 0 ] || flaky=$((flaky + 1))
        echo "ok $n - $name" >>out/report.tap
    fi
done
{
    printf '<testsuite tests="%d" failures="%d">\n' "$n" "$failed"
    grep -E '^(not )?ok ' out/report.tap | while read -r first second rest; do
        if [ "$first" = not ]; then printf '  <testcase name="%s"><failure/></testcase>\n' "${rest##* - }"; else printf '  <testcase name="%s"/>\n' "${rest#- }"; fi
    done
    echo '</testsuite>'
} >out/report.xml
cat out/report.tap
grep -c testcase out/report.xml
echo "passed $passed, failed $failed, flaky $flaky"
[ "$failed" -eq 2 ]
