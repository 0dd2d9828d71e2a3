#!/bin/sh
# Creates or replaces the secrets that the manifests read, from the files in deploy/secrets.
set -e
cd "$(dirname "$0")/../secrets"
secret() { kubectl -n miner create secret "$@" --dry-run=client -o yaml | kubectl apply -f -; }
secret generic miner-ingest --from-file=connections.env=ingest.env --from-file=nats-ca
secret generic miner-serve --from-file=connections.env=serve.env --from-file=nats-ca
secret generic miner-index --from-file=connections.env=index.env --from-file=nats-ca
secret generic miner-nats --from-file=nats-passwords.conf --from-file=nats-routes.conf
secret generic miner-nats-tls --from-file=nats-tls
secret generic miner-clickhouse --from-file=clickhouse-passwords.yaml
# Of the proxy. cert-manager may create it instead.
[ -e fullchain.pem ] || exit 0
secret tls miner-certificate --cert=fullchain.pem --key=privkey.pem
