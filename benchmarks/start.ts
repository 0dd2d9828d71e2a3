import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import cliProgress from 'cli-progress';
import { dayMs } from '../actors/schemas/durations.ts';
import { pollUntil } from '../storage/pollUntil.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { readNatsAccess } from '../streams/jetstream/natsAccess.ts';
import { measureInterleaved } from './measureInterleaved.ts';
import { type ProfileOptions, publishUnlessProfiled } from './profile/profiles.ts';
import { publishReadings } from './readingLoad.ts';
import { type ServiceProcess, startServiceProcess, storedPosition } from './serviceProcess.ts';

const installationId = 'wheel-0';
const yearMs = 365 * dayMs;
const foldPollMs = 250;
const accepted = 'miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}';

export interface StartOptions extends ProfileOptions {
  /** Readings of the year. */
  readonly readings: number;
  readonly rounds: number;
}

/** Time from the start of the process to its readiness: on an empty folder, and with a year of readings folded. */
export async function measureStart({ readings, rounds, profile = null }: StartOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const yearDir = mkdtempSync(join(dir, 'year-'));
  try {
    const service = await startServiceProcess({ dir: yearDir, installationId });
    await service.readyAfterMs();
    const connection = await connect(readNatsAccess({ url: service.natsUrl }));
    await publishReadings(connection, { id: installationId, count: readings, intervalMs: yearMs / readings });
    await closeNats(connection);
    await waitUntilFolded(service, readings);
    await service.stop();
    const series = await measureInterleaved(
      [
        {
          name: `restart, ${readings.toLocaleString('en-US')} readings of a year folded`,
          measure: () => restart(yearDir, profile),
        },
        { name: 'start on an empty folder', measure: () => emptyStart(dir, profile) },
      ],
      rounds,
    );
    publishUnlessProfiled(profile, {
      command: 'start',
      tables: [{ title: 'Start to ready', unit: 'ms', isLessBetter: true, series }],
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function restart(dir: string, profile: string | null): Promise<number> {
  const service = await startServiceProcess({ dir, installationId, profile });
  const readyMs = await service.readyAfterMs();
  const folded = await service.metric(accepted);
  await service.stop();
  if (folded !== 0) throw new Error(`the restart folded ${folded} readings again`);
  return readyMs;
}

async function emptyStart(dir: string, profile: string | null): Promise<number> {
  const emptyDir = mkdtempSync(join(dir, 'empty-'));
  const service = await startServiceProcess({ dir: emptyDir, installationId, profile });
  const readyMs = await service.readyAfterMs();
  await service.stop();
  return readyMs;
}

async function waitUntilFolded(service: ServiceProcess, position: number): Promise<void> {
  const bar = new cliProgress.SingleBar(
    {
      format: 'folding {bar} {percentage}% | {value}/{total} readings | {eta} s left',
      noTTYOutput: true,
      notTTYSchedule: 20_000,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(position, 0);
  const isFolded = async () => {
    const stored = (await service.metric(storedPosition)) ?? 0;
    bar.update(stored);
    return stored >= position;
  };
  await pollUntil(isFolded, { everyMs: foldPollMs });
  bar.stop();
}
