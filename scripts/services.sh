#!/usr/bin/env bash
# The servers that tests run against: builds their images from package registries and removes what tests leave behind.
#   scripts/services.sh [--install] [images] [NAME...]  builds what is missing, prints `export MEMORY_TEST_X_IMAGE=...`
#   scripts/services.sh [--install] run COMMAND...      runs a command with all of these set, then removes its containers
#   scripts/services.sh [--install] engine              starts the container engine and builds nothing
#   scripts/services.sh sweep                           removes every container that a test has left
# NAME is redis, postgres, qdrant or elastic; all of them if none is given. A server whose MEMORY_TEST_X_URL or _IMAGE is
# set already is left alone. --install installs what the machine lacks (Debian, as root) and starts the engine.
# MEMORY_TEST_IMAGES names the images, `memory-test` if unset. An image's tag is the digest of its recipe.
set -euo pipefail
shopt -s inherit_errexit
recipes="$(cd "$(dirname "$0")/.." && pwd)/containers"
family="${MEMORY_TEST_IMAGES:-memory-test}"
folder=""

tell() { printf 'services: %s (%ss)\n' "$*" "$SECONDS" >&2; }
fail() { printf 'services: %s\n' "$*" >&2; exit 1; }
recipe_of() { case "$1" in qdrant) echo qdrant-standin ;; elastic) echo elasticsearch ;; *) echo "$1" ;; esac; }
digest() { (cd "$recipes" && find "$@" -type f -not -path '*/.*' -print0 | sort -z | xargs -0 sha256sum | sha256sum | head -c 12); }
base_image() { echo "$family/base:$(digest base)"; }
image_of() { local recipe; recipe="$(recipe_of "$1")"; echo "$family/$recipe:$(digest base "$recipe")"; }

# What the machine needs, as "command package".
needs() {
  printf '%s\n' 'docker docker.io' 'iptables iptables' 'mmdebstrap mmdebstrap' 'mvn maven' 'unzip unzip' 'python3 python3' \
    'strace strace'
}

prepare() {
  local missing=() command package
  while read -r command package; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "$command" > /dev/null || missing+=("$package")
  done < <(needs)
  python3 -m pip --version > /dev/null 2>&1 || missing+=(python3-pip)
  docker info > /dev/null 2>&1 || PATH="$PATH:/usr/sbin:/sbin" command -v dockerd > /dev/null || missing+=(docker.io)
  if [ "${#missing[@]}" -gt 0 ]; then
    [ "$install" = yes ] || fail "missing: ${missing[*]} (--install installs them)"
    tell "installing ${missing[*]}"
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"; } >&2
  fi
  docker info > /dev/null 2>&1 || start_engine
}

start_engine() {
  [ "$install" = yes ] || fail "the container engine does not answer (--install starts it)"
  tell "starting the container engine"
  # The kernel passes on what comes to a published port: a process that copies it takes more time than the tests.
  setsid dockerd --userland-proxy=false > /var/log/dockerd.log 2>&1 < /dev/null 9>&- &
  for _ in $(seq 100); do
    docker info > /dev/null 2>&1 && return
    sleep 0.1
  done
  tail -n 20 /var/log/dockerd.log >&2
  fail "the container engine did not start"
}

# The archive that the machine's own sources name, without encryption: the base that it fills has no certificates yet.
mirror() {
  local found
  found=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2> /dev/null |
    awk '$1 == "Debian" && $2 == "Debian" && $3 == "main" && $4 ~ /^https?:/ { print $4; exit }') || true
  echo "${found:-http://deb.debian.org/debian}" | sed 's/^https:/http:/'
}

build_base() {
  local image; image="$(base_image)"
  if docker image inspect "$image" > /dev/null 2>&1; then return; fi
  tell "building $image"
  "$recipes/base/build.sh" "$(mirror)" | docker import - "$image" > /dev/null
}

