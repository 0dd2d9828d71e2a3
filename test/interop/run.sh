#!/bin/sh
# `npm run interop`: runs the indexer on go-ethereum, Python's clients on the event stream, clients that generators make of the OpenAPI document, and the tests that depend on NATS on current servers. Debian has
# none of them. Builds the newest server of each version into the user's cache, with Go, and installs the clients there, with pip. Other tests on NATS may be named instead: `npm run interop -- test/streams/ensureStreams.test.ts`.
set -eu
cd "$(dirname "$0")/../.."

cache=${XDG_CACHE_HOME:-$HOME/.cache}/miner
status=0
if [ $# -eq 0 ]; then
  geth=$cache/geth-v1.17
  GOBIN=$geth go install github.com/ethereum/go-ethereum/cmd/geth@v1.17
  "$geth/geth" --version
  python=$cache/python
  python3 -m venv "$python"
  "$python/bin/pip" install --quiet requests==2.34.2 sseclient-py==1.9.0 requests-sse==0.5.3 httpx==0.28.1 httpx-sse==0.4.3
  PATH=$python/bin:$geth:$PATH npx vitest run --config test/interop/vitest.config.ts --exclude "**/natsCluster*" || status=1
  set -- test/streams test/deploy/operate/serverSettings.test.ts \
    test/endToEnd/natsCluster.test.ts test/endToEnd/twoIngests.test.ts
fi
for version in v2.11.10 v2.12 v2.15; do
  nats=$cache/nats-$version
  GOBIN=$nats go install "github.com/nats-io/nats-server/v2@$version"
  "$nats/nats-server" --version
  # Tests take the first nats-server of the PATH.
  PATH=$nats:$PATH npx vitest run --config test/interop/vitest.config.ts natsCluster || status=1
  PATH=$nats:$PATH npx vitest run "$@" || status=1
done
exit $status
