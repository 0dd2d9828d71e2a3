import { startCuttingProxy } from '../processes/cuttingProxy.ts';
import { eventually } from '../processes/lifetime.ts';
import { createSpeedRecords } from '../readings/speedRecords.ts';
import { createGrowingFeed } from './growingFeed.ts';
import { startPublicServer, type TestPublicServer } from './publicServer.ts';

/** Type of the events of each record. Some records have events of other types, too. */
export const eventType = 'measurement.speed_record';

/** Starts a server with three events behind a proxy that cuts connections. */
export async function startEventScenario() {
  const [chain, records] = [createGrowingFeed(), createSpeedRecords()];
  records.add(3);
  const start = (hasViews: boolean) =>
    startPublicServer({ chain: chain.views, progress: records.progress, hasViews });
  let server = await start(true);
  const proxy = await startCuttingProxy(server.base);
  const countStreams = async (of: TestPublicServer) =>
    Number(/miner_event_stream_clients (\d+)/.exec(await of.registry.metrics())?.[1]);
  const readFeed = async () => {
    const response = await server.get('/v1/events?category=measurement&limit=100');
    const { events } = (await response.json()) as { events: { id: string; type: string }[] };
    return events.flatMap(({ id, type }) => (type === eventType ? [id] : [])).reverse();
  };
  return {
    url: proxy.url,
    records,
    cut: proxy.cut,
    untilStreams: (count: number) =>
      eventually(async () => (await countStreams(server)) === count, `${count} open streams`),
    /** IDs of all events of the type so far, oldest first. */
    readFeed,
    /** Ends the server, and starts another one in its place, which has no state yet. */
    restart: async () => {
      server.close();
      server = await start(false);
      proxy.moveTo(server.port);
      // A process that ends closes all its connections.
      proxy.cut();
    },
    /** Gives the new server its state. */
    restore: () => {
      server.hasViews = true;
      server.ready = true;
    },
  };
}
