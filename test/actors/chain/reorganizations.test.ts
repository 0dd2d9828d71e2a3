import { expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { toChainRow, toFeedItem } from '../../../actors/feed/eventRows.ts';
import { toChainItem } from '../../../actors/feed/feedItem.ts';
import { onChain } from '../../simulation/chain/deployment.ts';
import { genesisMs } from '../../support/genesis.ts';
import { startComparedProgram } from '../../support/reference/comparedProgram.ts';
import { createComparedWorld, worldDeployment } from '../../support/reference/comparedWorld.ts';
import { restoreState } from '../../support/restoreState.ts';
import { sortRecords } from '../../support/sortRecords.ts';

const writeRecords = (actors: ChainActors) => sortRecords(actors.capture());

it('a fold from any snapshot has the same state across reorganizations', async () => {
  const { stored, ...program } = await startComparedProgram(worldDeployment(), genesisMs);
  const world = await createComparedWorld({ ...program, stored }, 13);
  const live = {
    do: 'live',
    work: 40,
    actions: 3,
    isClosing: false,
    isCaughtUp: true,
    coreStatus: 'ACTIVE',
    epoch: 'first',
  } as const;
  for (const depth of [1, 6, 16]) {
    await world.apply({ ...live, minutes: 12 });
    await world.apply({ do: 'reorganize', depth });
  }
  await world.apply({ ...live, minutes: 2 });
  const messages = stored.MINER_CHAIN.map(({ seq, subject, data }) => ({
    seq,
    subject,
    data: data as Uint8Array,
    timestampNanos: BigInt(seq) * 10n ** 9n,
  }));
  const settings = {
    chainId: onChain.chain.chainId,
    contracts: onChain.contracts,
    deploymentBlock: onChain.chain.deploymentBlock,
  };
  const fold = (folded: typeof messages) => {
    const actors = createChainActors(settings);
    for (const message of folded) actors.receive(message);
    return actors;
  };
  const uninterrupted = createChainActors(settings);
  for (const message of messages) expect(uninterrupted.receive(message)).not.toHaveProperty('rejection');
  expect(uninterrupted.state.forks).toBe(3);
  for (let at = 0; at <= messages.length; at += 10) {
    const after = createChainActors(settings);
    restoreState(after, fold(messages.slice(0, at)).capture());
    for (const message of messages.slice(at)) after.receive(message);
    expect(writeRecords(after)).toEqual(writeRecords(uninterrupted));
    expect(after.newestSpanAtMs).toBe(uninterrupted.newestSpanAtMs);
  }
  // Without places in the stream and the number of forks, the replaced blocks leave no trace.
  const unplaced = messages.map((message) => ({ ...message, seq: 0, timestampNanos: 0n }));
  const readFrom = ({ data }: (typeof messages)[number]) =>
    Number(JSON.parse(Buffer.from(data).toString()).fromBlock);
  const remaining = unplaced.filter(
    (message, index) => !unplaced.slice(index + 1).some((later) => readFrom(later) <= readFrom(message)),
  );
  const write = (folded: typeof messages) =>
    writeRecords(fold(folded)).map((record) =>
      // The last members are forks, isMismatched and newestSpanAtMs.
      record.startsWith('fold\t') ? record.replace(/\d+(?=,false,\d+\]$)/, '') : record,
    );
  expect(write(remaining)).toEqual(write(unplaced));
  // A row holds all of an event, of each of the five types.
  const events = uninterrupted.newest()?.feed.events.toArray() ?? [];
  const origin = { chainId: settings.chainId, run: 'run', storedBy: 1, storedAtMs: 1 };
  for (const event of events)
    expect(toFeedItem(toChainRow(event, origin))).toEqual(toChainItem(origin.chainId, event));
  expect(new Set(events.map(({ details }) => details.type)).size).toBe(5);
});
