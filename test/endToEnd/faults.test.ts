import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/processes/childProcess.ts';
import {
  fetchReadiness,
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
} from '../support/processes/minerProcess.ts';
import { connectTo, readRejections, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { allObservations, storedState } from '../support/storage/storedState.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

/** Rejected messages among the first `count` of mixedPublications. */
function listRejectedSequences(count: number): number[] {
  const isBad = (number: number) => [40, 80, 120, 160, 200, 239].includes(number % 240);
  return Array.from({ length: count }, (_, number) => number).flatMap((number) =>
    isBad(number) ? [number + 1] : [],
  );
}

async function readShown(miner: MinerProcess) {
  const observations = await Promise.all(installations.map((one) => allObservations(miner, one)));
  const telemetry = await Promise.all(
    installations.map((one) => miner.json(`/v1/public/installations/${one}/telemetry`)),
  );
  return { observations, telemetry };
}

it('a service killed in a burst of readings ends like an uninterrupted run', async () => {
  // There is a snapshot only every ten minutes. Without one, the entire stream is folded again over stored rows.
  const nats = await startNats();
  const connected = await connectTo(nats);
  await createRemovableStreams(connected.jsm);
  const dataDir = temporaryDirectory();
  let miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilReady(miner);
  const count = 3_000;
  const publications = mixedPublications(count);
  // A little at a time, as devices do, so that a kill comes in the middle.
  const publishing = (async () => {
    for (let from = 0; from < count; from += 100)
      await publishAll(connected.connection, publications.slice(from, from + 100));
  })();
  for (const position of [500, 1_500]) {
    await eventually(
      async () => ((await fetchReadiness(miner)).streams.MINER_COUNTER?.position ?? 0) > position,
      `folding beyond ${position}`,
    );
    await miner.end('SIGKILL');
    miner = await startMiner({ natsUrl: nats.url, dataDir });
  }
  await publishing;
  await waitUntilStored(miner, count);
  // A clean stop leaves a snapshot: the next start begins there.
  await miner.end('SIGTERM');
  miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilReady(miner);
  expect(miner.log().some(({ msg, position }) => msg === 'snapshot restored' && position === count)).toBe(
    true,
  );
  const readRejectedCount = async () =>
    (await readRejections(connected, 'MINER_COUNTER')).map(({ sequence }) => sequence);
  expect(await readRejectedCount()).toEqual(listRejectedSequences(count));
  // As an undisturbed service on the same streams.
  const shown = await readShown(miner);
  await miner.end('SIGTERM');
  const otherDir = temporaryDirectory();
  const other = await startMiner({ natsUrl: nats.url, dataDir: otherDir });
  await waitUntilStored(other, count);
  expect(shown).toEqual(await readShown(other));
  await other.end('SIGTERM');
  const [stored, expected] = [
    await storedState({ path: join(dataDir, 'clickhouse') }),
    await storedState({ path: join(otherDir, 'clickhouse') }),
  ];
  expect(stored).toEqual(expected);
  expect(await readRejectedCount()).toEqual(listRejectedSequences(count));
});
