import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { dayMs } from '../actors/schemas/durations.ts';
import { closeNats } from '../streams/jetstream/connection.ts';
import { readNatsAccess } from '../streams/jetstream/natsAccess.ts';
import { measureInterleaved } from './measureInterleaved.ts';
import { type ProfileOptions, publishUnlessProfiled } from './profiles.ts';
import { publishReadings } from './readingLoad.ts';
import { startServiceProcess } from './serviceProcess.ts';
import { waitUntilFolded } from './waitUntilFolded.ts';

const installationId = 'wheel-0';
const yearMs = 365 * dayMs;
const accepted = 'miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}';

interface StartOptions extends ProfileOptions {
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