# Puts what a recipe names into the folder of its build: wheels of requirements.txt, the archive of artifact.txt.
fetch() {
  local recipe="$1" build="$2" artifact sum
  if [ -f "$recipe/requirements.txt" ]; then
    python3 -m pip install --quiet --root-user-action=ignore --disable-pip-version-check --target "$build/site" --no-deps --only-binary=:all: \
      --python-version 3.13 --implementation cp --platform manylinux_2_28_x86_64 --platform manylinux_2_17_x86_64 \
      --platform manylinux2014_x86_64 --requirement "$recipe/requirements.txt"
  fi
  if [ -f "$recipe/artifact.txt" ]; then
    read -r artifact sum < "$recipe/artifact.txt"
    mvn --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
      -Dartifact="$artifact" -DoutputDirectory="$build/archive"
    echo "$sum  $(echo "$build"/archive/*.zip)" | sha256sum --check --quiet
    unzip -q -d "$build/unpacked" "$build"/archive/*.zip
    mv "$build"/unpacked/* "$build/$(basename "$recipe")"
    rm -r "$build/archive" "$build/unpacked"
  fi
}

build() {
  local image="$1" recipe="$recipes/$2" build="$folder/$2"
  if docker image inspect "$image" > /dev/null 2>&1; then return; fi
  build_base
  tell "building $image"
  mkdir "$build"
  cp -r "$recipe/." "$build"
  sed -i "s|^FROM memory-test/base:trixie|FROM $(base_image)|" "$build/Dockerfile"
  fetch "$recipe" "$build" >&2
  # Debian's engine has no other builder. What it says matters only if it fails.
  DOCKER_BUILDKIT=0 docker build --force-rm --tag "$image" "$build" > "$folder/log" 2>&1 || {
    tail -n 40 "$folder/log" >&2
    fail "could not build $image"
  }
}

images() {
  local name variable image
  [ "$#" -gt 0 ] || set -- redis postgres qdrant elastic
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' EXIT
  exec 9> "${TMPDIR:-/tmp}/memory-test-images.lock"
  flock 9
  for name in "$@"; do
    variable="MEMORY_TEST_${name^^}"
    if [ -n "$(printenv "${variable}_URL" || true)" ]; then continue; fi
    image="$(printenv "${variable}_IMAGE" || true)"
    if [ -z "$image" ]; then
      [ -n "${prepared:-}" ] || { prepare; prepared=yes; }
      if [ ! -d "$recipes/$(recipe_of "$name")" ]; then tell "no recipe for $name"; continue; fi
      image="$(image_of "$name")"
      build "$image" "$(recipe_of "$name")"
    fi
    echo "export ${variable}_IMAGE=$image"
  done
}

sweep() {
  local left
  left=$(docker ps --all --quiet --filter "label=$1" 2> /dev/null) || return 0
  [ -z "$left" ] || { tell "removing containers that were left: $(wc -w <<< "$left")"; xargs docker rm --force --volumes <<< "$left" > /dev/null; }
}

# In a process group of its own, so that a signal to this script reaches the command before the sweep.
run() {
  [ "$#" -gt 0 ] || fail "run needs a command"
  local exports child status=0
  exports="$(images)"
  eval "$exports"
  export MEMORY_TEST_RUN="$$-$RANDOM"
  trap 'sweep "org.memory-testkit.run=$MEMORY_TEST_RUN"' EXIT
  set -m
  "$@" <&0 &
  child=$!
  set +m
  trap 'kill -INT -- "-$child"' INT
  trap 'kill -TERM -- "-$child"' TERM
  while kill -0 "$child" 2> /dev/null; do
    status=0
    wait "$child" || status=$?
  done
  exit "$status"
}

install=no
if [ "${1:-}" = --install ]; then install=yes; shift; fi
case "${1:-images}" in
  run) shift; run "$@" ;;
  sweep) sweep org.memory-testkit=1 ;;
  engine) prepare ;;
  images) [ "$#" -eq 0 ] || shift; images "$@" ;;
  *) images "$@" ;;
esac
