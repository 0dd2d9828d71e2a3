import type { JetStreamManager } from '@nats-io/jetstream';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { ensureStreams } from '../../../streams/jetstream/settings/ensureStreams.ts';
import { connectTo, startNats } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';

/** Creates all streams that are missing, without a limit of age. */
export async function createStreams(jsm: JetStreamManager): Promise<void> {
  await ensureStreams(jsm, { streams: streamNames, retentionDays: 0, logger: silentLogger });
}

/** Starts a server with all streams. */
export async function startStreams(...settings: Parameters<typeof startNats>) {
  const server = await startNats(...settings);
  const nats = await connectTo(server);
  await createStreams(nats.jsm);
  return { server, nats };
}
