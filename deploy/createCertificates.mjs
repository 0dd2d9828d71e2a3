// Gives NATS a certificate: `node deploy/createCertificates.mjs [--folder FOLDER] [NAME...]`, after createSecrets.mjs. A name or address is one by which publishers
// elsewhere reach NATS; the names within compose.yaml and Kubernetes are always in the certificate. The first run also creates an authority of its own, and makes
// every address of NATS in the folder ask for TLS. Later runs renew the certificate, with the same names unless others are given. It needs openssl.
import { execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;
const { values, positionals: given } = parseArgs({
  options: { folder: { type: 'string', default: join(here, 'secrets') } },
  allowPositionals: true,
});
const folder = resolve(values.folder);
const [authorityKey, authority] = [join(folder, 'nats-ca.key'), join(folder, 'nats-ca/nats-ca.pem')];
const server = join(folder, 'nats-tls/server.pem');
const configuration = join(folder, 'nats-tls/tls.conf');
// One server in compose.yaml; in Kubernetes the servers by their names, from any namespace, and through `kubectl port-forward`.
const usualNames = [
  'nats',
  ...['nats-0', 'nats-1', 'nats-2'].map((name) => `${name}.nats`),
  ...['nats.miner', 'nats.miner.svc', 'nats.miner.svc.cluster.local'],
  ...['localhost', '127.0.0.1'],
];
const [authorityDays, serverDays] = [3_650, 800];

if (!existsSync(configuration)) fail(`${configuration} is not there; run createSecrets.mjs first`);
for (const name of given)
  if (!/^[\w*.:-]+$/.test(name)) fail(`${JSON.stringify(name)} is not the name or address of a host`);
process.umask(0o022);
const names = [...new Set([...usualNames, ...(given.length > 0 ? given : listNames())])];
const work = mkdtempSync(join(folder, 'certificate-'));
try {
  createCertificate();
} finally {
  rmSync(work, { recursive: true });
}
requireTls();
const { validTo } = new X509Certificate(readFileSync(server));
console.log(`createCertificates: ${server} is valid for ${names.join(', ')} until ${validTo}`);

/** Writes the certificate and its key into one file, so that they are replaced together. */
function createCertificate() {
  const settings = join(work, 'openssl.cnf');
  const alternatives = names.map((name) => `${isIP(name) === 0 ? 'DNS' : 'IP'}:${name}`).join(',');
  writeFileSync(
    settings,
    `[req]
distinguished_name = name
prompt = no
[name]
CN = Authority of NATS
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
# A server is also the client of other servers.
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = ${alternatives}
`,
  );
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-config', settings];
  if (!existsSync(authority)) {
    const [key, certificate] = [join(work, 'ca.key'), join(work, 'ca.pem')];
    const lifetime = ['-days', String(authorityDays), '-extensions', 'authority'];
    openssl('req', '-x509', ...newKey, ...lifetime, '-keyout', key, '-out', certificate);
    renameSync(key, authorityKey);
    renameSync(certificate, authority);
  }
  const [key, request, certificate] = ['key', 'request', 'certificate'].map((name) => join(work, name));
  openssl('req', '-new', ...newKey, '-subj', '/CN=nats', '-keyout', key, '-out', request);
  const signed = [
    '-CA',
    authority,
    '-CAkey',
    authorityKey,
    '-set_serial',
    `0x${randomBytes(16).toString('hex')}`,
  ];
  const extensions = ['-extfile', settings, '-extensions', 'server'];
  const lifetime = ['-days', String(serverDays)];
  openssl('x509', '-req', '-in', request, ...signed, ...extensions, ...lifetime, '-out', certificate);
  const both = join(work, 'server.pem');
  writeFileSync(both, `${readFileSync(certificate, 'utf8')}${readFileSync(key, 'utf8')}`);
  copyFileSync(authority, join(folder, 'nats-tls/nats-ca.pem'));
  renameSync(both, server);
}

/** Lets the servers and everything that connects to them use TLS. */
function requireTls() {
  writeFileSync(
    configuration,
    `# By createCertificates.mjs. nats-server reads the files again when it receives SIGHUP.
tls {
  cert_file: "/etc/nats/tls/server.pem"
  key_file: "/etc/nats/tls/server.pem"
  ca_file: "/etc/nats/tls/nats-ca.pem"
  # Seconds for a handshake. The usual two are too few for a gateway on a slow line, or on a busy machine.
  timeout: 15
}
`,
  );
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.env'))) {
    const path = join(folder, name);
    const before = readFileSync(path, 'utf8');
    const changed = before
      .replace(/^(MINER_NATS_URL=)nats:(.*)$/m, '$1tls:$2\nMINER_NATS_CA=/run/secrets/miner/nats-ca.pem')
      .replace(/^(NATS_URL=)nats:(.*)$/m, '$1tls:$2\nNATS_CA=secrets/nats-ca/nats-ca.pem');
    if (changed !== before) writeFileSync(path, changed);
  }
}

/** Names of the certificate that is replaced. */
function listNames() {
  if (!existsSync(server)) return [];
  const { subjectAltName = '' } = new X509Certificate(readFileSync(server));
  return subjectAltName.split(', ').map((name) => name.replace(/^(?:DNS|IP Address):/, ''));
}

function openssl(...args) {
  try {
    execFileSync('openssl', args, { stdio: 'pipe' });
  } catch (error) {
    fail(error.code === 'ENOENT' ? 'openssl is not installed' : `openssl ${args[0]}: ${error.stderr}`);
  }
}

function fail(message) {
  console.error(`createCertificates: ${message}`);
  process.exit(1);
}
