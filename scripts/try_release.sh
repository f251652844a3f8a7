#!/usr/bin/env bash
# Tries a release as somebody without this checkout would, in containers that hold nothing else and have no network.
#   scripts/try_release.sh ARCHIVE.tar.gz IMAGE
set -euo pipefail
archive="$1" image="$2"
work="$(mktemp -d)"
trap 'rm -rf "$work"; docker rm --force "memory-try-$$" > /dev/null 2>&1 || true; docker rmi --force "memory-bare:$$" > /dev/null 2>&1 || true; docker volume rm --force "memory-try-$$" > /dev/null' EXIT
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

# What the image does by itself: it serves whoever has a token, and ends when it is told to, with one file.
token="$(run token new 2> /dev/null)"
docker run --detach --name "memory-try-$$" --volume "memory-try-$$:/data" --publish 127.0.0.1::7777 --env MEMORY_HOSTS=memory.example \
  "$image" > /dev/null
port="$(docker port "memory-try-$$" 7777/tcp | sed 's/.*://')"
asked() { # PATH
  exec 3<> "/dev/tcp/127.0.0.1/$port"
  printf 'GET %s HTTP/1.1\r\nhost: memory.example\r\nauthorization: Bearer %s\r\nconnection: close\r\n\r\n' "$1" "$token" >&3
  cat <&3
}
for _ in $(seq 100); do [[ "$(asked /ready 2> /dev/null || true)" != *'"ready"'* ]] || break; sleep 0.1; done
[[ "$(asked /v1/sessions)" == *flowerpot* ]] || fail "the server of the image does not show what is stored: $(docker logs "memory-try-$$" 2>&1)"
[[ "$(asked /)" == *'<title>memory</title>'* ]] || fail "the server of the image has no page"
docker stop --time 15 "memory-try-$$" > /dev/null
[ "$(docker inspect --format '{{.State.ExitCode}}' "memory-try-$$")" = 0 ] || fail "the server of the image did not end well"
left="$(docker cp "memory-try-$$:/data" - | tar --list)"
[[ "$left" == *memory.sqlite* && "$left" != *sqlite-* ]] || fail "more than its files is left of the server of the image: $left"
printf 'release: the program and the image were tried in bare containers\n'
