import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { OperatorError } from '../../actors/operatorError.ts';
import {
  ConfigurationError,
  locateDatabase,
  readConfiguration,
  unknownVariables,
  variables,
} from '../../deploy/configuration/configuration.ts';
import { readDeploymentFile } from '../../deploy/configuration/deploymentFile.ts';
import { locateNats } from '../../deploy/configuration/natsConfiguration.ts';
import { buildSettings } from '../../deploy/service/serviceSettings.ts';
import { readNatsAccess } from '../../streams/nats/natsAccess.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand } from '../support/processes/minerCommand.ts';

describe('configuration', () => {
  it('has a value for every variable, also for unset ones', () => {
    const configuration = readConfiguration({});
    expect(Object.keys(configuration)).toEqual(Object.keys(variables));
    expect(configuration).toMatchObject({
      MINER_HTTP_PORT: 8080,
      MINER_NATS_URL: null,
      MINER_ALLOWED_ORIGINS: [],
      MINER_RATE_LIMITS: true,
    });
  });

  it('describes the expected value of every variable', () => {
    for (const { schema } of Object.values(variables)) expect(schema.description).toBeTypeOf('string');
  });

  it('sets each option by its own variable, in its unit', () => {
    const configuration = readConfiguration({
      MINER_HTTP_PORT: '8101',
      MINER_OPS_PORT: '8102',
      MINER_HOST: 'a',
      MINER_OPS_HOST: 'b',
      MINER_OPS_NAMES: 'c.example',
      MINER_DATA_DIR: 'd',
      MINER_ALLOWED_ORIGINS: 'https://e.example',
      MINER_TRUSTED_PROXIES: '192.0.2.1',
      MINER_TRANSACTION_URL: 'https://f.example/tx/',
      MINER_PUBLIC_URL: 'https://g.example',
      MINER_SECURITY_CONTACT: 'mailto:h@h.example',
      MINER_RATE_LIMITS: 'off',
      MINER_RETENTION_DAYS: '101',
      MINER_READINGS_TTL_DAYS: '102',
      MINER_STREAM_REPLICAS: '3',
      MINER_CHAIN_STALE_SECONDS: '103',
      MINER_CHAIN_BEHIND_SECONDS: '104',
      MINER_READY_GRACE_SECONDS: '105',
      MINER_INCOMPLETE_REBUILD: 'accept',
      MINER_INSTALLATIONS_MAX: '108',
    });
    const roles = { ingest: false, serve: true };
    const given = { roles, rpcUrl: 'http://node' } as Parameters<typeof buildSettings>[1];
    expect(buildSettings(configuration, given)).toEqual({
      roles,
      deployment: { installationsMax: 108 },
      // A replica does not index.
      rpcUrl: null,
      database: { path: 'd/clickhouse' },
      dataDir: 'd',
      host: 'a',
      httpPort: 8_101,
      opsPort: 8_102,
      opsHost: 'b',
      opsNames: ['c.example'],
      http: {
        allowedOrigins: ['https://e.example'],
        transactionUrl: 'https://f.example/tx/',
        publicUrl: 'https://g.example',
        securityContact: 'mailto:h@h.example',
        trustedProxies: ['192.0.2.1'],
        rateLimits: false,
        readTimeoutMs: expect.any(Number),
      },
      retentionDays: 101,
      replicas: 3,
      readingsTtlDays: 102,
      acceptsLoss: true,
      acceptedLosses: [],
      chainStaleAfterMs: 103_000,
      chainBehindAfterMs: 104_000,
      readyGraceMs: 105_000,
      auditMs: 300_000,
      snapshots: { intervalMs: 600_000, messages: 500_000 },
    });
  });

  it.each([
    ['MINER_HTTP_PORT', 0, 65_535],
    ['MINER_RETENTION_DAYS', 0, 99_999],
    ['MINER_STREAM_REPLICAS', 1, 5],
    ['MINER_READINGS_TTL_DAYS', 32, 9_999],
    ['MINER_INSTALLATIONS_MAX', 1, 9_999_999],
    ['MINER_CHAIN_STALE_SECONDS', 1, 999_999],
    ['MINER_CHAIN_BEHIND_SECONDS', 1, 999_999_999],
    ['MINER_READY_GRACE_SECONDS', 1, 999_999],
    ['MINER_DRAIN_SECONDS', 0, 99],
  ] as const)(
    'takes %s from %i to %i, and names both when it refuses another value',
    (name, least, greatest) => {
      const read = (value: number) => readConfiguration({ [name]: String(value) })[name];
      expect([read(least), read(greatest)]).toEqual([least, greatest]);
      for (const value of [least - 1, greatest + 1])
        expect(() => read(value)).toThrow(
          new RegExp(`${name} is "${value}"; expected .*\\b${least} to ${greatest}\\b`),
        );
    },
  );

  it('takes 0 for rows that are kept for ever', () => {
    expect(readConfiguration({ MINER_READINGS_TTL_DAYS: '0' }).MINER_READINGS_TTL_DAYS).toBe(0);
  });

  it('reads lists with spaces and an empty last item', () => {
    const { MINER_TRUSTED_PROXIES, MINER_ALLOWED_ORIGINS } = readConfiguration({
      MINER_TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::/32,192.0.2.1,',
      MINER_ALLOWED_ORIGINS: 'https://a.example,http://localhost:3000',
    });
    expect(readConfiguration({ MINER_ALLOWED_ORIGINS: '*' }).MINER_ALLOWED_ORIGINS).toEqual(['*']);
    expect(MINER_TRUSTED_PROXIES).toEqual(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
    expect(MINER_ALLOWED_ORIGINS).toEqual(['https://a.example', 'http://localhost:3000']);
  });

  it.each<[keyof typeof variables, string, string?]>([
    ['MINER_HTTP_PORT', 'http'],
    ['MINER_OPS_PORT', ''],
    ['MINER_HOST', ''],
    ['MINER_NATS_URL', 'localhost', '***'],
    ['MINER_NATS_URL', 'http://localhost:4222', 'http://localhost:4222/***'],
    ['MINER_NATS_URL', 'nats://a:1,', '***'],
    ['MINER_NATS_URL', 'nats://a:1,tls://b:1', '***'],
    ['MINER_NATS_URL', 'nats://user:one@a:1,nats://user:two@b:1', '***'],
    ['MINER_NATS_URL', 'nats://a:1/stream', 'nats://a:1/***'],
    ['MINER_NATS_URL', 'nats://a:1?tls=true', 'nats://a:1/***'],
    ['MINER_CLICKHOUSE_URL', 'tcp://localhost:9000', 'tcp://localhost:9000/***'],
    ['MINER_CLICKHOUSE_URL', 'http://localhost:8123/default?max_threads=4', 'http://localhost:8123/***'],
    ['MINER_CLICKHOUSE_URL', 'http://localhost:8123/a/b', 'http://localhost:8123/***'],
    ['MINER_RPC_URL', 'localhost:8545', '***'],
    ['MINER_RPC_URL', 'http://one,two', 'http://one,two/***'],
    ['MINER_RPC_URL', 'http://one,http://two,http://three', 'http://one,http/***'],
    ['MINER_RPC_URL', 'ws://localhost:8546', 'ws://localhost:8546/***'],
    ['MINER_RPC_URL', 'wss://node.example', 'wss://node.example/***'],
    ['MINER_ALLOWED_ORIGINS', 'https://a.example/path'],
    ['MINER_ALLOWED_ORIGINS', 'https://*.example'],
    ['MINER_PUBLIC_URL', 'https://a.example/?b'],
    ['MINER_PUBLIC_URL', 'https://a.example/#b'],
    ['MINER_PUBLIC_URL', 'https://a.example '],
    ['MINER_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['MINER_TRUSTED_PROXIES', 'proxy.example'],
    ['MINER_RATE_LIMITS', 'yes'],
    ['MINER_LOG_LEVEL', 'verbose'],
  ])('refuses %s=%j by its name, value and the expected value', (name, value, shown = value) => {
    const attempt = () => readConfiguration({ [name]: value });
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(
      `${name} is ${JSON.stringify(shown)}; expected ${variables[name].schema.description}`,
    );
  });

  it('takes several servers of NATS with one login', () => {
    for (const url of [
      'nats://u:p@a:1, nats://u:p@b:1',
      'tls://token@a:1,tls://b:1',
      'nats://a,nats://[::1]:4222',
      'nats://u:p@a:1,nats://b:1',
      'nats://a,b:4222',
    ])
      expect(readConfiguration({ MINER_NATS_URL: url }).MINER_NATS_URL).toBe(url);
    expect(readNatsAccess({ url: 'tls://u:p@a:1, b:2,tls://c' })).toMatchObject({
      servers: ['tls://a:1', 'tls://b:2', 'tls://c'],
      user: 'u',
      pass: 'p',
    });
  });

  const dir = mkdtempSync(join(tmpdir(), 'miner-configuration-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const write = (name: string, content: string) => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };
  const login = write('login', '-----BEGIN NATS USER JWT-----\n');
  const pem = write('pem', '-----BEGIN CERTIFICATE-----\n');
  const other = write('other', 'topsecret');
  const nats = { MINER_NATS_URL: 'nats://a:1' };
  const tls = { MINER_NATS_URL: 'tls://a:1' };

  it.each([
    [{ MINER_NATS_CREDENTIALS: login }, 'MINER_NATS_CREDENTIALS is set, but MINER_NATS_URL is not'],
    [
      { MINER_NATS_URL: 'nats://t@a:1', MINER_NATS_CREDENTIALS: login },
      'a user or token in MINER_NATS_URL and MINER_NATS_CREDENTIALS are set; expected one',
    ],
    [
      { ...nats, MINER_NATS_CREDENTIALS: other },
      `MINER_NATS_CREDENTIALS is ${JSON.stringify(other)}; expected a credentials file of NATS, with a user JWT and its seed`,
    ],
    [
      { ...nats, MINER_NATS_CREDENTIALS: '/nowhere' },
      'MINER_NATS_CREDENTIALS is "/nowhere", which cannot be read (ENOENT)',
    ],
    [
      { ...nats, MINER_NATS_CA: pem },
      'MINER_NATS_CA is set, but MINER_NATS_URL does not use TLS; expected tls://host:port',
    ],
    [{ ...tls, MINER_NATS_CA: other }, `MINER_NATS_CA is ${JSON.stringify(other)}; expected a file in PEM`],
    [
      { MINER_CLICKHOUSE_URL: 'http://a', MINER_CLICKHOUSE_CA: pem },
      'MINER_CLICKHOUSE_CA is set, but MINER_CLICKHOUSE_URL does not use TLS',
    ],
    [{ MINER_CLICKHOUSE_URL: 'https://a', MINER_CLICKHOUSE_CA: other }, 'expected a file in PEM'],
  ])('refuses the contradiction of %j', (environment, message) => {
    const attempt = () => readConfiguration(environment);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(message);
    expect(attempt).not.toThrow('topsecret');
  });

  it('names where NATS and ClickHouse are, and the file of each variable', () => {
    const [ca, other] = [write('ca', '-----BEGIN '), write('other ca', '-----BEGIN ')];
    const configuration = readConfiguration({
      ...{ ...tls, MINER_NATS_CREDENTIALS: login, MINER_NATS_CA: ca },
      ...{ MINER_CLICKHOUSE_URL: 'https://b', MINER_CLICKHOUSE_CA: other, MINER_CLICKHOUSE_CLUSTER: 'c' },
    });
    expect([locateNats(configuration), locateDatabase(configuration)]).toEqual([
      { url: 'tls://a:1', credentialsFile: login, caFile: ca },
      { url: 'https://b', cluster: 'c', caFile: other },
    ]);
  });

  it.each([
    [{ MINER_HTTP_PORT: 'x', MINER_RATE_LIMITS: 'x' }, /MINER_HTTP_PORT[\s\S]*MINER_RATE_LIMITS/],
    [
      { MINER_NATS_CREDENTIALS: login, MINER_CLICKHOUSE_CA: pem },
      /MINER_NATS_CREDENTIALS[\s\S]*MINER_CLICKHOUSE_CA/,
    ],
  ])('names all invalid variables of %j at once', (environment, names) => {
    expect(() => readConfiguration(environment)).toThrow(names);
  });

  it('finds unknown variables that look like settings', () => {
    expect(unknownVariables({ MINER_HTTP_PRT: '1', MINER_HOST: 'x', PATH: 'y' })).toEqual(['MINER_HTTP_PRT']);
  });
});

describe('deployment file', () => {
  const installation = {
    installationId: 'wheel.one',
    genesisTimestamp: 1_769_860_800,
    streamId: `0x${'a'.repeat(64)}`,
  };
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const onChain = {
    release: { id: 'release-1', protocolRevision: 'protocol-1', rewardModelRevision: 'rewards-1' },
    chain: { target: 'anvil', chainId: 31337, deploymentBlock: 4, economyDeploymentBlock: '9' },
    contracts: {
      core: address('1'),
      proxyAdmin: address('2'),
      operatorTimelock: address('3'),
      tokenFactory: address('4'),
      mining: address('5'),
      token: address('6'),
      collection: address('7'),
    },
  };
  const written = (content: unknown) => {
    const path = join(temporaryDirectory(), 'deployment.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  it('has an installation, and may have a chain', () => {
    expect(readDeploymentFile(written(installation))).toEqual({ ...installation, onChain: null });
    const read = readDeploymentFile(written({ ...installation, ...onChain }));
    expect(read.onChain?.chain).toMatchObject({
      chainId: 31337n,
      deploymentBlock: 4n,
      economyDeploymentBlock: 9n,
    });
  });

  it.each([
    [
      'a genesis inside a half hour',
      { ...installation, genesisTimestamp: 1_769_860_801 },
      'multiple of 1800',
    ],
    ['an ID that no path can hold', { ...installation, installationId: 'wheel~1' }, 'installationId'],
    ['a maximum speed of zero', { ...installation, maximumSpeedMmPerSecond: 0 }, 'maximumSpeedMmPerSecond'],
    ['a short stream ID', { ...installation, streamId: '0x1' }, 'streamId'],
    ['a chain without contracts', { ...installation, release: onChain.release }, 'come together'],
    [
      'a checksummed address',
      { ...installation, ...onChain, contracts: { ...onChain.contracts, core: `0x${'A'.repeat(40)}` } },
      'contracts.core',
    ],
    ['a misspelt member', { ...installation, maximumSpeed: 5_000 }, 'maximumSpeed'],
    [
      'a member of another place',
      { ...installation, ...onChain, chain: { ...onChain.chain, maximumSpeedMmPerSecond: 5_000 } },
      'chain: Unrecognized key: "maximumSpeedMmPerSecond"',
    ],
    ['no JSON', '{', 'is not JSON'],
    ['no object', '[]', 'expected object'],
  ])('is refused for %s with a reason', (_what, content, word) => {
    const path = written(content);
    expect(() => readDeploymentFile(path)).toThrow(OperatorError);
    expect(() => readDeploymentFile(path)).toThrow(word);
    expect(() => readDeploymentFile(path)).toThrow(path);
  });

  it('is reported with its setting if it is missing', () => {
    expect(() => readDeploymentFile('/nowhere/deployment.json')).toThrow('MINER_DEPLOYMENT');
  });
});

describe('command line', () => {
  const run = (args: string[], environment: Record<string, string> = {}) =>
    minerCommand(args, { MINER_DATA_DIR: temporaryDirectory(), ...environment });

  it('explains itself, and every command with every variable', async () => {
    const { status, output } = await run(['--help']);
    expect(status).toBe(0);
    for (const command of ['run', 'ingest', 'serve', 'index', 'local', 'openapi'])
      expect(output).toContain(`  ${command}`);
    const help = (await run(['local', '--help'])).output;
    for (const name of Object.keys(variables)) expect(help).toContain(name);
  });

  it('prints the OpenAPI document in either version, with the address of the service', async () => {
    const read = async (...args: string[]) => JSON.parse((await run(['openapi', ...args])).output);
    const [plain, told] = [await read(), await read('--spec', '3.0', '--url', 'https://wheel.example')];
    expect([plain.openapi, plain.servers[0].url]).toEqual(['3.1.0', '/']);
    expect([told.openapi, told.servers[0].url]).toEqual(['3.0.3', 'https://wheel.example']);
    expect(Object.keys(told.paths)).toEqual(Object.keys(plain.paths));
  });

  it.each([
    [['openapi', '--spec', '2.0'], {}, 'Allowed choices are 3.1, 3.0', 1],
    [['run'], { MINER_HTTP_PORT: '80a' }, 'MINER_HTTP_PORT is "80a"; expected a port', 2],
    [['serve'], { MINER_DEPLOYMENT: 'any' }, 'MINER_CLICKHOUSE_URL is not set', 2],
    [['local', '--past-days', 'many'], {}, "argument 'many' is invalid. expected a number from 0 to 30", 1],
    [['replay', '--from-time', 'yesterday'], {}, 'such as 2026-11-21', 1],
    [['lokal'], {}, 'unknown command', 1],
  ])('%j with %j stops with %s', async (args, environment, message, expected) => {
    const { status, output } = await run(args, environment);
    expect(output).toContain(message);
    expect(output).not.toContain('    at ');
    expect(status).toBe(expected);
  });
});
