import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { type ConnectionOptions, credsAuthenticator, nkeyAuthenticator } from '@nats-io/transport-node';

/** Where NATS is, and as whom it is connected to. */
export interface NatsAccess {
  /**
   * `nats://host:port`, or `tls://host:port` where TLS is required, several separated by commas. Before the host a user and a password
   * (`user:password@`) or a token (`token@`), percent-encoded, the same in all.
   */
  readonly url: string;
  /** A credentials file: a user's JWT and seed. */
  readonly credentialsFile?: string | null;
  readonly nkeyFile?: string | null;
  /** Certificates in PEM that the servers' are verified with; null for those of Node. */
  readonly caFile?: string | null;
  /** This client's certificate and its key, in PEM. */
  readonly certificateFile?: string | null;
  readonly keyFile?: string | null;
}

type AccessOptions = Pick<ConnectionOptions, 'user' | 'pass' | 'token' | 'authenticator' | 'tls'>;

/** Options of the client, which ignores users of an address and takes `tls:` for `nats:`. */
export function readNatsAccess(access: NatsAccess): AccessOptions & { readonly servers: string[] } {
  const addresses = access.url.split(',').map((address) => new URL(address.trim()));
  const { caFile, certificateFile, keyFile } = access;
  return {
    servers: addresses.map(({ protocol, host }) => `${protocol}//${host}`),
    ...readLogin(access, addresses),
    ...(addresses.some(({ protocol }) => protocol === 'tls:') && {
      tls: {
        ...(caFile && { caFile }),
        ...(certificateFile && { certFile: certificateFile }),
        ...(keyFile && { keyFile }),
        // Passed on to Node by the client, whose own options have no such one.
        ...{ checkServerIdentity: createIdentityCheck(addresses.map(({ hostname }) => hostname)) },
      },
    }),
  };
}

/**
 * The client names no host to Node where it connects to an IP address, and Node takes that for `localhost`. Then the certificate has to be for one of the
 * configured addresses.
 */
function createIdentityCheck(hosts: readonly string[]): typeof checkServerIdentity {
  const ipAddresses = hosts.map((host) => host.replace(/^\[|\]$/g, '')).filter((host) => isIP(host) !== 0);
  const isUnnamed = (name: string) =>
    name === 'localhost' && ipAddresses.length > 0 && !hosts.includes('localhost');
  return (name, certificate) => {
    const allowed = isUnnamed(name) ? ipAddresses : [name];
    const errors = allowed.map((one) => checkServerIdentity(one, certificate));
    return errors.includes(undefined) ? undefined : errors[0];
  };
}

function readLogin({ credentialsFile, nkeyFile }: NatsAccess, addresses: readonly URL[]): AccessOptions {
  if (credentialsFile) return { authenticator: credsAuthenticator(createFileReader(credentialsFile)) };
  if (nkeyFile) {
    const read = createFileReader(nkeyFile);
    return { authenticator: nkeyAuthenticator(() => extractSeed(read())) };
  }
  const { username = '', password = '' } = addresses.find((address) => address.username !== '') ?? {};
  if (username === '') return {};
  if (password === '') return { token: decodeURIComponent(username) };
  return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
}

/** Reads a file for each connection, since it may have been renewed; what it held before counts while it is not there. */
function createFileReader(path: string): () => Uint8Array {
  let last = readFileSync(path);
  return () => {
    try {
      last = readFileSync(path);
    } catch {
      // It is just being replaced.
    }
    return last;
  };
}

/** The line with a seed; others are comments. */
export function extractSeed(content: Uint8Array): Uint8Array {
  const seed = /^\s*(S[A-Z2-7]{57})\s*$/m.exec(Buffer.from(content).toString('latin1'))?.[1];
  if (seed === undefined) throw new Error('the file holds no seed of an nkey');
  return Buffer.from(seed);
}
