#!/bin/sh
# `npm run interop`: runs the tests that talk to NATS against current servers, which Debian does not have. Builds the newest of each version into the user's cache, with Go.
# Other tests may be named: `npm run interop -- test/streams/ensureStreams.test.ts`.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- test/streams test/deploy/operate/serverSettings.test.ts

cache=${XDG_CACHE_HOME:-$HOME/.cache}/miner
status=0
for version in v2.12 v2.14; do
  GOBIN=$cache/nats-$version go install "github.com/nats-io/nats-server/v2@$version"
  "$cache/nats-$version/nats-server" --version
  # Tests take the first nats-server of the PATH.
  PATH=$cache/nats-$version:$PATH npx vitest run "$@" || status=1
done
exit $status
