import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { fillData } from '../filledData.ts';
import { type Measurement, measureInterleaved } from '../measureInterleaved.ts';
import { pinToCore } from '../pinToCore.ts';
import { type PartialRun, publishResults } from '../results.ts';
import { type ServiceProcess, startServiceProcess } from '../serviceProcess.ts';
import { inWorkspace } from '../workspace.ts';
import { loadCore, readWrkVersion, serverCore } from '../wrk.ts';
import { attacks, type Target } from './attacks.ts';
import { pollDuring } from './poller.ts';

const attacker = fileURLToPath(new URL('./attacker.js', import.meta.url));

interface HostileOptions extends Pick<PartialRun, 'only'> {
  readonly rounds: number;
  readonly seconds: number;
}

/** Attacks a service with its limits, and measures what other clients notice. */
export async function measureHostile({ rounds, seconds, ...partial }: HostileOptions): Promise<void> {
  const series = await inWorkspace(async ({ dir, onEnd }) => {
    const environment = {
      ...(await fillData(dir)),
      MINER_RATE_LIMITS: 'on',
      // Attacks may come from any number of clients.
      MINER_TRUSTED_PROXIES: '127.0.0.1',
    };
    const service = await startServiceProcess({ dir, environment, core: serverCore });
    onEnd(service.stop);
    await service.readyAfterMs();
    const contenders = attacks
      .filter(({ name }) => name.includes(partial.only ?? ''))
      .map(({ name }) => ({ name, measure: () => measureDuring(service, { name, dir, seconds }) }));
    return measureInterleaved(contenders, rounds);
  });
  const results = {
    command: 'hostile',
    about: `${seconds} seconds of each attack next to 200 requests a second of normal clients, from another core (${await readWrkVersion()}). Latencies are theirs; memory is the largest growth during the attack.`,
    tables: [{ title: 'Attack', unit: 'p99 ms of pollers', isLessBetter: true, isComparison: false, series }],
  };
  publishResults(results, partial);
}

interface RunningAttack {
  readonly name: string;
  readonly dir: string;
  readonly seconds: number;
}

async function measureDuring(
  service: ServiceProcess,
  { name, dir, seconds }: RunningAttack,
): Promise<Measurement> {
  const before = {
    statuses: await countStatuses(service),
    bytes: service.residentBytes(),
    cpuMs: service.cpuMs(),
  };
  let mostBytes = before.bytes;
  const sampling = setInterval(() => {
    mostBytes = Math.max(mostBytes, service.residentBytes());
  }, 50);
  const { publicUrl, natsUrl } = service;
  const [{ latencies, refused }] = await Promise.all([
    pollDuring(publicUrl, seconds),
    runAttack(name, { publicUrl, natsUrl, dir }, seconds),
  ]).finally(() => clearInterval(sampling));
  const cpuMs = service.cpuMs() - before.cpuMs;
  const healthz = latencies.get('/healthz') ?? [];
  const routes = [...latencies].filter(([path]) => path !== '/healthz').flatMap(([, values]) => values);
  const after = await countStatuses(service);
  const perSecond = (status: string) =>
    ((after.get(status) ?? 0) - (before.statuses.get(status) ?? 0)) / seconds;
  return {
    value: percentile(routes, 99),
    others: {
      '`/healthz` p99 ms': percentile(healthz, 99),
      'longest ms': Math.max(...healthz),
      'refused of normal clients': refused,
      'memory MiB': (mostBytes - before.bytes) / 2 ** 20,
      'CPU %': cpuMs / seconds / 10,
      '429/s': perSecond('429'),
    },
  };
}

async function runAttack(name: string, target: Target, seconds: number): Promise<void> {
  // The measurement has priority on the core that both may share.
  const attack = [attacker, name, JSON.stringify(target), String(seconds)];
  const [program, ...args] = pinToCore(loadCore, ['nice', '-n', '19', process.execPath, ...attack]);
  const [status] = await once(spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
  if (status !== 0) throw new Error(`the attack ended with status ${status}: ${name}`);
}

async function countStatuses({ operatorUrl }: ServiceProcess): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, status = '', count] of text.matchAll(
    /^miner_http_requests_total\{.*status="(\d+)"\} (\d+)$/gm,
  ))
    counts.set(status, (counts.get(status) ?? 0) + Number(count));
  return counts;
}

function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}
