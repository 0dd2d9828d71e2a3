import { streamNames } from '../../../actors/messages/subjects.ts';
import { ensureStreams } from '../../../streams/jetstream/settings/ensureStreams.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';
import { connectTo, startNats } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';

/** Creates all streams that are missing, without a limit of age. */
export async function createStreams(jetStream: StreamPort): Promise<void> {
  await ensureStreams(jetStream, { streams: streamNames, retentionDays: 0, logger: silentLogger });
}

/** Starts a server with all streams. */
export async function startStreams(...settings: Parameters<typeof startNats>) {
  const server = await startNats(...settings);
  const nats = await connectTo(server);
  await createStreams(nats.jetStream);
  return { server, nats };
}
