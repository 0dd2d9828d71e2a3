import { describe, expect, it } from 'vitest';
import { genesisMs } from '../support/genesis.ts';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { publishMany } from '../support/readings/readingMessages.ts';

/** A reading every two minutes for a year. */
const count = 262_800;
const intervalMs = 120_000;
const startMs = genesisMs - count * intervalMs;
const accepted = 'miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}';

interface Statistics {
  readonly lifetime: { readonly activeDayCount: number; readonly acceptedWorkUnits: string };
}

describe('a year of readings', () => {
  it('is not folded again at a restart, and only what came after the snapshot after a kill', async () => {
    const nats = await startNats();
    const settings = { natsUrl: nats.url, dataDir: temporaryDirectory(), startMs };
    const first = await startMiner(settings);
    await waitUntilReady(first);
    const { connection } = await connectTo(nats);
    await publishMany(connection, 'wheel.one', 0, count, { startMs, intervalMs });
    await waitUntilStored(first, count);
    const readLifetime = async (miner: typeof first) =>
      (await miner.json<Statistics>('/v1/measurement/stats?range=30d')).lifetime;
    const lifetime = await readLifetime(first);
    // The first reading adds nothing, and the round of the last five is still open.
    expect(lifetime.activeDayCount).toBe(365);
    expect(lifetime.acceptedWorkUnits).toBe(String((count - 6) * 7));
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await startMiner(settings);
    await waitUntilReady(second);
    expect(await second.metric(accepted)).toBe(0);
    expect(await second.metric('miner_stream_position{stream="MINER_COUNTER"}')).toBe(count);
    expect(await readLifetime(second)).toEqual(lifetime);
    await publishMany(connection, 'wheel.one', count, count + 40, { startMs, intervalMs });
    await waitUntilStored(second, count + 40);
    await second.end('SIGKILL');

    const third = await startMiner(settings);
    await waitUntilReady(third);
    expect(await third.metric(accepted)).toBeLessThanOrEqual(40);
  });
});
