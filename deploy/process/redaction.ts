/** Variables of one address each that may hold passwords, tokens or keys; `MINER_NATS_URL` holds several. */
const addressVariables = [
  'MINER_CLICKHOUSE_URL',
  'MINER_RPC_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const;
/** A shorter password would be found in ordinary words. */
const passwordLengthMin = 4;
/** A shorter part of a path or query is the name of a network or database rather than a key. */
const keyLengthMin = 12;
const mask = '***';

type Redaction = (text: string) => string;

/**
 * Of the user, password, and keys in path and query of the addresses in the environment, and of headers for a collector of traces, in the forms in
 * which errors of clients tell them: as they were given, as clients write them, decoded, and inside JSON. Hosts and ports stay, since an operator
 * needs them.
 */
export function createRedaction(environment: Readonly<Record<string, string | undefined>>): Redaction {
  const addresses = [
    ...(environment.MINER_NATS_URL ?? '').split(','),
    ...addressVariables.map((name) => environment[name] ?? ''),
  ];
  const secrets = addresses
    .flatMap((address) => [address, normalize(address)])
    .flatMap((address) => listSecrets(address.trim()))
    .concat(listHeaderValues(environment.OTEL_EXPORTER_OTLP_HEADERS ?? ''))
    .flatMap((secret) => [secret, decode(secret)])
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
  // What contains another one comes first.
  const longestFirst = [...new Set(secrets)].sort((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((safe, secret) => safe.replaceAll(secret, mask), text);
}

/** @param address as it was given; of one that cannot be read all is secret. */
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

/** @param headers as OpenTelemetry takes them: `name=value,name=value`. */
function listHeaderValues(headers: string): string[] {
  return headers
    .split(',')
    .map((header) => header.slice(header.indexOf('=') + 1).trim())
    .filter(({ length }) => length >= passwordLengthMin);
}

/** As clients write it, who take it apart and put it together again. */
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

/** Makes all that the process prints pass through a redaction. */
export function redactOutput(redact: Redaction): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
    stream.write = (chunk: unknown, ...rest: unknown[]) =>
      write(typeof chunk === 'string' ? redact(chunk) : chunk, ...rest);
  }
}
