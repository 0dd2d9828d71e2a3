import { isIP } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { listKeys } from '../actors/schemas/listKeys.ts';
import type { DatabaseLocation } from '../storage/database.ts';
import { rowsTtlDaysMax, rowsTtlDaysMin } from '../storage/rowsTtl.ts';
import { chainProofs } from '../streams/indexer/chainProofs.ts';
import { findFileProblem, findNatsProblems, isNatsUrl } from './natsConfiguration.ts';

/** One setting of the service: an environment variable, its default, and what it means. */
interface Variable<Schema extends z.ZodType> {
  readonly schema: Schema;
  readonly defaultValue: string;
  readonly meaning: string;
  /** What a value must be, for the message of a bad one. */
  readonly expected: string;
}

function variable<Schema extends z.ZodType>(
  schema: Schema,
  defaultValue: string,
  meaning: string,
  expected: string,
): Variable<Schema> {
  return { schema, defaultValue, meaning, expected };
}

const port = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .refine((value) => value <= 65_535);
const listOf = (isEntry: (entry: string) => boolean) =>
  z
    .string()
    .transform((text) => text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])))
    .refine((entries) => entries.every(isEntry));
const urlOf = (...protocols: string[]) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol));
const unset = z.literal('').transform(() => null);
const file = z.union([unset, z.string()]);
const portExpected = 'a port, 0 to 65535 (0: any free one)';

/**
 * Every variable that the service reads. The check at the start, `--help` and the README's table are made from this
 * list.
 */
