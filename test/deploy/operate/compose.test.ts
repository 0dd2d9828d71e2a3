import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { stopMs } from '../../../deploy/commands/runService.ts';
import {
  readConfiguration,
  unknownVariables,
  variables,
} from '../../../deploy/configuration/configuration.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { createSecrets } from '../../support/processes/createSecrets.ts';
import { temporaryDirectory } from '../../support/processes/lifetime.ts';
import { runTlsCommands } from '../../support/processes/shippedNats.ts';
import { commandNames, deployDir, operatorPaths, readDeployFile, readYaml, root } from './deployFiles.ts';

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly dockerfile: string };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  /** A variable without a value is passed on from `.env`. */
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly volumes?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly secrets?: readonly (string | { readonly source: string; readonly target: string })[];
  readonly networks: readonly string[] | Readonly<Record<string, { readonly ipv4_address: string }>>;
  readonly ports?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly [member: string]: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = readYaml<Compose>('compose.yaml');
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image.startsWith('miner:'));
const findSource = (secret: string | { readonly source: string }) =>
  typeof secret === 'string' ? secret : secret.source;

/** Fills in the defaults of unset variables, as compose does. */
const fillIn = (text: string) => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

/** Variables that have a value without `.env`. */
function withDefaults(environment: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === null ? [] : [[name, fillIn(value)]])),
  );
}

