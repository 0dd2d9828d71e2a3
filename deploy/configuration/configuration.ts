import { join } from 'node:path';
import { z } from 'zod';
import { installationsMax as installationsDefault } from '../../actors/folds/places.ts';
import { OperatorError } from '../../actors/operatorError.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import type { DatabaseLocation } from '../../storage/clickhouse/database.ts';
import { readingsTtlDaysMax, readingsTtlDaysMin } from '../../storage/rows/readingsTtl.ts';
import type { FoldedDeployment } from '../../streams/definitions/streamDefinition.ts';
import type { Deployment } from './deploymentFile.ts';
import { findFileProblem, findNatsProblems, isNatsUrl } from './natsConfiguration.ts';

/** An environment variable with its meaning and default. The schema's description names the expected value. */
function variable<Schema extends z.ZodType>(schema: Schema, meaning: string, defaultValue = '') {
  return { schema, meaning, defaultValue };
}

const text = z.string().min(1);
/** @param of units, such as seconds. */
const wholeNumber = (least: number, greatest: number, of = '') =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= greatest)
    .describe(`a whole number${of === '' ? '' : ` of ${of}`} from ${least} to ${greatest}`);
const port = wholeNumber(0, 65_535).describe('a port, 0 to 65535 (0: any free one)');
const listOf = (isEntry: (entry: string) => boolean, expected: string) =>
  z
    .string()
    .transform((list) => list.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])))
    .refine((entries) => entries.every(isEntry))
    .describe(expected);
const hasProtocol = (url: string, protocols: readonly string[]) =>
  URL.canParse(url) && protocols.includes(new URL(url).protocol);
const isHttpUrl = (url: string) => hasProtocol(url, ['http:', 'https:']);
const urlOf = (...protocols: string[]) => z.string().refine((url) => hasProtocol(url, protocols));
/** Null if unset. */
const optional = <Schema extends z.ZodType>(schema: Schema, expected: string) =>
  z.union([z.literal('').transform(() => null), schema]).describe(expected);
const pemFile = optional(z.string(), 'the path of a file in PEM');
const addressOrBlock = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);
const listenAddress = text.describe('an address of this machine, such as 0.0.0.0');

/**
 * Every variable that the service reads. The check at the start, `--help` and `deploy/settings.csv` use this list.
 */