export const variables = {
  MINER_HTTP_PORT: variable(port, '8080', 'Port of the public routes', portExpected),
  MINER_OPS_PORT: variable(
    port,
    '9090',
    "Operators' port: /metrics, /healthz, /readyz, /diagnosis",
    portExpected,
  ),
  MINER_HOST: variable(
    z.string().min(1),
    '127.0.0.1',
    'Address that the public port listens on',
    'an address of this machine, such as 0.0.0.0',
  ),
  MINER_OPS_HOST: variable(
    z.string().min(1),
    '127.0.0.1',
    "Address that the operators' port listens on",
    'an address of this machine, such as 0.0.0.0',
  ),
  MINER_OPS_NAMES: variable(
    listOf((entry) => /^[\w-]+(\.[\w-]+)+$/.test(entry)),
    '',
    "Host names with a dot by which the operators' port may be asked; addresses and names without one always may",
    'host names such as miner.example.org, separated by commas',
  ),
  MINER_NATS_URL: variable(
    z.union([unset, z.string().refine(isNatsUrl)]),
    '',
    'NATS with JetStream, by a user and password or a token where it has them; unset: a local nats-server with its data under MINER_DATA_DIR',
    'nats://user:password@host:port, nats://token@host:port or tls:// where TLS is required, several of one login separated by commas',
  ),
  MINER_NATS_CREDENTIALS: variable(
    file,
    '',
    'Credentials file of a user of NATS (JWT and seed), instead of a user in MINER_NATS_URL',
    'the path of a file',
  ),
  MINER_NATS_NKEY: variable(
    file,
    '',
    'File with the seed of an nkey of NATS, instead of a user in MINER_NATS_URL',
    'the path of a file',
  ),
  MINER_NATS_CA: variable(
    file,
    '',
    'Certificates that those of `tls:` servers are verified with; unset: those that Node trusts',
    'the path of a file in PEM',
  ),
  MINER_NATS_CERTIFICATE: variable(
    file,
    '',
    'Certificate of this client, where NATS asks for one',
    'the path of a file in PEM',
  ),
  MINER_NATS_KEY: variable(file, '', 'Key of that certificate', 'the path of a file in PEM'),
  MINER_CLICKHOUSE_URL: variable(
    z.union([unset, z.string().refine(isClickHouseUrl)]),
    '',
    'ClickHouse server, https: for TLS; unset: embedded, under MINER_DATA_DIR',
    'http://user:password@host:port/database, or https:, without a query',
  ),
  MINER_CLICKHOUSE_CA: variable(
    file,
    '',
    'Certificates that that of an `https:` server is verified with; unset: those that Node trusts',
    'the path of a file in PEM',
  ),
  MINER_CLICKHOUSE_CLUSTER: variable(
    z.union([unset, z.string().regex(/^(\{\w+\}|[\w.-]{1,128})$/)]),
    '',
    'Cluster of that server: tables are created replicated, on all servers of it',
    'the name of a cluster of system.clusters, or a macro such as {cluster}',
  ),
  MINER_RPC_URL: variable(
    z.union([unset, urlOf('http:', 'https:', 'ws:', 'wss:')]),
    '',
    'Ethereum node; unset: no indexer in this process',
    'an http(s) or ws(s) address',
  ),
  MINER_CHAIN_PROOFS: variable(
    z.enum(chainProofs),
    'all',
    'Far behind the tip: `all` proves every block; `logs` only those that the node says hold logs, faster, and one that it leaves out goes unnoticed',
    'all or logs',
  ),
  MINER_DATA_DIR: variable(z.string().min(1), './data', 'Folder of the local parts', 'a path'),
  MINER_DEPLOYMENT: variable(
    z.union([unset, z.string()]),
    '',
    'Deployment file: installation, genesis, contracts (`local` makes its own)',
    'the path of a JSON file',
  ),
  MINER_ALLOWED_ORIGINS: variable(
    listOf((entry) => URL.canParse(entry) && new URL(entry).origin === entry),
    '',
    'Websites whose browsers may ask, separated by commas',
    'origins such as https://example.org, without a path, separated by commas',
  ),
  MINER_TRUSTED_PROXIES: variable(
    listOf(isAddressOrBlock),
    '',
    'Proxies whose X-Forwarded-For is believed, separated by commas',
    'IP addresses or CIDR blocks such as 10.0.0.0/8, separated by commas',
  ),
  MINER_RATE_LIMITS: variable(
    z.enum(['on', 'off']).transform((text) => text === 'on'),
    'on',
    'Rate limits of the public routes, and 503 of expensive ones while the event loop is late',
    'on or off',
  ),
  MINER_PORT_SHARED: variable(
    z.enum(['on', 'off']).transform((text) => text === 'on'),
    'off',
    'Several processes may listen on MINER_HTTP_PORT (Linux); each has rate limits of its own',
    'on or off',
  ),
  MINER_HTTP_FALLBACK: variable(
    z.enum(['development', 'accept', 'refuse']),
    'development',
    'Where the native HTTP engine does not load: `accept` serves with its slow substitute in JavaScript, `refuse` ends; `development` accepts unless NODE_ENV is production',
    'development, accept or refuse',
  ),
  MINER_TRANSACTION_URL: variable(
    z.union([unset, urlOf('http:', 'https:').refine((text) => text.endsWith('/'))]),
    '',
    'Address of a transaction in a block explorer, without its hash: pages link transactions to it',
    'an http(s) address that ends with /, such as https://sepolia.etherscan.io/tx/',
  ),
  MINER_PUBLIC_URL: variable(
    z.union([unset, urlOf('http:', 'https:').transform((text) => text.replace(/\/$/, ''))]),
    '',
    'Address under which people open the pages, for previews of shared links; unset: links have no preview image',
    'an http(s) address such as https://mining.example.org',
  ),
  MINER_SECURITY_CONTACT: variable(
    z.union([unset, urlOf('mailto:', 'https:').refine((text) => /^[!-~]+$/.test(text))]),
    '',
    'Where to report a weakness of this installation, for `/.well-known/security.txt`; unset: there is none',
    'an address such as mailto:security@example.org or https://example.org/security',
  ),
  MINER_RETENTION_DAYS: variable(
    z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number),
    '0',
    'Days after which NATS removes messages, those of the chain aside; 0 keeps all, which a rebuild needs',
    'a whole number of days, 0 or more',
  ),
  MINER_STREAM_REPLICAS: variable(
    z.union([
      unset,
      z
        .string()
        .regex(/^[1-5]$/)
        .transform(Number),
    ]),
    '',
    'Copies of each stream on the servers of a NATS cluster, 3 in production; unset: 1 for a new stream, and an existing one keeps its own',
    'a number from 1 to 5',
  ),
  MINER_ROWS_TTL_DAYS: variable(
    z
      .string()
      .regex(/^\d{1,4}$/)
      .transform(Number)
      .refine((days) => days === 0 || (days >= rowsTtlDaysMin && days <= rowsTtlDaysMax)),
    '0',
    'Days that rows of readings, rounds, half hours and events stay in ClickHouse, the same for all processes; 0 keeps all',
    `0, or a whole number of days from ${rowsTtlDaysMin} to ${rowsTtlDaysMax}`,
  ),
  MINER_INCOMPLETE_REBUILD: variable(
    z.enum(['refuse', 'accept']),
    'refuse',
    'What to do if a version has to fold everything again, and messages are in neither the stream nor the rows: with `refuse` the process ends and says which, with `accept` it continues without them',
    'refuse or accept',
  ),
  MINER_LOST_STREAMS: variable(
    listOf((entry) => /^MINER_(COUNTER|PIPELINE|CHAIN)@\S+$/.test(entry)),
    '',
    'Streams that are gone for good, as the log names them: what was made from them is removed; for any other stream this setting means nothing',
    'MINER_COUNTER, MINER_PIPELINE or MINER_CHAIN, each followed by @ and the time that the log names, separated by commas',
  ),
  MINER_CHAIN_STALE_SECONDS: variable(
    z
      .string()
      .regex(/^[1-9]\d{0,5}$/)
      .transform(Number),
    '120',
    'Age of the newest span after which chain views say `indexer_unavailable`',
    'a whole number of seconds, 1 or more',
  ),
  MINER_CHAIN_BEHIND_SECONDS: variable(
    z
      .string()
      .regex(/^[1-9]\d{0,8}$/)
      .transform(Number),
    '900',
    'How far the time of the safe block may be behind the clock before chain views say `indexer_unavailable`',
    'a whole number of seconds, 1 or more',
  ),
  MINER_READY_GRACE_SECONDS: variable(
    z
      .string()
      .regex(/^[1-9]\d{0,5}$/)
      .transform(Number),
    '10',
    'For so long an input may fall behind, ClickHouse may be away, or rows, a rejection or a span of the chain may not be taken, before `/readyz` says so',
    'a whole number of seconds, 1 or more',
  ),
  MINER_DRAIN_SECONDS: variable(
    z
      .string()
      .regex(/^\d{1,2}$/)
      .transform(Number),
    '0',
    'Seconds that a process that is asked to end still answers, not ready and without keeping connections, so that proxies send requests elsewhere',
    'a whole number of seconds from 0 to 99',
  ),
  MINER_AUDIT_SECONDS: variable(
    z
      .string()
      .regex(/^\d{1,6}$/)
      .transform(Number),
    '300',
    'Seconds between two samples, a half hour and a safe block, that are compared with the messages and the node they were made from; 0 for none',
    'a whole number of seconds, 0 or more',
  ),
  MINER_ACCESS_LOG: variable(
    z
      .string()
      .regex(/^\d{1,7}$/)
      .transform(Number),
    '0',
    'One of so many requests is logged, at `info`, with its ID, route, status and time; 0 for none',
    'a whole number, 0 or more',
  ),
  MINER_LOG_LEVEL: variable(
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    'info',
    'Least severe lines that are logged',
    'trace, debug, info, warn, error, fatal or silent',
  ),
} as const;

