// Creates passwords, in the files that compose.yaml reads: `node deploy/createSecrets.mjs [--gateway ID]...`. Existing passwords stay unchanged, so it may
// be run again, and adds what a new version needs. `--gateway` adds a user of NATS who may publish the readings of this installation only.
// `--rotate` instead replaces every password, in each file that has it, and keeps everything else.
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const { rotate: isRotating, gateway: installations = [] } = readOptions();
const folder = join(here, 'secrets');
// New files are written into the first folder, which gets the second name once it is complete.
const [unfinished, rotated] = [join(folder, 'rotated.unfinished'), join(folder, 'rotated')];
const natsUsers = ['ingest', 'serve', 'index', 'modules', 'signer', 'oracle', 'reporter', 'operator', 'sys'];
const databaseUsers = ['ingest', 'serve', 'operator'];

// Containers read the files as other users, so this user's mask must not apply.
process.umask(0o022);
const password = () => randomBytes(24).toString('base64url');
if (isRotating) {
  if (installations.length > 0) fail('--rotate adds no gateway: name it in a run of its own');
  rotate();
  process.exit();
}
if (existsSync(rotated))
  fail(
    `${folder} has old and new passwords, since a run with --rotate was stopped; run it again with --rotate`,
  );
const natsPasswords = Object.fromEntries(natsUsers.map((user) => [user, password()]));
const databasePasswords = Object.fromEntries(databaseUsers.map((user) => [user, password()]));

// Only its owner may enter the folder. What is in it is readable, since containers mount single files and folders and read them as other users.
mkdirSync(folder, { recursive: true });
chmodSync(folder, 0o700); // It may have existed.
// nats-server reads the first folder, and its clients the second one.
for (const name of ['nats-tls', 'nats-ca']) mkdirSync(join(folder, name), { recursive: true });
const connections = [
  // These files belong together: a new one would not match the others.
  [
    'nats-passwords.conf',
    natsUsers.map((user) => `${user.toUpperCase()}_PASSWORD: "${natsPasswords[user]}"\n`).join(''),
  ],
  [
    'clickhouse-passwords.yaml',
    `users:\n${databaseUsers.map((user) => `  ${user}:\n    password_sha256_hex: ${sha256(databasePasswords[user])}\n`).join('')}`,
  ],
  ['ingest.env', `${natsUrl('ingest')}${databaseUrl('ingest')}`],
  ['serve.env', `${natsUrl('serve')}${databaseUrl('serve')}`],
  ['index.env', `${natsUrl('index')}MINER_RPC_URL=\n`],
  [
    'operator.env',
    `NATS_URL=nats://operator:${natsPasswords.operator}@nats:4222\nCLICKHOUSE_PASSWORD=${databasePasswords.operator}\n`,
  ],
];
if (connections.some(([name]) => existsSync(join(folder, name))))
  console.log(`createSecrets: ${folder} has passwords already; they stay as they are`);
else for (const [name, content] of connections) writeFileSync(join(folder, name), content);
createFile('nats-tls/tls.conf', '# Without TLS. RUNNING.md, "TLS for NATS", says what to write here.\n');
createFile('nats-gateways.conf', '');
for (const id of installations) addGateway(id);
createFile('grafana-password', password());
console.log(`createSecrets: ${folder}`);

function readOptions() {
  try {
    return parseArgs({
      options: { rotate: { type: 'boolean' }, gateway: { type: 'string', multiple: true } },
    }).values;
  } catch (error) {
    return fail(`${error.message}; expected [--gateway ID]... or --rotate`);
  }
}

/** Replaces each password in every file of the folder, and its hash in the users of ClickHouse. */
function rotate() {
  if (finishRotation())
    return console.log(`createSecrets: ${folder} has the passwords of a run that was stopped`);
  const isFile = (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile() === true;
  const files = existsSync(folder) ? readdirSync(folder).filter(isFile) : [];
  for (const name of [
    'nats-passwords.conf',
    'nats-gateways.conf',
    'clickhouse-passwords.yaml',
    'operator.env',
    'grafana-password',
  ])
    if (!files.includes(name))
      fail(`${join(folder, name)} is not there; --rotate replaces the passwords of a complete folder`);
  const texts = new Map(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const find = (name, pattern) => [...texts.get(name).matchAll(pattern)].map(([, old]) => old);
  const hashes = find('clickhouse-passwords.yaml', /password_sha256_hex: (\w+)/g);
  const ofDatabase = [...texts.keys()].flatMap((name) =>
    find(name, /(?:MINER_CLICKHOUSE_URL=https?:\/\/[^:/]+:|CLICKHOUSE_PASSWORD=)([^@\s]+)/g),
  );
  for (const hash of hashes)
    if (!ofDatabase.some((old) => sha256(old) === hash))
      fail(
        `${folder} has no file with the password of a user of clickhouse-passwords.yaml, whose hash is ${hash}`,
      );
  const replaced = new Map();
  const others = [
    ...['nats-passwords.conf', 'nats-gateways.conf'].flatMap((name) => find(name, /password: "([^"]+)"/gi)),
    texts.get('grafana-password').trim(),
  ];
  for (const old of [...others, ...ofDatabase]) {
    if (old.length < 12)
      fail(
        `a password in ${folder} is shorter than 12 characters, and could stand for something else; replace it by hand`,
      );
    const next = password();
    // In an address the password is percent-encoded.
    replaced.set(old, next).set(encodeURIComponent(old), next).set(sha256(old), sha256(next));
  }
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  for (const [name, text] of texts) {
    const changed = [...replaced].reduce((result, [old, next]) => result.replaceAll(old, next), text);
    if (changed !== text) writeFileSync(join(unfinished, name), changed);
  }
  renameSync(unfinished, rotated);
  finishRotation();
  console.log(`createSecrets: ${folder} has new passwords now`);
}

/** Replaces the old files by complete new ones, from this run or a killed one. Returns whether there were any. */
function finishRotation() {
  if (!existsSync(rotated)) return false;
  for (const name of readdirSync(rotated)) renameSync(join(rotated, name), join(folder, name));
  rmSync(rotated, { recursive: true });
  return true;
}

/** Adds the account of a gateway unless it exists. */
function addGateway(id) {
  if (!/^[\w.:-]{1,128}$/.test(id))
    fail(`--gateway ${id}: expected 1 to 128 characters of A-Z a-z 0-9 . _ : -`);
  const [file, user, token] = [join(folder, 'nats-gateways.conf'), `gateway-${id}`, id.replaceAll('.', '~')];
  if (readFileSync(file, 'utf8').includes(`"${user}" {`)) return;
  appendFileSync(
    file,
    `"${user}" {
  users: [{ user: "${user}", password: "${password()}", permissions { publish: ["miner.counter.${token}"] } }]
  imports: [
    { service: { account: MINER, subject: "miner.counter.${token}" } }
    { stream: { account: INGEST, subject: "miner.refused.counter.${token}" } }
  ]
  limits { max_connections: 256, max_subscriptions: 1024, max_payload: 64KB }
}
`,
  );
}

/** Creates a file unless it exists. */
function createFile(name, content) {
  if (!existsSync(join(folder, name))) writeFileSync(join(folder, name), content);
}

function fail(message) {
  console.error(`createSecrets: ${message}`);
  process.exit(1);
}

function natsUrl(user) {
  return `MINER_NATS_URL=nats://${user}:${natsPasswords[user]}@nats:4222\n`;
}

function databaseUrl(user) {
  return `MINER_CLICKHOUSE_URL=http://${user}:${databasePasswords[user]}@clickhouse:8123/default\n`;
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
