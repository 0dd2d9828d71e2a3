/** A shorter password would match ordinary words. */
const passwordLengthMin = 4;
/** A shorter part of a path or query is the name of a network or database rather than a key. */
const keyLengthMin = 12;
const mask = '***';

type Redaction = (text: string) => string;

/**
 * Masks secrets in text: user, password and keys of the addresses in the environment. It knows the forms that errors of
 * clients use: as given, as clients write them, decoded, and inside JSON. Hosts and ports stay, since an operator needs them.
 */
export function createRedaction(environment: Readonly<Record<string, string | undefined>>): Redaction {
  const {
    MINER_NATS_URL: servers = '',
    MINER_CLICKHOUSE_URL: database = '',
    MINER_RPC_URL: nodes = '',
  } = environment;
  const areNodes = nodes.split(',').every((node) => URL.canParse(node));
  const addresses = [...servers.split(','), database, ...(areNodes ? nodes.split(',') : [nodes])];
  const secrets = addresses
    .flatMap((address) => [address, normalize(address)])
    .flatMap((address) => listSecrets(address.trim()))
    .flatMap((secret) => [secret, decode(secret)])
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  // A secret that contains another one comes first.
  const longestFirst = [...new Set(secrets)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((safe, secret) => safe.replaceAll(secret, mask), text);
}

/** @param address as given; an unreadable one is secret as a whole. */
function listSecrets(address: string): string[] {
  const match = /^[a-z]+:\/\/(?:([^/?#]*)@)?[^/?#@]+(.*)$/i.exec(address);
  if (match === null) return [address].filter(({ length }) => length >= passwordLengthMin);
  const [, user = '', rest = ''] = match;
  const [, password = user] = /^[^:]*:(.*)$/.exec(user) ?? [];
  return [
    ...[`${user}@`, password].filter(({ length }) => length >= passwordLengthMin),
    ...rest.split(/[/?&=#]/).filter(({ length }) => length >= keyLengthMin),
  ];
}

/** The address as clients write it after parsing. */
function normalize(address: string): string {
  try {
    return new URL(address.trim()).href;
  } catch {
    return address;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function redactOutput(redact: Redaction): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
    stream.write = (chunk: unknown, ...rest: unknown[]) =>
      write(typeof chunk === 'string' ? redact(chunk) : chunk, ...rest);
  }
}
