#!/usr/bin/env bash
# Tries a release as somebody without this checkout would, in containers that hold nothing else and have no network.
#   scripts/try_release.sh ARCHIVE.tar.gz IMAGE
set -euo pipefail
archive="$1" image="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"; docker rmi --force "memory-bare:$$" > /dev/null 2>&1 || true; docker volume rm --force "memory-try-$$" > /dev/null' EXIT
fail() { printf 'release: %s\n' "$*" >&2; exit 1; }

# The program of the archive, in a container without a single other file.
tar --extract --gzip --strip-components 1 --file "$archive" --directory "$work"
printf 'FROM scratch\nCOPY memory /memory\nENTRYPOINT ["/memory"]\n' > "$work/Dockerfile"
DOCKER_BUILDKIT=0 docker build --quiet --tag "memory-bare:$$" "$work" > /dev/null
docker run --rm --network none --tmpfs /tmp "memory-bare:$$" --db /tmp/demo.sqlite demo > "$work/demo.txt"
grep -q "answer" "$work/demo.txt" || fail "the demo of the program says nothing: $(head -n 5 "$work/demo.txt")"
for file in LICENSES.txt man/memory.1 man/memory-import.1 completions/memory.bash completions/memory.zsh completions/memory.fish; do
  [ -s "$work/$file" ] || fail "the archive lacks $file"
done

# The image, as an ordinary user over a volume: what one container stores, the next one finds.
run() { docker run --rm --interactive --network none --volume "memory-try-$$:/data" "$image" --tenant acme --subject ada "$@"; }
printf '{"role":"user","content":"The spare key lies under the blue flowerpot."}\n' | run import - 2> /dev/null
run search "where is the spare key" | grep -q flowerpot || fail "the image does not find what another container stored"
[ "$(docker image inspect --format '{{.Config.User}}' "$image")" = 65532:65532 ] || fail "the image runs as root"
printf 'release: the program and the image were tried in bare containers\n'
