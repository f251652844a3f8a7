#!/usr/bin/env bash
# The tests of the server once more, with a Postgres below it: each memory in a schema of its own. Or another command, which reads
# the URL of that Postgres in MEMORY_SERVER_OVER, where it is called.
#   scripts/services.sh run scripts/server_over_postgres.sh [COMMAND...]
set -euo pipefail
[ "$#" -gt 0 ] || { cd "$(dirname "$0")/.."; set -- cargo test --workspace --all-features --test server; }
image="${MEMORY_TEST_POSTGRES_IMAGE:?scripts/services.sh run names it}"
container="$(docker run --detach --rm --publish 127.0.0.1::5432 --label org.memory-testkit=1 \
  --label "org.memory-testkit.run=${MEMORY_TEST_RUN:-}" --env POSTGRES_PASSWORD=postgres "$image")"
trap 'docker rm --force --volumes "$container" > /dev/null' EXIT
place="$(docker port "$container" 5432/tcp)"
for _ in $(seq 600); do
  # It answers once before it is ready: over a socket of its own, while it is made.
  if docker exec "$container" pg_isready --quiet --host 127.0.0.1; then break; fi
  sleep 0.1
done
export MEMORY_SERVER_OVER="postgres://postgres:postgres@$place/postgres"
"$@"
