#!/bin/sh
# Writes the files in secrets/ that compose.yaml mounts. What is there stays; what is missing is taken
# from .env, where earlier releases had it, or made: passwords of servers at random, keys of others
# as empty files, which are as good as none. Fill them in with an editor.
#
# The folder is for its owner alone. The files in it can be read by all users, for those of the
# containers are others: Docker mounts each file without the folder around it.
set -eu
cd "$(dirname "$0")/.."
umask 077
mkdir -p secrets
chmod 700 secrets

# The value of a variable in .env, without quotes around it; nothing of it is an argument of a program.
of_env() {
    [ ! -f .env ] || sed -n "s/^ATTEST_$1=//p" .env | tail -n 1 | sed "s/^[\"']//; s/[\"']\$//"
}

# write NAME VALUE: whole or not at all.
write() {
    printf '%s\n' "$2" > "secrets/.$1"
    chmod 644 "secrets/.$1"
    mv "secrets/.$1" "secrets/$1"
}

# They stand in addresses.
password() {
    if [ ! -s "secrets/$1" ]; then
        value=$(of_env "$2")
        [ -n "$value" ] || value=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
        write "$1" "$value"
    fi
    value=$(cat "secrets/$1")
    case $value in
        '' | *[!A-Za-z0-9]*) echo "secrets/$1 may have letters and digits only" >&2; exit 1 ;;
    esac
}

password postgres_password POSTGRES_PASSWORD
write database_url "postgresql+psycopg://attest:$value@postgres:5432/attest"
password redis_password REDIS_PASSWORD
write redis_url "redis://:$value@redis:6379/0"
write redis.conf "requirepass $value"

for name in encoder_key anthropic_api_key model_key ncbi_api_key openfda_api_key openalex_api_key \
    perplexity_api_key smtp_url audit_key partitions; do
    [ -e "secrets/$name" ] || write "$name" "$(of_env "$(echo "$name" | tr '[:lower:]' '[:upper:]')")"
done
echo "secrets/ has what compose.yaml mounts"
