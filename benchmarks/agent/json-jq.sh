# SPDX-License-Identifier: Apache-2.0
# Events and a package file in JSON: filtered, grouped and changed with jq.
# Uses: jq
set -e
events=data/events.jsonl
echo "events: $(jq -s length $events)"
jq -r .type $events | sort | uniq -c | sort -k1,1nr -k2
jq -s -c 'group_by(.user.name) | map({name: .[0].user.name, n: length, ms: (map(.ms) | add)}) | sort_by(-.ms) | .[:3][]' $events
jq -r 'select(.type == "buy" and .user.age > 60) | [.id, .user.name, .user.age, (.tags | join("+"))] | @csv' $events | head -5
jq -s -r '[.[].tags[]] | group_by(.) | map([.[0], length]) | sort_by(-.[1], .[0])[] | @tsv' $events
for name in account batch buffer; do
    version=$(jq -r --arg n "$name" '.dependencies[$n] // "none"' package.json)
    echo "$name $version"
done
jq '.version = "1.5.0" | .scripts.deploy = "deploy all" | del(.devDependencies)' package.json >package.new
mv package.new package.json
jq -r '.version, (.scripts | keys | join(",")), (.dependencies | length)' package.json
