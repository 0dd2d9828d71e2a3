import { join } from 'node:path';
import { openDatabase } from '../../../storage/clickhouse/database.ts';
import { requireSupportedServer } from '../../../storage/clickhouse/serverVersion.ts';
import { connectNats } from '../../../streams/nats/connection.ts';
import { foldStopMs } from '../../../streams/work/replayRun.ts';
import { boundDeployment, locateDatabase } from '../../configuration/configuration.ts';
import { readDeploymentFile } from '../../configuration/deploymentFile.ts';
import { locateNats } from '../../configuration/natsConfiguration.ts';
import { within } from '../../process/within.ts';
import { runUntilStopped, startOwnNats } from '../runService.ts';
import { type ReplayRequest, replay } from './replay.ts';
import { prepareReplay } from './replayOptions.ts';

const closeGraceMs = 1_000;

/** The command line's `replay`. Exits with status 1 if it is refused, or if a dry run finds a difference. */
export function runReplay({
  dryRun,
  ...request
}: ReplayRequest & { readonly dryRun: boolean }): Promise<void> {
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
    const jetStream = await connectNats({
      ...nats,
      name: 'miner replay',
      logger: quiet,
      signal: stopping.signal,
    });
    onStop('the connection to NATS', () => within(closeGraceMs, jetStream.close()));
    await requireSupportedServer(database);
    const options = {
      jetStream,
      database,
      deployment,
      dryRun,
      logger: quiet,
      signal: stopping.signal,
      print: (line: string) => process.stdout.write(`${line}\n`),
    };
    await prepareReplay(options);
    const replaying = replay(options, request);
    onStop('the replay', async () => {
      stopping.abort();
      await within(foldStopMs, replaying);
    });
    const isSound = await replaying;
    await finish();
    if (!isSound) process.exitCode = 1;
  });
}
