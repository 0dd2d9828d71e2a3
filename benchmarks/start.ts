import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '@nats-io/transport-node';
import { dayMs } from '../actors/schemas/durations.ts';
import { closeNats } from '../streams/nats/jetStreamPort.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';
import { type Measurement, measureInterleaved } from './measureInterleaved.ts';
import { publishReadings } from './readingLoad.ts';
import { type PartialRun, publishResults } from './results.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { inWorkspace } from './workspace.ts';

const yearMs = 365 * dayMs;
const manifest = fileURLToPath(new URL('../../package.json', import.meta.url));
/** The first start takes half a minute. */
const firstRoundsMax = 3;
const settledMs = 60_000;
const chainIsShown = 'miner_chain_condition{views="core",condition="available"}';
const accepted = 'miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}';

interface StartOptions extends Pick<PartialRun, 'profile'> {
  readonly readings: number;
  readonly rounds: number;
}

/**
 * Measures the time from the start of the process to its readiness, on an empty folder and with a year of folded readings, and the first `npm start` of a
 * built checkout.
 */
export async function measureStart({ readings, rounds, ...partial }: StartOptions): Promise<void> {
  const series = await inWorkspace(async ({ dir }) => {
    const yearDir = mkdtempSync(join(dir, 'year-'));
    const service = await startServiceProcess({ dir: yearDir });
    await service.readyAfterMs();
    const connection = await connect(readNatsAccess({ url: service.natsUrl }));
    await publishReadings(connection, { count: readings, intervalMs: yearMs / readings });
    await closeNats(connection);
    await service.foldedThrough(readings);
    await service.stop();
    const contenders = [
      {
        name: `restart, ${readings.toLocaleString('en-US')} readings of a year folded`,
        measure: () => measureReadyMs({ ...partial, dir: yearDir }),
      },
      {
        name: 'start on an empty folder',
        measure: () => measureReadyMs({ ...partial, dir: mkdtempSync(join(dir, 'empty-')) }),
      },
    ];
    return measureInterleaved(contenders, rounds);
  });
  const table = { title: 'Start to ready', unit: 'ms', isLessBetter: true, series };
  const first = {
    title: 'First `npm start`, once it is installed and built',
    unit: 's to the first number',
    isLessBetter: true,
    isComparison: false,
    series: await measureInterleaved(
      [{ name: 'two simulated days', measure: () => measureFirst(partial) }],
      Math.min(rounds, firstRoundsMax),
      { areWarm: true },
    ),
  };
  publishResults({ command: 'start', tables: [table, first] }, partial);
}

/** Measures `npm start` on an empty folder, until the simulated chain has reached the present. */
function measureFirst(settings: Pick<PartialRun, 'profile'>): Promise<Measurement> {
  return inWorkspace(async ({ dir, onEnd }) => {
    const nodeOptions =
      readFileSync(manifest, 'utf8')
        .match(/"start": ".*"/)?.[0]
        .match(/--\S+/g) ?? [];
    const service = await startServiceProcess({ ...settings, dir, command: 'local', nodeOptions });
    onEnd(service.stop);
    const value = await service.secondsUntil(
      async () => (await fetch(`${service.publicUrl}/v1/public/telemetry`)).ok,
    );
    const chainSeconds = await service.secondsUntil(async () => (await service.metric(chainIsShown)) === 1);
    await wait(settledMs);
    return {
      value,
      others: {
        's to the whole chain': chainSeconds,
        'greatest MiB of the process': service.peakBytes() / 2 ** 20,
        'MiB after a minute': service.residentBytes() / 2 ** 20,
      },
    };
  });
}

async function measureReadyMs(
  settings: Pick<PartialRun, 'profile'> & { readonly dir: string },
): Promise<Measurement> {
  const service = await startServiceProcess(settings);
  const value = await service.readyAfterMs();
  const others = { 'CPU ms of the process': service.cpuMs() };
  const folded = await service.metric(accepted);
  await service.stop();
  if (folded !== 0) throw new Error(`the start folded ${folded} readings again`);
  return { value, others };
}