/** Where ClickHouse is, by the configuration. */
export function locateDatabase(configuration: Configuration): DatabaseLocation {
  const {
    MINER_CLICKHOUSE_URL: url,
    MINER_CLICKHOUSE_CLUSTER: cluster,
    MINER_CLICKHOUSE_CA: caFile,
  } = configuration;
  return url === null ? { path: join(configuration.MINER_DATA_DIR, 'clickhouse') } : { url, cluster, caFile };
}

type VariableName = keyof typeof variables;

export type Configuration = {
  readonly [Name in VariableName]: z.infer<(typeof variables)[Name]['schema']>;
};

/** Invalid environment variables: the message names each variable, what was given and what is expected. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/** @throws ConfigurationError naming every variable that is wrong. */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Configuration {
  const names = listKeys<VariableName>(variables);
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const { schema, defaultValue, expected } = variables[name];
    const given = environment[name];
    const parsed = schema.safeParse(given ?? defaultValue);
    if (parsed.success) values[name] = parsed.data;
    else problems.push(`${name} is ${JSON.stringify(given)}; expected ${expected}`);
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  // Every variable has a value that its schema gave.
  const configuration = values as Configuration;
  const contradictions = [...findNatsProblems(configuration), ...findClickHouseProblems(configuration)];
  if (contradictions.length > 0) throw new ConfigurationError(contradictions);
  return configuration;
}

/**
 * Variables that look like settings and are none, such as a misspelt one. Not an error: an orchestrator may set
 * others of that beginning by itself (Kubernetes does, for a service with the name `miner`).
 */
export function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(environment).filter((name) => name.startsWith('MINER_') && !(name in variables));
}

/** Lines for `--help`: name, default and meaning. */
export function variablesHelp(): string {
  const width = Math.max(...Object.keys(variables).map((name) => name.length));
  const lines = Object.entries(variables).map(([name, { defaultValue, meaning }]) => {
    const shown = defaultValue === '' ? '' : ` (default ${defaultValue})`;
    return `  ${name.padEnd(width)}  ${meaning}${shown}`;
  });
  return ['Environment variables:', ...lines].join('\n');
}

/** A database is one name, and settings are not part of an address: the client would take a query for its own options. */
function isClickHouseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return (
    ['http:', 'https:'].includes(protocol) && /^\/[\w.-]*$/.test(pathname) && search === '' && hash === ''
  );
}

function findClickHouseProblems({
  MINER_CLICKHOUSE_URL: url,
  MINER_CLICKHOUSE_CA: path,
}: Configuration): string[] {
  if (path === null) return [];
  if (!url?.startsWith('https:'))
    return [
      'MINER_CLICKHOUSE_CA is set, but MINER_CLICKHOUSE_URL is not of TLS; expected https://host:port/database',
    ];
  return findFileProblem('MINER_CLICKHOUSE_CA', path);
}

function isAddressOrBlock(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 4 ? 32 : 128);
}
