import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { formatRecord } from '../../../actors/foldRecord.ts';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { ensureStreams } from '../../../streams/jetstream/ensureStreams.ts';
import {
  describeState,
  foldSpans,
  startIndexed,
  startIndexer,
  testChainId,
} from '../../support/chain/indexedChain.ts';
import { createRandomEconomy } from '../../support/chain/randomEconomy.ts';
import { reorganize } from '../../support/chain/reorganize.ts';
import { startEconomy } from '../../support/chain/testEconomy.ts';
import { followCaptures } from '../../support/increments.ts';
import { connectTo, startNats } from '../../support/processes/natsServer.ts';
import { assertMatchesContracts } from '../../support/reference/assertMatchesContracts.ts';
import { restoreState } from '../../support/restoreState.ts';
import { silentLogger } from '../../support/silentLogger.ts';

/** The state's records as text. */
function writeRecords(actors: ChainActors): string[] {
  return Array.from(actors.capture().all(), formatRecord).sort();
}

describe('reorganizations', () => {
  it('of depth 1 to 11 leave no trace: the state equals a fresh index of the final chain', async () => {
    const economy = await startEconomy();
    const { nats, caughtUp, indexer } = await startIndexed(economy);
    const random = createRandomEconomy(economy, 7);
    await random.open();
    for (let step = 0; step < 30; step++) await random.step();
    await caughtUp();
    for (let depth = 1; depth <= 11; depth++) {
      await reorganize(economy, depth, random.step);
      await random.step();
      await caughtUp();
    }
    expect(indexer.status().reorganizations).toBe(11);
    const result = await foldSpans(economy, nats);
    expect(result.rejections).toEqual([]);
    expect(result.reorganizations).toEqual(Array.from({ length: 11 }, () => 0));
    await assertMatchesContracts(economy, result.state.safe.at(-1) as never);

    const fresh = await connectTo(await startNats());
    await ensureStreams(fresh.jsm, { streams: streamNames, retentionDays: 0, logger: silentLogger });
    const again = startIndexer(economy, fresh);
    await again.caughtUp();
    expect(describeState((await foldSpans(economy, fresh)).state)).toBe(describeState(result.state));
  });

  it('give the same state to a fold that starts from any snapshot', async () => {
    const economy = await startEconomy();
    const { nats, caughtUp } = await startIndexed(economy);
    const random = createRandomEconomy(economy, 13);
    await random.open();
    for (let step = 0; step < 40; step++) await random.step();
    await caughtUp();
    await reorganize(economy, 6, random.step);
    await random.step();
    await caughtUp();
    const { contracts, deploymentBlock } = economy.deployed;
    const settings = { chainId: testChainId, contracts, deploymentBlock };
    const uninterrupted = createChainActors(settings);
    const { state: streamState } = await nats.jsm.streams.info('MINER_CHAIN');
    const messages = [];
    for (let seq = 1; seq <= streamState.last_seq; seq++) {
      const stored = await nats.jsm.streams.getMessage('MINER_CHAIN', { seq });
      if (stored === null) continue;
      messages.push({
        seq,
        subject: stored.subject,
        data: stored.data,
        timestampNanos: BigInt(seq) * 10n ** 9n,
      });
    }
    const { follow, increments } = followCaptures();
    for (const [index, message] of messages.entries()) {
      uninterrupted.receive(message);
      if (index % 3 === 0) follow(uninterrupted.capture());
    }
    expect(increments()).toBeGreaterThan(10);
    for (let at = 0; at <= messages.length; at += 7) {
      const before = createChainActors(settings);
      for (const message of messages.slice(0, at)) before.receive(message);
      const after = createChainActors(settings);
      restoreState(after, before.capture().all());
      for (const message of messages.slice(at)) after.receive(message);
      expect(writeRecords(after)).toEqual(writeRecords(uninterrupted));
      expect(after.newestSpanAtMs).toBe(uninterrupted.newestSpanAtMs);
    }
  });
});