describe('compose.yaml', () => {
  it('runs images of a fixed version, and this version of the service', () => {
    for (const [, { image }] of services) expect(image).toMatch(/:v?\d+\.\d+\.\d+/);
    for (const [, { image }] of ours) expect(image).toBe(`miner:${manifest.version}`);
    expect(ours.map(([name]) => name)).toEqual(['service', 'replica', 'indexer']);
    expect(readDeployFile('operator.sh')).toContain(` ${compose.services.nats?.image} `);
  });

  it('limits, restarts, checks and rotates the log of each part', () => {
    const members = ['mem_limit', 'cpus', 'restart', 'healthcheck', 'logging'];
    for (const [name, service] of services)
      expect([name, Object.keys(service)]).toEqual([name, expect.arrayContaining(members)]);
  });

  it('runs the service without rights, and lets it stop in order', () => {
    for (const [, service] of ours) {
      expect(service).toMatchObject({ read_only: true, user: '1000:1000', cap_drop: ['ALL'] });
      expect(Number.parseInt(String(service.stop_grace_period), 10) * 1_000).toBeGreaterThan(stopMs);
    }
  });

  it('sets only variables that the service has, to values that it accepts', () => {
    for (const [name, { environment = {} }] of ours) {
      const names = Object.keys(environment).map((variable) => [variable, '']);
      expect([name, unknownVariables(Object.fromEntries(names))]).toEqual([name, []]);
      expect(readConfiguration(withDefaults(environment)).MINER_OPS_PORT).toBe(8081);
    }
  });

  it('passes every setting from .env on, but for settings that the files themselves decide', () => {
    /** Each is in an env file of `secrets/`, or has no effect here. */
    const inSecrets = [
      ...Object.keys(variables).filter((name) => name.startsWith('MINER_NATS_')),
      ...['MINER_CLICKHOUSE_URL', 'MINER_CLICKHOUSE_CA', 'MINER_RPC_URL'],
    ];
    const withoutEffect = ['MINER_DATA_DIR', 'MINER_DRAIN_SECONDS'];
    for (const [name, { environment = {} }] of ours) {
      const fixed = Object.keys(withDefaults(environment));
      const passed = Object.keys(environment).filter((variable) => environment[variable] === null);
      const expected = Object.keys(variables).filter(
        (variable) => ![...fixed, ...inSecrets, ...withoutEffect].includes(variable),
      );
      expect([name, passed.filter((variable) => variable.startsWith('MINER_')).sort()]).toEqual([
        name,
        expected.sort(),
      ]);
    }
  });

  it('starts commands that exist, with a secret that it receives', () => {
    for (const [, { entrypoint = [], command = [], secrets = [] }] of ours) {
      expect(commandNames()).toContain(command[0]);
      const file = entrypoint.find((argument) => argument.startsWith('--env-file='));
      expect(secrets.map((secret) => `--env-file=/run/secrets/${findSource(secret)}`)).toEqual([file]);
    }
  });

  it('has the secrets that createSecrets creates, with variables that the service has', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    createSecrets(folder);
    const isFile = (name: string) => statSync(join(folder, name)).isFile();
    const names = readdirSync(folder).filter(isFile);
    const read = (name: string) => readFileSync(join(folder, name), 'utf8');
    const contents = names.map(read);
    for (const [name, { file }] of Object.entries(compose.secrets)) {
      expect(file).toBe(`./secrets/${name}`);
      expect(names).toContain(name);
      expect(services.flatMap(([, { secrets = [] }]) => secrets.map(findSource))).toContain(name);
    }
    for (const role of ['ingest', 'serve', 'index']) {
      const lines = read(`${role}.env`).trim().split('\n');
      const environment = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
      expect(unknownVariables(environment)).toEqual([]);
      expect(readConfiguration(environment).MINER_NATS_URL).toMatch(
        new RegExp(`^nats://${role}:.{32}@nats:4222$`),
      );
    }
    const { users } = readYaml<{ users: object }>('clickhouse/users.yaml');
    const created = Object.keys(parse(read('clickhouse-passwords.yaml')).users);
    expect(['default', ...created].sort()).toEqual(Object.keys(users).sort());
    // A second run changes no password, but closes a folder that others may enter.
    chmodSync(folder, 0o755);
    createSecrets(folder);
    expect(names.map(read)).toEqual(contents);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('has passwords that createSecrets replaces everywhere, and nothing else in the folder', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    expect(() => createSecrets(folder, '--rotate')).toThrow(/nats-passwords\.conf.* is not there/);
    for (let run = 0; run < 2; run++)
      createSecrets(folder, '--gateway', 'wheel.one', '--gateway', 'wheel:two');
    const accounts = readFileSync(join(folder, 'nats-gateways.conf'), 'utf8');
    expect(accounts.match(/^"gateway-.*" \{$/gm)).toEqual(['"gateway-wheel.one" {', '"gateway-wheel:two" {']);
    expect(() => createSecrets(folder, '--gateway', 'wheel one')).toThrow('expected 1 to 128 characters');
    expect(() => createSecrets(folder, '--gateway', 'wheel.three', 'wheel.four')).toThrow(
      "createSecrets: Unexpected argument 'wheel.four'",
    );
    // An operator has added a node, a certificate, another host, a user of NATS and a folder.
    writeFileSync(join(folder, 'certificate.pem'), 'certificate');
    appendFileSync(join(folder, 'nats-passwords.conf'), 'SECOND_GATEWAY_PASSWORD: "its own password"\n');
    const index = join(folder, 'index.env');
    const servers = readFileSync(index, 'utf8').replace('@nats:', '@nats-1.example.org:');
    writeFileSync(index, servers.replace('RPC_URL=', 'RPC_URL=https://node.example.org/key'));
    const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
    mkdirSync(join(folder, 'folder'));
    const read = () => new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
    const secretsOf = (files: ReadonlyMap<string, string>) =>
      new Set([...files.values()].flatMap((text) => text.match(/[\w-]{32,}|its own password/g) ?? []));
    const before = read();
    createSecrets(folder, '--rotate');
    const after = read();
    // Every password is new, equal ones are still equal, and everything else is unchanged.
    expect(secretsOf(after).size).toBe(secretsOf(before).size);
    expect([...secretsOf(after)].filter((secret) => secretsOf(before).has(secret))).toEqual([]);
    const withoutSecrets = (files: ReadonlyMap<string, string>) =>
      [...files].map(([name, text]) => [name, text.replace(/[\w-]{32,}|its own password/g, '...')]);
    expect(withoutSecrets(after)).toEqual(withoutSecrets(before));
    const [, password = ''] = /\/\/ingest:(.+)@clickhouse/.exec(after.get('ingest.env') ?? '') ?? [];
    const hash = createHash('sha256').update(password).digest('hex');
    expect(after.get('clickhouse-passwords.yaml')).toContain(`ingest:\n    password_sha256_hex: ${hash}\n`);
    // A password chosen by an operator is percent-encoded in an address.
    writeFileSync(join(folder, 'nats-passwords.conf'), 'GATEWAY_PASSWORD: "chosen p@ssword"\n');
    writeFileSync(join(folder, 'gateway.env'), 'NATS_URL=nats://gateway:chosen%20p%40ssword@nats:4222\n');
    createSecrets(folder, '--rotate');
    const [, chosen] = /"(.+)"/.exec(readFileSync(join(folder, 'nats-passwords.conf'), 'utf8')) ?? [];
    const gateway = readFileSync(join(folder, 'gateway.env'), 'utf8');
    expect(gateway).toBe(`NATS_URL=nats://gateway:${chosen}@nats:4222\n`);
    const last = read();
    // A run was killed when all new files existed and some were in place: the next run completes it.
    mkdirSync(join(folder, 'rotated'));
    writeFileSync(join(folder, 'rotated', 'index.env'), before.get('index.env') ?? '');
    expect(() => createSecrets(folder)).toThrow('run it again');
    expect(createSecrets(folder, '--rotate')).toContain('of a run that was stopped');
    expect(read()).toEqual(new Map([...last, ['index.env', before.get('index.env') ?? '']]));
    expect(readdirSync(folder)).not.toContain('rotated');
  });

  it('has secrets that only containers read, not other users', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    const script = join(dirname(folder), 'createSecrets.mjs');
    copyFileSync(join(deployDir, 'createSecrets.mjs'), script);
    execFileSync('sh', ['-c', `umask 077; exec "${process.execPath}" "${script}"`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      const { mode } = statSync(join(folder, name));
      expect([name, mode & 0o004]).toEqual([name, 0o004]);
    }
  });

  it('mounts the certificate of NATS and its authority where the settings expect them, readable for containers', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    createSecrets(folder);
    runTlsCommands(1, dirname(folder));
    runTlsCommands(2, folder);
    const findTarget = (name: string, source: string) =>
      (compose.services[name]?.volumes ?? []).flatMap((volume) =>
        typeof volume === 'object' && volume.source === source ? [volume.target] : [],
      );
    for (const [name, { secrets = [] }] of ours) {
      const [environment = ''] = secrets.map(findSource);
      const text = readFileSync(join(folder, environment), 'utf8');
      expect(text).toMatch(/^MINER_NATS_URL=tls:/m);
      const [, path] = /^MINER_NATS_CA=(.*)$/m.exec(text) ?? [];
      const [target] = findTarget(name, './secrets/nats-ca');
      expect([name, path]).toEqual([name, `${target}/${readdirSync(join(folder, 'nats-ca'))[0]}`]);
    }
    const block = readFileSync(join(folder, 'nats-tls/tls.conf'), 'utf8');
    const files = [...block.matchAll(/_file: "(.*)\/(.*)"/g)];
    expect(files.length).toBe(2);
    for (const [, place, file = ''] of files) {
      expect(findTarget('nats', './secrets/nats-tls')).toEqual([place]);
      expect(statSync(join(folder, 'nats-tls', file)).mode & 0o004).toBe(0o004);
    }
  });

  it('names files, volumes, networks and parts that exist', () => {
    const listNames = (members: ComposeService['networks']) =>
      Array.isArray(members) ? (members as string[]) : Object.keys(members);
    for (const [, service] of services) {
      for (const network of listNames(service.networks))
        expect(Object.keys(compose.networks)).toContain(network);
      for (const part of Object.keys(service.depends_on ?? {}))
        expect(Object.keys(compose.services)).toContain(part);
      for (const volume of service.volumes ?? []) {
        const [source = ''] = typeof volume === 'string' ? volume.split(':') : [volume.source];
        if (!source.startsWith('.')) expect(Object.keys(compose.volumes)).toContain(source);
        else if (!/^\.\/(?:deployment\.json|secrets\/.*)$/.test(source))
          expect(existsSync(join(deployDir, source))).toBe(true);
      }
      if (service.build !== undefined) expect(existsSync(join(root, service.build.dockerfile))).toBe(true);
    }
  });

  it('exposes only the proxy to other machines, and trusts only the proxy', () => {
    const open = services.flatMap(([name, { ports = [] }]) =>
      ports.some((port) => !fillIn(port).startsWith('127.0.0.1:')) ? [name] : [],
    );
    expect(open).toEqual(['proxy']);
    const { front } = (compose.services.proxy as ComposeService).networks as Record<
      string,
      { readonly ipv4_address: string }
    >;
    for (const name of ['service', 'replica'])
      expect(compose.services[name]?.environment?.MINER_TRUSTED_PROXIES).toBe(front?.ipv4_address);
  });

  it('shows the proxy nothing but what it passes requests to', () => {
    const isReached = ([, { networks }]: (typeof services)[number]) =>
      (Array.isArray(networks) ? networks : Object.keys(networks)).includes('front');
    expect(services.filter(isReached).map(([name]) => name)).toEqual(['service', 'replica', 'proxy']);
  });

  it('probes paths and ports that the service has', () => {
    for (const [, { healthcheck }] of ours) {
      const [, port, path] = /127\.0\.0\.1:(\d+)(\/\w+)/.exec(healthcheck?.test.join(' ') ?? '') ?? [];
      expect([port, operatorPaths().includes(path ?? '')]).toEqual(['8081', true]);
    }
  });
});

