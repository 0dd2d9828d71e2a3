import type { HttpResponse } from 'uWebSockets.js';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { IDeployment } from 'kubernetes-models/apps/v1/Deployment';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfiguration, unknownVariables } from '../../../deploy/configuration/configuration.ts';
import { readDeploymentFile } from '../../../deploy/configuration/deploymentFile.ts';
import type { Transport } from '../../../http/server/engine/uws.ts';
import { createClientAddress } from '../../../http/server/requests/clientAddress.ts';
import { runDeployScript } from '../../support/processes/deployScript.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import {
  commandNames,
  deployDir,
  listDeployFiles,
  operatorPaths,
  readDeployFile,
  readYaml,
  readYamlDocuments,
} from './deployFiles.ts';
import { isAllowed, type Peer, type Policy } from './networkPolicies.ts';

/** With every member, so that a test can read any that should be there. */
type Sure<Value> = Value extends readonly (infer Item)[]
  ? readonly [Sure<Item>, ...Sure<Item>[]]
  : Value extends object
    ? { readonly [Name in keyof Value]-?: Sure<NonNullable<Value[Name]>> }
    : Value;

type Manifest = Omit<Sure<IDeployment>, 'kind'> & {
  readonly kind: string;
  readonly spec: {
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
  };
};

const files = listDeployFiles('kubernetes').filter((file) => file.endsWith('.yaml'));
const kustomizations = ['clickhouse', 'nats', 'proxy']
  .map((folder) => `${folder}/kustomization.yaml`)
  .concat(files.filter((file) => file.endsWith('kustomization.yaml')));
const manifests = files
  .filter((file) => !kustomizations.includes(file))
  .flatMap((file) => readYamlDocuments<Manifest>(file));
/** The runbook's temporary pod, named by a shell variable. */
const [, diskPod = ''] = /<<END\n(.*?)\nEND\n/s.exec(readDeployFile('operator.sh')) ?? [];
const disk = parse(diskPod.replaceAll('$n', '0')) as Manifest;
const pods = manifests.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind));
const ours = pods.filter(({ spec }) => spec.template.spec.containers[0].image === 'miner');
const formatName = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

const byName = (list: readonly Manifest[]) => list.map((one) => [formatName(one), one] as const);
const find = (name: string) => manifests.find((one) => formatName(one) === name) as Manifest;

interface Validate {
  (data: unknown): boolean;
  errors: readonly { readonly instancePath: string; readonly params: object }[] | null;
}

/** The compiled schema of a kind. */
async function loadSchema({ apiVersion, kind }: Manifest): Promise<Validate> {
  const [version = '', group = 'core'] = apiVersion.split('/').reverse();
  const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
  const name = `IoK8sApi${capital(group.split('.')[0] ?? '')}${capital(version)}${kind}`;
  return (await import(`kubernetes-models/_schemas/${name}`)).validate as Validate;
}

/**
 * Watches reads of members. The compiled schemas read only known members, so an unread one is unknown, such as a misspelt
 * one.
 */
function watchReads(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = new Map(
    Object.entries(value).map(([key, member]) => {
      unread.add(`${path}.${key}`);
      return [key, watchReads(member, `${path}.${key}`, unread)];
    }),
  );
  return new Proxy(value, {
    get: (target, key) => {
      if (typeof key !== 'string' || !members.has(key)) return Reflect.get(target, key);
      unread.delete(`${path}.${key}`);
      return members.get(key);
    },
  });
}

async function unknownMembers(manifest: Manifest): Promise<string[]> {
  const validate = await loadSchema(manifest);
  const unread = new Set<string>();
  validate(watchReads(manifest, '', unread));
  return [...unread];
}

