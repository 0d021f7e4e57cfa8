# SPDX-License-Identifier: Apache-2.0
# Counting with associative arrays, in the shell alone.
# Uses:
declare -A level component slow
while read -r stamp lvl comp a b id ms; do
    level[$lvl]=$((${level[$lvl]:-0} + 1))
    comp=${comp#[}
    comp=${comp%]}
    component[$comp]=$((${component[$comp]:-0} + 1))
    n=${ms#ms=}
    if ((n > 400)); then slow[${stamp%%T*}]+=" ${id#id=}"; fi
done < <(cat logs/app-0.log logs/app-1.log)
for key in "${!level[@]}"; do echo "${level[$key]} $key"; done | sort -rn
for key in "${!component[@]}"; do printf '%5d %s\n' "${component[$key]}" "$key"; done | sort -k1,1nr -k2
for day in "${!slow[@]}"; do
    set -- ${slow[$day]}
    echo "$day: $# slow, first $1, last ${*: -1}"
done | sort
declare -A plan
while IFS=, read -r id name country p; do plan[$id]=$p; done <data/customers.csv
declare -A revenue
while IFS=, read -r order customer date quantity price status; do
    [[ $status == paid ]] || continue
    p=${plan[$customer]:-unknown}
    ((revenue[\$p] += quantity * ${price/./})) || true
done <data/orders.csv
for p in free team pro unknown; do echo "$p ${revenue[$p]}"; done