export const variables = {
  MINER_HTTP_PORT: variable(port, 'Port of the public routes', '8080'),
  MINER_OPS_PORT: variable(port, "Operators' port: /metrics, /healthz, /readyz, /diagnosis", '8081'),
  MINER_HOST: variable(listenAddress, 'Address that the public port listens on', '127.0.0.1'),
  MINER_OPS_HOST: variable(listenAddress, "Address that the operators' port listens on", '127.0.0.1'),
  MINER_OPS_NAMES: variable(
    listOf(
      (entry) => /^[\w-]+(\.[\w-]+)+$/.test(entry),
      'host names such as miner.example.org, separated by commas',
    ),
    "Host names with a dot under which the operators' port answers; addresses and names without a dot always work",
  ),
  MINER_NATS_URL: variable(
    optional(
      z.string().refine(isNatsUrl),
      'nats://user:password@host:port, nats://token@host:port or tls:// where TLS is required; several of one login as nats://user:password@a:4222,nats://b:4222',
    ),
    'NATS with JetStream, with its user and password or token, if any; unset: a local nats-server with its data under MINER_DATA_DIR',
  ),
  MINER_NATS_CREDENTIALS: variable(
    optional(z.string(), 'the path of a file'),
    'Credentials file of a NATS user (JWT and seed), instead of a user in MINER_NATS_URL',
  ),
  MINER_NATS_CA: variable(pemFile, 'CA certificates for `tls:` servers; unset: the CAs that Node trusts'),
  MINER_CLICKHOUSE_URL: variable(
    optional(
      z.string().refine(isClickHouseUrl),
      'http://user:password@host:port/database, or https:, without a query',
    ),
    'ClickHouse server, https: for TLS; unset: embedded, under MINER_DATA_DIR',
  ),
  MINER_CLICKHOUSE_CA: variable(
    pemFile,
    'CA certificates for an `https:` server; unset: the CAs that Node trusts',
  ),
  MINER_CLICKHOUSE_CLUSTER: variable(
    optional(
      z.string().regex(/^(\{\w+\}|[\w.-]{1,128})$/),
      'the name of a cluster of system.clusters, or a macro such as {cluster}',
    ),
    'ClickHouse cluster: tables are created replicated, on all its servers',
  ),
  MINER_RPC_URL: variable(
    optional(
      z.string().refine((urls) => urls.split(',').length <= 2 && urls.split(',').every(isHttpUrl)),
      'an http(s) address, or two separated by a comma: nodes are read over http(s)',
    ),
    'Ethereum node, read over `http(s)`, or two separated by a comma: then no block is safe before both have it; unset: no indexer in this process',
  ),
  MINER_DATA_DIR: variable(text.describe('a path'), 'Folder for local data', './data'),
  MINER_DEPLOYMENT: variable(
    optional(z.string(), 'the path of a JSON file'),
    'Deployment file: installation, genesis, contracts (`local` makes its own)',
  ),
  MINER_ALLOWED_ORIGINS: variable(
    listOf(
      (entry) =>
        entry === '*' || (!entry.includes('*') && URL.canParse(entry) && new URL(entry).origin === entry),
      '`*`, or origins such as https://example.org, without a path, separated by commas',
    ),
    'Origins of websites that may call the routes from a browser, separated by commas; `*` for every website',
  ),
  MINER_TRUSTED_PROXIES: variable(
    listOf(
      (entry) => addressOrBlock.safeParse(entry).success,
      'IP addresses or CIDR blocks such as 10.0.0.0/8, separated by commas',
    ),
    'Proxies whose X-Forwarded-For is trusted, separated by commas',
  ),
  MINER_RATE_LIMITS: variable(
    z
      .enum(['on', 'off'])
      .transform((given) => given === 'on')
      .describe('on or off'),
    'Rate limits of the public routes',
    'on',
  ),
  MINER_TRANSACTION_URL: variable(
    optional(
      urlOf('http:', 'https:').refine((url) => url.endsWith('/')),
      'an http(s) address that ends with /, such as https://sepolia.etherscan.io/tx/',
    ),
    'Address of a block explorer’s page for a transaction, without the hash: the pages of transactions link to it',
  ),
  MINER_PUBLIC_URL: variable(
    optional(
      urlOf('http:', 'https:')
        .refine((url) => !/[?#\s]/.test(url))
        .transform((url) => url.replace(/\/$/, '')),
      'an http(s) address without a query, such as https://mining.example.org',
    ),
    'Public address of the service, for previews of shared links, citations, the server in OpenAPI and the `$id` of schemas; unset: previews have no image, and `local` uses its own',
  ),
  MINER_SECURITY_CONTACT: variable(
    optional(
      urlOf('mailto:', 'https:').refine((url) => /^[!-~]+$/.test(url)),
      'an address such as mailto:security@example.org or https://example.org/security',
    ),
    'Contact for vulnerability reports, published as `/.well-known/security.txt`; unset: not published',
  ),
  MINER_RETENTION_DAYS: variable(
    wholeNumber(0, 99_999, 'days'),
    'Days after which NATS removes messages, except chain messages; 0 keeps all, which a rebuild needs',
    '0',
  ),
  MINER_STREAM_REPLICAS: variable(
    optional(wholeNumber(1, 5), 'a whole number from 1 to 5'),
    'Copies of each stream in a NATS cluster, 3 in production; unset: 1 for a new stream, unchanged for an existing one',
  ),
  MINER_READINGS_TTL_DAYS: variable(
    z
      .union([wholeNumber(0, 0), wholeNumber(readingsTtlDaysMin, readingsTtlDaysMax)])
      .describe(`0, or a whole number of days from ${readingsTtlDaysMin} to ${readingsTtlDaysMax}`),
    'Days that ClickHouse keeps readings; 0 keeps all',
    '0',
  ),
  MINER_INSTALLATIONS_MAX: variable(
    wholeNumber(1, 9_999_999),
    'Installations that each stream of readings or messages gives places, the same for all processes: at least twice as many as there are wheels, and 3 KB of memory each with readings, 7 KB with other messages',
    String(installationsDefault),
  ),
  MINER_INCOMPLETE_REBUILD: variable(
    z.enum(['refuse', 'accept']).describe('refuse or accept'),
    'If a rebuild needs messages that are in neither the stream nor the rows: `refuse` names them and exits, `accept` continues without them',
    'refuse',
  ),
  MINER_LOST_STREAMS: variable(
    listOf(
      (entry) => /^MINER_(COUNTER|PIPELINE|CHAIN)@\S+$/.test(entry),
      'MINER_COUNTER, MINER_PIPELINE or MINER_CHAIN, each followed by @ and the time that the log names, separated by commas',
    ),
    'Lost streams that you accept, named as in the log: data made from them is hidden; no effect on any other stream',
  ),
  MINER_CHAIN_STALE_SECONDS: variable(
    wholeNumber(1, 999_999, 'seconds'),
    'Age of the newest span beyond which chain views are `indexer_unavailable`',
    '120',
  ),
  MINER_CHAIN_BEHIND_SECONDS: variable(
    wholeNumber(1, 999_999_999, 'seconds'),
    'How far the safe block may be behind the clock before chain views are `indexer_unavailable`',
    '900',
  ),
  MINER_READY_GRACE_SECONDS: variable(
    wholeNumber(1, 999_999, 'seconds'),
    'How long an input may lag, ClickHouse may be away, or rows, rejections or spans of the chain may be refused before `/readyz` says so',
    '10',
  ),
  MINER_DRAIN_SECONDS: variable(
    wholeNumber(0, 99, 'seconds'),
    'Seconds that a stopping process still answers, not ready and closing each connection, so that proxies send requests elsewhere',
    '0',
  ),
  MINER_LOG_LEVEL: variable(
    z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
      .describe('trace, debug, info, warn, error, fatal or silent'),
    'Least severe level that is logged',
    'info',
  ),
} as const;

export function locateDatabase(configuration: Configuration): DatabaseLocation {
  const {
    MINER_CLICKHOUSE_URL: url,
    MINER_CLICKHOUSE_CLUSTER: cluster,
    MINER_CLICKHOUSE_CA: caFile,
  } = configuration;
  return url === null ? { path: join(configuration.MINER_DATA_DIR, 'clickhouse') } : { url, cluster, caFile };
}

/** A deployment, with the bound of its folds. */
export type BoundDeployment = Deployment & Pick<FoldedDeployment, 'installationsMax'>;

export function boundDeployment(
  deployment: Deployment,
  { MINER_INSTALLATIONS_MAX: installationsMax }: Pick<Configuration, 'MINER_INSTALLATIONS_MAX'>,
): BoundDeployment {
  return { ...deployment, installationsMax };
}

type VariableName = keyof typeof variables;

/** Addresses that may hold passwords, tokens or keys. */
const secretVariables: ReadonlySet<VariableName> = new Set([
  'MINER_NATS_URL',
  'MINER_CLICKHOUSE_URL',
  'MINER_RPC_URL',
]);

export type Configuration = {
  readonly [Name in VariableName]: z.infer<(typeof variables)[Name]['schema']>;
};

/** Invalid environment variables: the message names each variable, what was given and what is expected. */
export class ConfigurationError extends OperatorError {
  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`, {
      exitStatus: 2,
    });
  }
}

/** @throws ConfigurationError naming every variable that is wrong. */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Configuration {
  const names = listKeys<VariableName>(variables);
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const name of names) {
    const { schema, defaultValue } = variables[name];
    const given = environment[name];
    const parsed = schema.safeParse(given ?? defaultValue);
    if (parsed.success) values[name] = parsed.data;
    else {
      const shown = secretVariables.has(name) ? hideSecrets(String(given)) : given;
      problems.push(`${name} is ${JSON.stringify(shown)}; expected ${schema.description}`);
    }
  }
  if (problems.length > 0) throw new ConfigurationError(problems);
  // The loop above has set every variable.
  const configuration = values as Configuration;
  const contradictions = [...findNatsProblems(configuration), ...findClickHouseProblems(configuration)];
  if (contradictions.length > 0) throw new ConfigurationError(contradictions);
  return configuration;
}

/**
 * Variables with the prefix of a setting that are not settings, such as a misspelt one. They are no error: Kubernetes sets
 * such variables for a service with the name `miner`.
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

/** The address without login, path and query, since a path may hold a key. */
function hideSecrets(address: string): string {
  const { protocol, host } = URL.canParse(address) ? new URL(address) : { protocol: '', host: '' };
  return host === '' ? '***' : `${protocol}//${host}/***`;
}

/** The path names one database. A query is refused, since the client would take it for its own options. */
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
      'MINER_CLICKHOUSE_CA is set, but MINER_CLICKHOUSE_URL does not use TLS; expected https://host:port/database',
    ];
  return findFileProblem('MINER_CLICKHOUSE_CA', path);
}