describe('the proxy', () => {
  const configuration = readDeployFile('proxy/haproxy.cfg');

  it('passes requests to each process that serves, by its name and port', () => {
    const servers = [...configuration.matchAll(/^ {2}server (\w+) (\w+):(\d+)$/gm)];
    const serving = ours.filter(([, { command }]) => command?.[0] !== 'index');
    expect(servers.map(([, , host, port]) => `${host}:${port}`)).toEqual(
      [...serving, ...serving].map(
        ([name, { environment }]) => `${name}:${environment?.MINER_HTTP_PORT ?? ''}`,
      ),
    );
  });

  it('checks readiness where the service reports it', () => {
    const [, port] = /check port (\d+)/.exec(configuration) ?? [];
    const [, path] = /http-check send meth GET uri (\S+)/.exec(configuration) ?? [];
    expect([port, operatorPaths().includes(path ?? '')]).toEqual(['8081', true]);
  });

  it('listens on the published and checked ports', () => {
    const { ports = [], healthcheck } = compose.services.proxy as ComposeService;
    expect(ports[0]).toMatch(/:8080$/);
    expect(configuration).toMatch(/^ {2}bind :8080$/m);
    expect(configuration).toContain(
      `bind ${healthcheck?.test.at(-1)?.replace('http://', '').replace('/', '')}`,
    );
  });
});

interface Scrapes {
  readonly rule_files: readonly string[];
  readonly scrape_configs: readonly {
    readonly metrics_path: string;
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
  }[];
}

it('Prometheus scrapes the metrics of each process', () => {
  const { scrape_configs: scrapes, rule_files: rules } = readYaml<Scrapes>('prometheus/prometheus.yaml');
  const targets = scrapes.flatMap(({ static_configs: fixed = [], dns_sd_configs: found = [] }) => [
    ...fixed.flatMap((one) => one.targets),
    ...found.flatMap((one) => one.names.map((name) => `${name}:${one.port}`)),
  ]);
  expect(targets).toEqual(
    ours.map(([name, { environment }]) => `${name}:${environment?.MINER_OPS_PORT ?? ''}`),
  );
  for (const { metrics_path: path } of scrapes) expect(operatorPaths()).toContain(path);
  for (const rule of rules) expect(existsSync(join(deployDir, 'prometheus', rule))).toBe(true);
});