describe('manifests', () => {
  it.each(byName([...manifests, disk]))('%s is valid and has only known members', async (_, one) => {
    const validate = await loadSchema(one);
    validate(one);
    expect(validate.errors).toBeNull();
    expect(await unknownMembers(one)).toEqual([]);
  });

  it('are not valid with a misspelt member', async () => {
    const [one] = pods as [Manifest];
    const { spec } = one;
    const [container] = spec.template.spec.containers;
    const misspelt = { ...container, livenesProbe: {} };
    const template = { ...spec.template, spec: { ...spec.template.spec, containers: [misspelt] } };
    expect(await unknownMembers({ ...one, spec: { ...spec, template } } as unknown as Manifest)).toEqual([
      '.spec.template.spec.containers.0.livenesProbe',
    ]);
  });

  it.each(byName(pods))('%s runs in the restricted profile', (_, { spec }) => {
    const { securityContext, containers, automountServiceAccountToken } = spec.template.spec;
    expect(automountServiceAccountToken).toBe(false);
    expect(securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(containers).toHaveLength(1);
    expect(containers[0].securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
    });
    expect(Object.keys(containers[0].resources)).toEqual(['requests', 'limits']);
    expect(containers[0].image === 'miner' || /:\d+\.\d+\.\d+/.test(containers[0].image)).toBe(true);
  });

  it('select existing pods and ports', () => {
    for (const one of manifests) {
      const { selector, scaleTargetRef } = one.spec ?? {};
      const labels = selector?.matchLabels ?? (one.kind === 'Service' ? selector : undefined);
      const selected = pods.filter(({ spec }) =>
        Object.entries(labels ?? {}).every(([key, value]) => spec.template.metadata.labels[key] === value),
      );
      if (labels !== undefined) expect([formatName(one), selected.length]).toEqual([formatName(one), 1]);
      if (scaleTargetRef !== undefined)
        expect(pods.map(formatName)).toContain(`${scaleTargetRef.kind} ${scaleTargetRef.name}`);
      for (const { targetPort } of one.spec?.ports ?? [])
        expect(selected[0]?.spec.template.spec.containers[0].ports.map(({ name }) => name)).toContain(
          targetPort,
        );
    }
  });

  it('mount their own volumes, and probe their own ports', () => {
    for (const one of pods) {
      const { containers, volumes } = one.spec.template.spec;
      const [{ volumeMounts, ports, startupProbe, livenessProbe, readinessProbe }] = containers;
      const claims = (one.spec as { volumeClaimTemplates?: readonly Manifest[] }).volumeClaimTemplates ?? [];
      const has = [...volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
      expect(has.sort()).toEqual(volumeMounts.map(({ name }) => name).sort());
      for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
        if (httpGet !== undefined) expect(ports.map(({ name }) => name)).toContain(httpGet.port);
    }
  });
});

describe('manifests of the service', () => {
  it.each(byName(ours))('%s sets variables and starts a command that exist', (_, { spec }) => {
    const [{ command, args = [], env = [], ports, volumeMounts }] = spec.template.spec.containers;
    const environment = Object.fromEntries(env.map(({ name, value }) => [name, value ?? '']));
    expect(unknownVariables(environment)).toEqual([]);
    const { MINER_OPS_PORT, MINER_HTTP_PORT, MINER_DEPLOYMENT } = readConfiguration(environment);
    const numbers = Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]));
    expect(numbers.operators).toBe(MINER_OPS_PORT);
    expect(numbers.public ?? MINER_HTTP_PORT).toBe(MINER_HTTP_PORT);
    expect(spec.template.metadata.annotations).toEqual({
      'prometheus.io/scrape': 'true',
      'prometheus.io/port': String(MINER_OPS_PORT),
      'prometheus.io/path': '/metrics',
    });
    expect(commandNames()).toContain(args[0]);
    expect(command.at(-1)).toBe('dist/deploy/miner.js');
    const secret = command
      .find((argument) => argument.startsWith('--env-file='))
      ?.slice('--env-file='.length);
    const mounts = volumeMounts.map(({ mountPath }) => mountPath);
    expect(mounts).toEqual([dirname(secret ?? ''), dirname(MINER_DEPLOYMENT ?? '')]);
  });

  it.each(byName(ours))('%s answers its probes', (_, { spec }) => {
    const { containers, terminationGracePeriodSeconds } = spec.template.spec;
    const [{ startupProbe, livenessProbe, readinessProbe, env = [], args = [] }] = containers;
    for (const probe of [startupProbe, livenessProbe]) expect(probe.httpGet?.path).toBe('/healthz');
    if (args[0] === 'ingest') {
      const [, script = ''] = readinessProbe.exec?.command ?? [];
      expect(existsSync(join(deployDir, '..', script.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(
        true,
      );
    } else expect(readinessProbe.httpGet?.path).toBe('/readyz');
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
      if (httpGet !== undefined) expect(operatorPaths()).toContain(httpGet.path);
    // A process that waits for NATS or ClickHouse, or is stalled for a while, is not killed.
    expect(livenessProbe.periodSeconds * livenessProbe.failureThreshold).toBeGreaterThanOrEqual(60);
    const leaving = Number(env.find(({ name }) => name === 'MINER_DRAIN_SECONDS')?.value ?? 0);
    // The service ends at the latest ten seconds after it has left.
    expect(terminationGracePeriodSeconds).toBeGreaterThanOrEqual(leaving + 10 + 5);
    if (args[0] === 'serve') expect(leaving).toBeGreaterThan(readinessProbe.periodSeconds);
  });

  it('have a standby, and leave the number of replicas to the autoscaler', () => {
    const byCommand = new Map(
      ours.map(({ spec }) => [spec.template.spec.containers[0].args?.[0], spec.replicas]),
    );
    expect(Object.fromEntries(byCommand)).toEqual({ ingest: 2, serve: undefined, index: 2 });
    for (const { metadata } of pods.filter(({ metadata }) => metadata.name !== 'clickhouse'))
      expect(manifests.map(formatName)).toContain(`PodDisruptionBudget ${metadata.name}`);
  });

  it('limit each client behind the proxy by itself, for pods in any private network', () => {
    const serve = ours.find(({ metadata }) => metadata.name === 'miner-serve') as Manifest;
    const { env = [] } = serve.spec.template.spec.containers[0];
    const trusted = env.find(({ name }) => name === 'MINER_TRUSTED_PROXIES')?.value ?? '';
    const proxies = readConfiguration({ MINER_TRUSTED_PROXIES: trusted }).MINER_TRUSTED_PROXIES;
    const isOfProxy = (peer: string) =>
      createClientAddress(proxies, { remoteAddress: () => peer } as unknown as Transport)(
        {} as HttpResponse,
        '203.0.113.7',
      ).isOfProxy;
    for (const peer of ['10.244.1.7', '172.20.3.4', '192.168.64.2', '100.96.0.9', 'fd00:10:244::7'])
      expect([peer, isOfProxy(peer)]).toEqual([peer, true]);
    for (const peer of ['198.51.100.1', '2001:db8::1'])
      expect([peer, isOfProxy(peer)]).toEqual([peer, false]);
  });

  it('answer through the proxy while no replica is ready', () => {
    const {
      publishNotReadyAddresses: isOpen,
      clusterIP,
      ...rest
    } = find('Service miner-serve-pods').spec as Manifest['spec'] & {
      readonly publishNotReadyAddresses?: boolean;
      readonly clusterIP?: string;
    };
    expect([isOpen, clusterIP, rest.selector]).toEqual([
      true,
      'None',
      find('Service miner-serve').spec.selector,
    ]);
    const [{ env = [], ports }] = find('Deployment miner-proxy').spec.template.spec.containers;
    const environment = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    expect(environment.SERVERS).toBe('miner-serve-pods.$(NAMESPACE).svc.cluster.local');
    // Requests and checks go to the ports of the service, and the load balancer's to the proxy's.
    const configuration = readDeployFile('proxy/haproxy.cfg');
    const numbers = Object.fromEntries(
      find('Deployment miner-serve').spec.template.spec.containers[0].ports.map(({ name, containerPort }) => [
        name,
        containerPort,
      ]),
    );
    expect(configuration.match(/"\$\{SERVERS\}:\d+"/g)).toEqual(
      Array(2).fill(`"\${SERVERS}:${numbers.public}"`),
    );
    expect(configuration).toContain(`check port ${numbers.operators} `);
    for (const { containerPort } of ports)
      expect(configuration).toMatch(new RegExp(`^ {2}bind :${containerPort}\\b`, 'm'));
    // As many servers as replicas at most, and twice as many during an update.
    const [, slots] = /server-template pod (\d+) /.exec(configuration) ?? [];
    const { maxReplicas } = find('HorizontalPodAutoscaler miner-serve').spec as unknown as {
      maxReplicas: number;
    };
    expect(Number(slots)).toBeGreaterThanOrEqual(2 * maxReplicas);
  });

  it('give the proxy certificate and key under names that HAProxy finds', () => {
    const { containers, volumes } = find('Deployment miner-proxy').spec.template.spec;
    const [{ env = [], volumeMounts }] = containers;
    const path = env.find(({ name }) => name === 'CERTIFICATE')?.value ?? '';
    const mounted = volumes.find(({ name }) => name === 'certificate')?.secret.items.map(({ path }) => path);
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(dirname(path));
    expect(mounted).toEqual([basename(path), `${basename(path)}.key`]);
  });

  it('take the secrets that applySecrets.sh creates', () => {
    const script = readDeployFile('kubernetes/applySecrets.sh');
    const secrets = pods
      .flatMap(
        ({ spec }) =>
          JSON.stringify(spec.template.spec.volumes).match(/"secret":\{"(?:secretName|name)":"[^"]+"/g) ?? [],
      )
      .map((text) => text.split('"').at(-2));
    expect(secrets.length).toBe(7);
    for (const secret of secrets)
      expect(script).toMatch(new RegExp(`^secret (?:generic|tls) ${secret} --(?:from-file|cert)=`, 'm'));
  });

  it('put the secrets of NATS where its configuration includes them', () => {
    interface Mounted {
      readonly projected: {
        readonly sources: readonly {
          readonly secret?: { readonly items: readonly { readonly key: string; readonly path: string }[] };
        }[];
      };
    }
    const { volumes, containers } = find('StatefulSet nats').spec.template.spec;
    const isConfiguration = ({ name }: { readonly name: string }) => name === 'configuration';
    const { projected } = volumes.find(isConfiguration) as unknown as Mounted;
    const mountPath = containers[0].volumeMounts.find(isConfiguration)?.mountPath ?? '';
    const items = projected.sources.flatMap(({ secret }) => secret?.items ?? []);
    const folder = join(temporaryDirectory(), 'secrets');
    runDeployScript('createSecrets.mjs', folder);
    runDeployScript('createCertificates.mjs', '--folder', folder);
    const created = [...readdirSync(folder), ...readdirSync(join(folder, 'nats-tls'))];
    for (const { key } of items) expect(created).toContain(key);
    const paths = items.map(({ path }) => path);
    const configurations = ['nats/cluster.conf', 'nats/accounts.conf'].map(readDeployFile).join('\n');
    const included = [...configurations.matchAll(/^ *include "(.*)"$/gm)].map(([, path]) => path);
    expect(new Set(included)).toEqual(
      new Set(['accounts.conf', 'passwords.conf', 'routes.conf', 'tls/tls.conf']),
    );
    expect(paths).toEqual(expect.arrayContaining(['passwords.conf', 'routes.conf', 'tls/tls.conf']));
    for (const [, file] of readFileSync(join(folder, 'nats-tls/tls.conf'), 'utf8').matchAll(/_file: "(.*)"/g))
      expect(paths.map((path) => join(mountPath, path))).toContain(file);
    // The service's pods mount the whole secret, which has the authority too.
    for (const { spec } of ours) {
      const [{ mountPath: place }] = spec.template.spec.containers[0].volumeMounts;
      expect(readFileSync(join(folder, 'serve.env'), 'utf8')).toContain(
        `MINER_NATS_CA=${place}/nats-ca.pem\n`,
      );
    }
  });
});

describe('network policies', () => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy') as unknown as readonly Policy[];
  const except = (...names: readonly string[]) =>
    policies.filter(({ metadata }) => !names.includes(metadata.name));
  const pod = (name: string, namespace = 'miner'): Peer => ({
    namespace,
    labels: { 'app.kubernetes.io/name': name },
    address: '10.244.1.7',
  });
  const outside = (address: string): Peer => ({ namespace: null, labels: {}, address });
  const publisher: Peer = {
    namespace: 'gateways',
    labels: { 'miner-publisher': 'true' },
    address: '10.244.2.8',
  };

  it.each([
    ['a client reaches a proxy', outside('198.51.100.1'), pod('miner-proxy'), 8443],
    ['a proxy sends requests to a replica', pod('miner-proxy'), pod('miner-serve'), 8080],
    ['a proxy asks a replica whether it is ready', pod('miner-proxy'), pod('miner-serve'), 8081],
    ['Prometheus reads metrics', pod('prometheus', 'monitoring'), pod('miner-ingest'), 8081],
    ['every process reaches NATS', pod('miner-serve'), pod('nats'), 4222],
    ['the indexer reaches NATS', pod('miner-index'), pod('nats'), 4222],
    ['the service reaches ClickHouse', pod('miner-ingest'), pod('clickhouse'), 8123],
    ['servers of NATS reach each other', pod('nats'), pod('nats'), 6222],
    ['a publisher of the cluster reaches NATS', publisher, pod('nats'), 4222],
    ['the indexer reaches a public node', pod('miner-index'), outside('203.0.113.7'), 443],
  ])('%s', (_, from, to, port) => {
    expect(isAllowed(policies, from, to, port)).toBe(true);
  });

  it.each([
    ['a client does not reach a replica', outside('198.51.100.1'), pod('miner-serve'), 8080],
    ['another pod does not reach a replica', pod('other', 'other'), pod('miner-serve'), 8080],
    ['a proxy does not reach NATS', pod('miner-proxy'), pod('nats'), 4222],
    ['a proxy does not reach the metrics of others', pod('miner-proxy'), pod('miner-ingest'), 8081],
    ['no publisher reaches the port of servers', publisher, pod('nats'), 6222],
    ['nobody outside reaches the port of servers', outside('198.51.100.1'), pod('nats'), 6222],
    ['a replica does not reach the internet', pod('miner-serve'), outside('203.0.113.7'), 443],
    [
      'the indexer does not reach an address of the cloud',
      pod('miner-index'),
      outside('169.254.169.254'),
      443,
    ],
  ])('%s', (_, from, to, port) => {
    expect(isAllowed(policies, from, to, port)).toBe(false);
  });

  it.each([
    ['miner-private-node', 'the indexer a private node', pod('miner-index'), outside('10.20.30.40'), 8545],
    [
      'miner-private-node',
      'the indexer a node of the cluster',
      pod('miner-index'),
      pod('geth', 'ethereum'),
      8545,
    ],
    ['nats-publishers', 'a publisher outside NATS', outside('198.51.100.1'), pod('nats'), 4222],
  ])('%s gives %s', (name, _, from, to, port) => {
    expect(policies.map(({ metadata }) => metadata.name)).toContain(name);
    expect(isAllowed(except(name), from, to, port)).toBe(false);
    expect(isAllowed(policies, from, to, port)).toBe(true);
  });
});

describe('kustomizations', () => {
  interface Kustomization {
    readonly resources?: readonly string[];
    readonly components?: readonly string[];
    readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  }

  it.each(kustomizations)('%s names files that exist', (path) => {
    const { resources = [], components = [], configMapGenerator: maps = [] } = readYaml<Kustomization>(path);
    const sources = maps.flatMap(({ files: named }) => named.map((file) => file.split('=').at(-1) ?? ''));
    for (const file of [...resources, ...components, ...sources])
      expect([file, existsSync(join(deployDir, dirname(path), file))]).toEqual([file, true]);
  });

  it('leave no manifest out', () => {
    // A file that an operator may need is in a comment.
    const named = kustomizations.flatMap((path) => [
      ...(readYaml<Kustomization>(path).resources ?? []).map((file) => join(dirname(path), file)),
      ...[...readDeployFile(path).matchAll(/^ *# *- (\S+\.yaml) +#/gm)].map(([, file = '']) =>
        join(dirname(path), file),
      ),
    ]);
    expect(files.filter((file) => !kustomizations.includes(file) && !named.includes(file))).toEqual([]);
  });

  it('have a valid example deployment file without contracts', () => {
    expect(readDeploymentFile(join(deployDir, 'kubernetes/example/deployment.json')).onChain).toBeNull();
    // An indexer would end at once, again and again.
    expect(readYaml<Kustomization>('kubernetes/example/kustomization.yaml').components).toBeUndefined();
  });
});
