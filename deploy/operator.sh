# The commands of RUNBOOK.md, for bash and zsh. In deploy/: `. ./operator.sh` for compose.yaml, `. ./operator.sh kubernetes` for Kubernetes.

# The command line of NATS, through this machine. In Kubernetes, `kubectl -n miner port-forward service/nats 4222` has to run.
nats() (set -a; . ./secrets/operator.env; command nats --server "$(echo "$NATS_URL" | sed 's/@nats:/@127.0.0.1:/')" "$@")
# A statement for ClickHouse.
query() (. ./secrets/operator.env; in_clickhouse clickhouse-client --user operator --password "$CLICKHOUSE_PASSWORD" --database system --query "$1")
read_readiness="fetch('http://127.0.0.1:8081/readyz').then((r) => r.text()).then(console.log)"

if [ "${1:-compose}" = kubernetes ]; then
  miner() { kubectl -n miner exec deploy/miner-ingest -- node --env-file=/run/secrets/miner/connections.env dist/deploy/miner.js "$@"; }
  # What a process waits for: `ready miner-serve`.
  ready() { kubectl -n miner exec "deploy/$1" -- node -e "$read_readiness"; }
  in_clickhouse() { kubectl -n miner exec -i clickhouse-0 -- "$@"; }
  # Runs a command in a pod with the disk of a stopped server of NATS: `stopped_nats 0 ls /data`.
  stopped_nats() {
    n=$1; shift
    kubectl apply -f - >&2 <<END
apiVersion: v1
kind: Pod
metadata: { name: nats-disk-$n, namespace: miner }
spec:
  automountServiceAccountToken: false
  securityContext: { runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000, seccompProfile: { type: RuntimeDefault } }
  containers:
    - name: disk
      image: docker.io/library/nats:2.15.3-alpine
      command: [sleep, "86400"]
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
      volumeMounts: [{ name: data, mountPath: /data }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: data-nats-$n } }]
END
    kubectl -n miner wait --for=condition=Ready "pod/nats-disk-$n" --timeout=300s >&2
    kubectl -n miner exec -i "nats-disk-$n" -- "$@"
    kubectl -n miner delete pod "nats-disk-$n" >&2
  }
else
  miner() { docker compose exec service node --env-file=/run/secrets/ingest.env dist/deploy/miner.js "$@"; }
  # What a process waits for: `ready service`.
  ready() { docker compose exec "$1" node -e "$read_readiness"; }
  in_clickhouse() { docker compose exec -T -u 101 clickhouse "$@"; }
  # Runs a command with the disk of the stopped server of NATS: `stopped_nats 0 ls /data`.
  stopped_nats() { shift; docker run --rm -i -v miner_nats:/data docker.io/library/nats:2.15.3-alpine "$@"; }
fi
