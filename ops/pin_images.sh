#!/bin/sh
# Writes into compose.yaml and the Dockerfile the digests that their images' tags have today. Needs
# Docker with buildx, and a registry. Look at what changed, and build and test with it.
set -eu
cd "$(dirname "$0")/.."
docker=${DOCKER:-docker}
pinned='[a-z0-9./-]+:[A-Za-z0-9._-]+@sha256:[0-9a-f]{64}'
for image in $(grep -hoE "$pinned" compose.yaml Dockerfile | sort -u); do
    tag=${image%@*}
    digest=$("$docker" buildx imagetools inspect "$tag" --format '{{.Manifest.Digest}}')
    echo "$digest" | grep -qxE 'sha256:[0-9a-f]{64}' || { echo "no digest of $tag: $digest" >&2; exit 1; }
    for file in compose.yaml Dockerfile; do
        sed "s|$image|$tag@$digest|g" "$file" > "$file.new"
        cat "$file.new" > "$file"
        rm "$file.new"
    done
    echo "$tag@$digest"
done
