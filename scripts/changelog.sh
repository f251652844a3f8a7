#!/usr/bin/env bash
# Prints the entries of changelog.d as one page, by kind. Fails for an entry without a kind.
#   scripts/changelog.sh > page.md
set -euo pipefail
cd "$(dirname "$0")/../changelog.d"

kinds=(breaking added changed fixed faster)
pattern="^kind: ($(IFS='|'; echo "${kinds[*]}"))$"
for entry in *.md; do
  [ "$entry" = README.md ] || head -n 1 "$entry" | grep -Eq "$pattern" || { echo "$entry: the first line is no kind" >&2; exit 1; }
done
for kind in "${kinds[@]}"; do
  entries=$(grep -lx "kind: $kind" -- *.md | grep -vx README.md || true)
  [ -n "$entries" ] || continue
  printf '## %s\n\n' "${kind^}"
  for entry in $entries; do tail -n +3 "$entry"; echo; done
done
