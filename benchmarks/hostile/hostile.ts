import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillData } from '../filledData.ts';
import { type Measurement, measureInterleaved, type Series } from '../measureInterleaved.ts';
import { pinToCore } from '../pinToCore.ts';
import { publishResults } from '../results.ts';
import { type ServiceProcess, startServiceProcess } from '../serviceProcess.ts';
import { loadCore, readWrkVersion, serverCore } from '../wrk.ts';
import { type Attack, attacks, type Target } from './attacks.ts';
import { pollDuring } from './poller.ts';

const attacker = fileURLToPath(new URL('./attacker.js', import.meta.url));

interface HostileOptions {
  readonly rounds: number;
  /** Of each attack. */
  readonly seconds: number;
  /** Only attacks with this in their name. */
  readonly only?: string;
}

/** Attacks a service that has its limits, and measures what others notice of it. */
export async function measureHostile({ rounds, seconds, only = '' }: HostileOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  try {
    const environment = {
      ...(await fillData(dir)),
      MINER_RATE_LIMITS: 'on',
      // So that the attacks may come from as many clients as they like.
      MINER_TRUSTED_PROXIES: '127.0.0.1',
    };
    const service = await startServiceProcess({
      dir,
      installationId: 'wheel.local',
      environment,
      core: serverCore,
    });
    try {
      await service.readyAfterMs();
      const measureAttack = (attack: Attack) => ({
        name: attack.name,
        measure: () => measureDuring(service, dir, attack, seconds),
      });
      const series = await measureInterleaved(
        attacks.filter(({ name }) => name.includes(only)).map(measureAttack),
        rounds,
      );
      if (only !== '') return printSeries(series);
      publishResults({
        command: 'hostile',
        about: `${seconds} seconds of each attack beside 200 requests a second of normal clients, from another core (${await readWrkVersion()}). Latencies are of those clients; memory is how much more is resident at most than before the attack.`,
        tables: [
          {
            title: 'Attack',
            unit: 'p99 ms of pollers',
            isLessBetter: true,
            isComparison: false,
            series,
          },
        ],
      });
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureDuring(
  service: ServiceProcess,
  dir: string,
  attack: Attack,
  seconds: number,
): Promise<Measurement> {
  const before = {
    statuses: await countStatuses(service),
    bytes: service.residentBytes().now,
    cpuMs: service.cpuMs(),
  };
  let mostBytes = before.bytes;
  const sampling = setInterval(() => {
    mostBytes = Math.max(mostBytes, service.residentBytes().now);
  }, 50);
  const { publicUrl, natsUrl } = service;
  const [{ latencies, refused }] = await Promise.all([
    pollDuring(publicUrl, seconds),
    runAttack(attack, { publicUrl, natsUrl, dir }, seconds),
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
      '200/s': perSecond('200'),
      '429/s': perSecond('429'),
      '503/s': perSecond('503'),
      '400/s': perSecond('400'),
    },
  };
}

async function runAttack({ name }: Attack, target: Target, seconds: number): Promise<void> {
  // Who measures goes first on the core that both may share.
  const command = [
    'nice',
    '-n',
    '19',
    process.execPath,
    attacker,
    name,
    JSON.stringify(target),
    String(seconds),
  ] as const;
  const [program, ...args] = pinToCore(loadCore, [...command]);
  const [status] = await once(spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
  if (status !== 0) throw new Error(`the attack ended with status ${status}: ${name}`);
}

function printSeries(series: readonly Series[]) {
  for (const { name, values, others } of series)
    process.stdout.write(`${JSON.stringify({ name, values, ...others })}\n`);
}

/** Responses so far, by status. */
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
