import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { type ConnectionOptions, credsAuthenticator } from '@nats-io/transport-node';

export interface NatsAccess {
  /**
   * `nats://host:port`, or `tls://host:port` to require TLS; several are separated by commas. `user:password@` or `token@` may precede
   * the host, percent-encoded, in the first one or the same in all.
   */
  readonly url: string;
  /** A credentials file, with a user's JWT and seed. */
  readonly credentialsFile?: string | null;
  /** PEM file of the certificate authorities that the server's certificate is checked with; null for Node's default. */
  readonly caFile?: string | null;
}

type AccessOptions = Pick<ConnectionOptions, 'user' | 'pass' | 'token' | 'authenticator' | 'tls'>;

/** Splits addresses. Later ones may lack the `nats://` or `tls://` of the first. */
export function splitAddresses(url: string): string[] {
  const [scheme] = /^\s*\w+:\/\//.exec(url) ?? [''];
  return url.split(',').map((address) => (address.includes('://') ? '' : scheme) + address.trim());
}

/**
 * Translates addresses for the client, which ignores the user in an address and treats `tls:` as `nats:`.
 *
 * @param onCertificate called with the certificate of a server before it is accepted.
 */
export function readNatsAccess(
  access: NatsAccess,
  onCertificate: (certificate: PeerCertificate) => void = () => undefined,
): AccessOptions & { readonly servers: string[] } {
  const addresses = splitAddresses(access.url).map((address) => new URL(address));
  const { caFile } = access;
  return {
    servers: addresses.map(({ protocol, host }) => `${protocol}//${host}`),
    ...readLogin(access, addresses),
    ...(addresses.some(({ protocol }) => protocol === 'tls:') && {
      tls: {
        ...(caFile && { caFile }),
        // The client passes this option on to Node, but its types lack it.
        ...{
          checkServerIdentity: createIdentityCheck(
            addresses.map(({ hostname }) => hostname),
            onCertificate,
          ),
        },
      },
    }),
  };
}

/**
 * If the client connects to an IP address, it passes no host to Node, which then assumes `localhost`. In that case the certificate has
 * to match one of the configured addresses.
 */
function createIdentityCheck(
  hosts: readonly string[],
  onCertificate: (certificate: PeerCertificate) => void,
): typeof checkServerIdentity {
  const ipAddresses = hosts.map((host) => host.replace(/^\[|\]$/g, '')).filter((host) => isIP(host) !== 0);
  const isUnnamed = (name: string) =>
    name === 'localhost' && ipAddresses.length > 0 && !hosts.includes('localhost');
  return (name, certificate) => {
    onCertificate(certificate);
    const allowed = isUnnamed(name) ? ipAddresses : [name];
    const errors = allowed.map((one) => checkServerIdentity(one, certificate));
    return errors.includes(undefined) ? undefined : errors[0];
  };
}

function readLogin({ credentialsFile }: NatsAccess, addresses: readonly URL[]): AccessOptions {
  if (credentialsFile) {
    const read = createFileReader(credentialsFile);
    return { authenticator: (nonce) => credsAuthenticator(read())(nonce) };
  }
  const { username = '', password = '' } = addresses.find((address) => address.username !== '') ?? {};
  if (username === '') return {};
  if (password === '') return { token: decodeURIComponent(username) };
  return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
}

/** Reads a file for each connection, since it may have been renewed. While it is missing, its last content counts. */
function createFileReader(path: string): () => Uint8Array {
  let last = readFileSync(path);
  return () => {
    try {
      last = readFileSync(path);
    } catch {
      // The file is being replaced.
    }
    return last;
  };
}
