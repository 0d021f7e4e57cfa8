# SPDX-License-Identifier: Apache-2.0
# Archives are packed, listed, unpacked, compared and compressed in several ways.
# Uses: tar gzip diff sed
set -e
tar -czf app.tar.gz app
tar -tzf app.tar.gz | grep -v '/$' | sort | head -3
tar -tzf app.tar.gz | wc -l
mkdir unpacked
tar -xzf app.tar.gz -C unpacked
diff -r app unpacked/app && echo same
tar -cf lib.tar lib docs
tar -xf lib.tar -C unpacked lib/src/unit1.c
cmp lib/src/unit1.c unpacked/lib/src/unit1.c && echo same unit
for log in logs/*.log; do
    gzip -k "$log"
    gzip -t "$log.gz"
    if [ "$(zcat "$log.gz" | wc -c)" -eq "$(wc -c <"$log")" ]; then echo "$(basename "$log") packed"; fi
done
zcat logs/app-0.log.gz | grep -c ERROR
rm -r unpacked logs/*.gz
ls
