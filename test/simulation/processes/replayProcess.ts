import { pino } from 'pino';
import { replay } from '../../../deploy/commands/replay/replay.ts';
import { prepareReplay } from '../../../deploy/commands/replay/replayOptions.ts';
import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { openDatabase } from '../../../storage/clickhouse/database.ts';
import { connectNats } from '../../../streams/nats/connection.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

const logger = pino({ level: 'silent' });

/** It is killed after this time. */
const limitMs = 60_000;

/**
 * Runs the command `replay` from a message on in a process of its own, until it ends, fails as it may, or is killed.
 *
 * @param afterSendings number of sendings before it is killed; 0 for never.
 */
export async function runReplayProcess(
  world: SimulatedWorld,
  deployment: Deployment,
  { sequence, afterSendings }: { readonly sequence: number; readonly afterSendings: number },
): Promise<string> {
  const domain = world.time.createDomain('replay');
  if (afterSendings > 0) world.crashAfter(domain, afterSendings);
  const running = world
    .run(domain, () => runCommand(deployment, sequence))
    .then(
      () => 'done',
      (error: unknown) => String(error),
    );
  const outcome = await Promise.race([running, world.sleep(limitMs).then(() => 'killed')]);
  domain.isDead = true;
  return outcome;
}

/** Does the work of `deploy/commands/replay/runReplay.ts` without its command line. */
async function runCommand(deployment: Deployment, sequence: number): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const database = openDatabase({ url: 'http://127.0.0.1:8123/miner' });
  const jetStream = await connectNats({
    url: 'nats://127.0.0.1:4222',
    name: 'miner replay',
    logger,
    signal,
  });
  try {
    const dryRun = false;
    const options = { jetStream, database, deployment, dryRun, logger, signal, print: () => undefined };
    await prepareReplay(options);
    await replay(options, { streams: ['MINER_COUNTER'], from: { sequence } });
  } finally {
    await jetStream.close();
    await database.close();
  }
}
