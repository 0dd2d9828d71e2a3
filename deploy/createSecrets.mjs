// Creates passwords, in the files that compose.yaml and the Kubernetes manifests read: `node deploy/createSecrets.mjs [FOLDER]`.
// Existing files stay as they are, so it may be run again.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const folder = resolve(process.argv[2] ?? join(here, 'secrets'));
const natsUsers = [
  'ingest',
  'serve',
  'index',
  'gateway',
  'modules',
  'signer',
  'oracle',
  'reporter',
  'operator',
  'sys',
];
const databaseUsers = ['ingest', 'serve', 'operator'];

const password = () => randomBytes(24).toString('base64url');
const natsPasswords = Object.fromEntries(natsUsers.map((user) => [user, password()]));
const databasePasswords = Object.fromEntries(databaseUsers.map((user) => [user, password()]));

// Only its owner may enter the folder. Its files are readable: containers mount single files, and read them as users of their own.
mkdirSync(folder, { recursive: true, mode: 0o700 });
const connections = [
  // These belong together: a new one would not match the others.
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
else for (const [name, content] of connections) writeFileSync(join(folder, name), content, { mode: 0o644 });
const grafana = join(folder, 'grafana-password');
if (!existsSync(grafana)) writeFileSync(grafana, password(), { mode: 0o644 });
console.log(`createSecrets: ${folder}`);

function natsUrl(user) {
  return `MINER_NATS_URL=nats://${user}:${natsPasswords[user]}@nats:4222\n`;
}

function databaseUrl(user) {
  return `MINER_CLICKHOUSE_URL=http://${user}:${databasePasswords[user]}@clickhouse:8123/default\n`;
}

function sha256(text) {
  return createHash('sha256').update(text).digest('hex');
}
