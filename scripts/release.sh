#!/usr/bin/env bash
# Makes a release for Linux on x86-64: a static program that runs without any library of the machine, and an image of it.
#   scripts/release.sh [--install] [FOLDER]     target/release-files unless a folder is given
# FOLDER then holds memory-VERSION-x86_64-linux.tar.gz (the program, manual pages, completions, licences of everything in it),
# memory-VERSION-image.tar.gz for `docker load`, and SHA256SUMS. Both are tried in bare containers before the script says so:
# that needs a container engine (scripts/services.sh --install brings one).
# --install installs the linker for musl (Debian, as root) and the target of rustup, where they are missing.
# MEMORY_RELEASE_FEATURES names the features, `full` unless set.
set -euo pipefail
cd "$(dirname "$0")/.."
install=""
if [ "${1:-}" = --install ]; then install=yes; shift; fi
folder="${1:-${CARGO_TARGET_DIR:-target}/release-files}"
target=x86_64-unknown-linux-musl
features="${MEMORY_RELEASE_FEATURES:-full}"
version="$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)"
name="memory-$version-x86_64-linux"

step() { printf '\n== %s (%ss)\n' "$1" "$SECONDS"; }
fail() { printf 'release: %s\n' "$*" >&2; exit 1; }

step "what is needed"
if ! command -v musl-gcc > /dev/null; then
  [ -n "$install" ] || fail "musl-gcc is missing: --install installs musl-tools"
  { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends musl-tools; } > /dev/null
fi
if ! rustup target list --installed | grep -qx "$target"; then
  [ -n "$install" ] || fail "the target is missing: --install adds it, as \`rustup target add $target\` does"
  rustup target add "$target"
fi
if [ -n "$install" ]; then scripts/services.sh --install engine; fi
docker info > /dev/null 2>&1 || fail "the container engine does not answer: --install brings one"

step "the program"
cargo build --release --locked --target "$target" -p memory-cli --no-default-features --features "$features"
built="${CARGO_TARGET_DIR:-target}/$target/release/memory"
! readelf --program-headers "$built" | grep -q INTERP || fail "the program is not static"

step "the archive"
rm -rf "$folder"
mkdir -p "$folder/$name/completions"
cp "$built" LICENSE-MIT LICENSE-APACHE "$folder/$name/"
strip "$folder/$name/memory"
python3 scripts/licences.py "$target" "$features" > "$folder/$name/LICENSES.txt"
"$built" man "$folder/$name/man" > /dev/null
for shell in bash zsh fish powershell elvish; do "$built" completions "$shell" > "$folder/$name/completions/memory.$shell"; done
cp memory-cli/README.md "$folder/$name/README.md"
cp containers/release/memory.service "$folder/$name/"
tar --create --gzip --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" \
  --file "$folder/$name.tar.gz" --directory "$folder" "$name"

step "the image"
mkdir -p "$folder/image/data"
cp containers/release/Dockerfile "$folder/$name/memory" "$folder/$name/LICENSES.txt" "$folder/image/"
# Debian's engine has no other builder.
DOCKER_BUILDKIT=0 docker build --quiet --tag "memory:$version" "$folder/image" > /dev/null
docker save "memory:$version" | gzip > "$folder/memory-$version-image.tar.gz"
rm -rf "$folder/image"
(cd "$folder" && sha256sum ./*.tar.gz > SHA256SUMS)

step "both are tried"
scripts/try_release.sh "$folder/$name.tar.gz" "memory:$version"
rm -rf "${folder:?}/$name"
printf '\n'
(cd "$folder" && ls -lh -- *.tar.gz && cat SHA256SUMS)
