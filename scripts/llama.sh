#!/usr/bin/env bash
# Runs a command beside two real servers of llama.cpp, one for chat and one for embeddings, over a model with random weights that is
# made here: the wire is real, what is said is not. Brings some 50 MB of Python packages into a folder: LLAMA_FOLDER, which is kept, or
# one that is removed.
#   scripts/llama.sh cargo test -p memory-models --features http --test http -- --ignored real
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)/llama"
folder="${LLAMA_FOLDER:-$(mktemp -d)}"
[ -n "${LLAMA_FOLDER:-}" ] || trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"
if [ ! -e "$folder/model.gguf" ]; then
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: \
    xllamacpp==2026.10.11549 gguf==0.19.0 numpy==2.4.6
  "$folder/venv/bin/python" "$here/make.py" "$folder/made.gguf"
  mv "$folder/made.gguf" "$folder/model.gguf"
fi

# A server ends when the pipe to it is closed, however this script ends.
serve() { # KIND
  mkfifo "$folder/$1.stdin" "$folder/$1.stdout"
  "$folder/venv/bin/python" "$here/serve.py" "$folder/model.gguf" "$1" < "$folder/$1.stdin" > "$folder/$1.stdout" 2> "$folder/$1.log" &
}
address() { # PIPE
  local line
  read -r -t 60 line < "$1" || { cat "${1%.stdout}.log"; exit 1; }
  echo "$line"
}
rm -f "$folder"/*.stdin "$folder"/*.stdout
serve chat
exec 8> "$folder/chat.stdin"
serve embeddings
exec 9> "$folder/embeddings.stdin"
MEMORY_TEST_LLAMA_URL="$(address "$folder/chat.stdout")/v1"
MEMORY_TEST_LLAMA_EMBEDDINGS_URL="$(address "$folder/embeddings.stdout")/v1"
export MEMORY_TEST_LLAMA_URL MEMORY_TEST_LLAMA_EMBEDDINGS_URL
code=0
"$@" 8>&- 9>&- || code=$?
exec 8>&- 9>&-
wait
exit "$code"
