import { join } from 'node:path';
import { openDatabase } from '../../../storage/database.ts';
import { requireSupportedServer } from '../../../storage/serverVersion.ts';
import { foldStopMs } from '../../../streams/follower/foldInto.ts';
import { acquireLock } from '../../../streams/ingest/processLock.ts';
import { closeNats, connectNats } from '../../../streams/jetstream/connection.ts';
import { replaySubject } from '../../../streams/jetstream/replaySubject.ts';
import { boundDeployment, locateDatabase } from '../../configuration/configuration.ts';
import { readDeploymentFile } from '../../configuration/deploymentFile.ts';
import { locateNats } from '../../configuration/natsConfiguration.ts';
import { within } from '../../process/within.ts';
import { runUntilStopped, startOwnNats } from '../runService.ts';
import { discardReplay, replay } from './replay.ts';
import { openReplay } from './replayOptions.ts';
import type { ReplayRequest } from './replayPlan.ts';

const closeGraceMs = 1_000;

/** The command line's `replay`. `discard` only removes the tables of an unfinished one. */
export function runReplay(request: ReplayRequest | 'discard'): Promise<void> {
  return runUntilStopped(async ({ configuration, logger, onStop, finish }) => {
    const path = configuration.MINER_DEPLOYMENT ?? join(configuration.MINER_DATA_DIR, 'deployment.json');
    const deployment = boundDeployment(readDeploymentFile(path), configuration);
    const stopping = new AbortController();
    const quiet = logger.child({}, { level: logger.level === 'info' ? 'warn' : logger.level });
    const nats = locateNats(configuration) ?? {
      url: (await startOwnNats(configuration, quiet, onStop)).url,
    };
    const database = openDatabase(locateDatabase(configuration));
    onStop('ClickHouse', () => within(closeGraceMs, database.close()));
    const connection = await connectNats({
      ...nats,
      name: 'miner replay',
      logger: quiet,
      signal: stopping.signal,
    });
    onStop('the connection to NATS', () => within(closeGraceMs, closeNats(connection)));
    const release = await acquireLock(connection, replaySubject, 'a replay');
    onStop('the lock of replays', async () => release());
    await requireSupportedServer(database);
    const parts = await openReplay({
      connection,
      database,
      deployment,
      logger: quiet,
      signal: stopping.signal,
      print: (line) => process.stdout.write(`${line}\n`),
    });
    const replaying = request === 'discard' ? discardReplay(parts) : replay(parts, request);
    onStop('the replay', async () => {
      stopping.abort();
      await within(foldStopMs, replaying);
    });
    await replaying;
    await finish();
  });
}
