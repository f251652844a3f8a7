# Runs a command over the ready-made cluster; a folder that holds one already, as after a restart, stays as it is.
set -eu
[ -e "$PGDATA/PG_VERSION" ] || cp -a /opt/cluster/. "$PGDATA"
exec "$@"
