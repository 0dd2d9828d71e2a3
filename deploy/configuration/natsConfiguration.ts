import { readFileSync } from 'node:fs';
import { readErrorCode } from '../../actors/readErrorCode.ts';
import { type NatsAccess, splitAddresses } from '../../streams/nats/natsAccess.ts';

const fileVariables = ['MINER_NATS_CREDENTIALS', 'MINER_NATS_CA'] as const;

/** The variables that say how NATS is reached. */
type NatsVariables = Readonly<Record<'MINER_NATS_URL' | (typeof fileVariables)[number], string | null>>;

/** Access to the configured NATS; null if this process runs its own local server. */
export function locateNats(variables: NatsVariables): NatsAccess | null {
  if (variables.MINER_NATS_URL === null) return null;
  return {
    url: variables.MINER_NATS_URL,
    credentialsFile: variables.MINER_NATS_CREDENTIALS,
    caFile: variables.MINER_NATS_CA,
  };
}

/** Whether one client can use these addresses together: only servers, one login, and TLS for all or none of them. */
export function isNatsUrl(text: string): boolean {
  const addresses = splitAddresses(text);
  if (!addresses.every((address) => URL.canParse(address))) return false;
  const urls = addresses.map((address) => new URL(address));
  const isServer = ({ protocol, hostname, pathname, search, hash }: URL) =>
    ['nats:', 'tls:'].includes(protocol) &&
    hostname !== '' &&
    ['', '/'].includes(pathname) &&
    search === '' &&
    hash === '';
  const logins = urls
    .map(({ username, password }) => `${username}:${password}`)
    .filter((login) => login !== ':');
  return (
    urls.every(isServer) &&
    new Set(urls.map(({ protocol }) => protocol)).size === 1 &&
    new Set(logins).size <= 1
  );
}

/** Contradictions between variables that are valid by themselves. */
export function findNatsProblems(variables: NatsVariables): string[] {
  const { MINER_NATS_URL: url } = variables;
  const given = fileVariables.flatMap((name) => {
    const path = variables[name];
    return path === null ? [] : [[name, path] as const];
  });
  if (url === null)
    return given.map(
      ([name]) => `${name} is set, but MINER_NATS_URL is not; expected the address of a server`,
    );
  const problems: string[] = [];
  if (url.includes('@') && variables.MINER_NATS_CREDENTIALS !== null)
    problems.push(
      'a user or token in MINER_NATS_URL and MINER_NATS_CREDENTIALS are set; expected one of them',
    );
  if (variables.MINER_NATS_CA !== null && !url.startsWith('tls:'))
    problems.push('MINER_NATS_CA is set, but MINER_NATS_URL does not use TLS; expected tls://host:port');
  return [...problems, ...given.flatMap(([name, path]) => findFileProblem(name, path))];
}

const login = [
  '-----BEGIN NATS USER JWT-----',
  'a credentials file of NATS, with a user JWT and its seed',
] as const;
const certificate = ['-----BEGIN ', 'a file in PEM'] as const;

/** @returns the problem of a variable's file; empty without one. */
export function findFileProblem(name: string, path: string): string[] {
  const [part, expected] = name === 'MINER_NATS_CREDENTIALS' ? login : certificate;
  try {
    return readFileSync(path).includes(part)
      ? []
      : [`${name} is ${JSON.stringify(path)}; expected ${expected}`];
  } catch (error) {
    const code = readErrorCode(error) ?? 'unreadable';
    return [`${name} is ${JSON.stringify(path)}, which cannot be read (${code}); expected ${expected}`];
  }
}
