# SPDX-License-Identifier: Apache-2.0
# Output of commands is read line by line and taken apart.
# Uses:
set -e
total=0 biggest=0
while read -r size path; do
    total=$((total + size))
    if [ "$size" -gt "$biggest" ]; then biggest=$size name=$path; fi
done < <(find app -name '*.py' -printf '%s %p\n' | sort -k2)
echo "total $total, biggest $name with $biggest"
stat -c '%a %n' tests/*.sh | while read -r mode file; do
    [ "$mode" = 755 ] || echo "$file is $mode"
done
while IFS=, read -r id name country plan; do
    [ "$id" = id ] && continue
    case $country/$plan in
    jp/pro) echo "$id ${name^^}" ;;
    esac
done <data/customers.csv | head -12
while IFS=' =' read -r key value; do
    case $key in '['*) section=${key//[\[\]]/} ;; '') ;; *) echo "$section.$key=$value" ;; esac
done <config/prod.ini | sort | head -8
grep -n ERROR logs/app-1.log | while IFS=: read -r number rest; do
    set -- $rest
    echo "$number ${3#[} ${*: -2:1}"
done | tail -6
ls -l data | tail -n +2 | while read -r mode links owner group size rest; do
    echo "$mode $size ${rest##* }"
done
wc -l logs/*.log | while read -r n file; do printf '%6d %s\n' "$n" "${file##*/}"; done
