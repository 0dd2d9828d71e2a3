# The commands of RUNBOOK.md, for bash and zsh. In deploy/: `. ./operator.sh`.

# The command line of NATS, through this machine.
nats() (set -a; . ./secrets/operator.env; command nats --server "$(echo "$NATS_URL" | sed 's/@nats:/@127.0.0.1:/')" "$@")
# A statement for ClickHouse.
query() (. ./secrets/operator.env; in_clickhouse clickhouse-client --user operator --password "$CLICKHOUSE_PASSWORD" --database system --query "$1")
miner() { docker compose exec service node --env-file=/run/secrets/ingest.env dist/deploy/miner.js "$@"; }
# What a process waits for: `ready service`.
ready() { docker compose exec "$1" node -e "fetch('http://127.0.0.1:8081/readyz').then((r) => r.text()).then(console.log)"; }
in_clickhouse() { docker compose exec -T -u 101 clickhouse "$@"; }
# Runs a command with the disk of the stopped server of NATS: `stopped_nats ls /data`.
stopped_nats() { docker run --rm -i -v miner_nats:/data docker.io/library/nats:2.15.3-alpine "$@"; }
