# SPDX-License-Identifier: Apache-2.0
# Settings are read, changed, added and checked in INI files and files of variables.
# Uses: sed awk diff
set -e
cp -r config config.orig
get() { # FILE SECTION KEY
    awk -F' *= *' -v s="[$2]" -v k="$3" '$0 == s { on = 1; next } /^\[/ { on = 0 } on && $1 == k { print $2; exit }' "$1"
}
put() { # FILE KEY VALUE
    if grep -q "^$2=" "$1"; then
        sed -i "s|^$2=.*|$2=$3|" "$1"
    else
        echo "$2=$3" >>"$1"
    fi
}
for env in dev stage prod; do
    file=config/$env.env
    put "$file" APP_ACCOUNT 100
    put "$file" APP_CACHE "/var/cache/$env"
    put "$file" APP_NEW_FLAG yes
    sed -i '/^# end$/d' "$file"
    set -a
    . "./$file"
    set +a
    echo "$env: $APP_ACCOUNT $APP_CACHE $APP_NEW_FLAG $(wc -l <"$file")"
done
for env in dev stage prod; do
    key=$(sed -n '/^\[database\]/{n;s/ .*//p;}' "config/$env.ini")
    echo "$env database.$key = $(get "config/$env.ini" database "$key")"
    sed -i "/^\[server\]/a port = $((8000 + ${#env}))" "config/$env.ini"
    echo "$env port $(get "config/$env.ini" server port)"
done
diff -r config.orig config | grep -c '^[<>]'
for file in config/*.ini; do
    grep -vE '^(\[[a-z]+\]|[a-z]+ = [0-9]+|)$' "$file" && echo "$file: bad line"
    grep -c '^\[' "$file"
done
rm -r config.orig
