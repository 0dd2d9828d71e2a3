import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { unreachedChain } from '../support/chain/unreachedChain.ts';
import { writeCsv } from '../support/csv.ts';
import { eventually, shareInFile, temporaryDirectory } from '../support/processes/lifetime.ts';
import { startMiner } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { promtool } from '../support/processes/prometheus.ts';

const allMetrics = shareInFile(async () => {
  const nats = await startNats();
  const miner = await startMiner({
    natsUrl: nats.url,
    dataDir: temporaryDirectory(),
    // The metrics of the chain exist even if the node does not answer.
    onChain: unreachedChain,
    environment: { MINER_RPC_URL: 'http://127.0.0.1:1' },
  });
  return async () => (await fetch(`${miner.operatorUrl}/metrics`)).text();
});

it('metrics show every actor of a process, at any depth', async () => {
  const metrics = await allMetrics();
  const actors = async () =>
    [
      ...new Set(
        [...(await metrics()).matchAll(/^miner_actor_transitions_total\{actor="([^"]+)"/gm)].map(
          ([, name]) => name,
        ),
      ),
    ].sort();
  const streams = ['MINER_CHAIN', 'MINER_COUNTER', 'MINER_PIPELINE'];
  const expected = [
    ...['service', 'ingest', 'lease', 'indexer'],
    ...streams.flatMap((stream) => [`streamFollower ${stream}`, `messageSource ${stream}`]),
  ].sort();
  await eventually(async () => (await actors()).length >= expected.length, 'all actors');
  expect(await actors()).toEqual(expected);
});

it('metrics are documented as a process that does everything has them (npm run tables)', async () => {
  const metrics = await allMetrics();
  // These are registered last.
  await eventually(async () => (await metrics()).includes('# HELP miner_audit_drifts '), 'all metrics');
  const text = await metrics();
  // Checks names, units and texts by Prometheus's rules, and prints violations.
  expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, output: '' });
  const findType = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(text)?.[1];
  const rows = [...text.matchAll(/^# HELP (miner_\w+) (.+)$/gm)]
    .map(([, name = '', help]) => {
      const labels = declaredLabels(name);
      return [name, findType(name) ?? '', labels.join(' '), help ?? ''];
    })
    .sort(([one = ''], [other = '']) => (one < other ? -1 : 1));
  const table = writeCsv([['metric', 'type', 'labels', 'meaning'], ...rows]);
  await expect(table).toMatchFileSnapshot('../../deploy/metrics.csv');
});

const root = resolve(import.meta.dirname, '../..');
const listSources = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
/** Source files that register metrics. */
const sources = ['http', 'streams', 'deploy/process', 'deploy/service']
  .flatMap(listSources)
  .map((file) => readFileSync(join(root, file), 'utf8'));

/** The label names that the code declares for a metric. Samples would show them only once something has happened. */
function declaredLabels(name: string): string[] {
  const source = sources.find((one) => new RegExp(`\\b${name}\\b`).test(one));
  if (source === undefined) throw new Error(`${name} is registered nowhere`);
  const row = new RegExp(`^( *)${name}: \\[(?:.*|[^]*?\n\\1)\\],$`, 'm').exec(source);
  // Counters that are counted where they are registered, and histograms.
  const pattern = row === null ? /labelNames: \[([^\]]*)\]/ : /((?:,\s*'\w+')*),?\s*\],$/;
  const text = row?.[0] ?? new RegExp(`name: '${name}',[^{}]*`).exec(source)?.[0] ?? source;
  const labels = [...(pattern.exec(text)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, label = '']) => label);
  const registering = source.slice(0, row?.index).lastIndexOf('registerStreamMetrics(');
  const isOfStreams =
    row !== null && registering > source.slice(0, row.index).lastIndexOf('registerMetrics(');
  return isOfStreams ? ['stream', ...labels] : labels;
}
