import { expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { formatRecord } from '../../../actors/foldRecord.ts';
import { onChain } from '../../simulation/chain/deployment.ts';
import { genesisMs } from '../../support/genesis.ts';
import { followCaptures } from '../../support/increments.ts';
import { startComparedProgram } from '../../support/reference/comparedProgram.ts';
import { createComparedWorld, worldDeployment } from '../../support/reference/comparedWorld.ts';
import { restoreState } from '../../support/restoreState.ts';

/** The state's records as text. */
function writeRecords(actors: ChainActors): string[] {
  return Array.from(actors.capture().all(), formatRecord).sort();
}

it('a fold that starts from any snapshot has the same state as one without interruption, across reorganizations', async () => {
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
  for (const depth of [1, 6, 11]) {
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
  const uninterrupted = createChainActors(settings);
  const { follow, increments } = followCaptures();
  for (const [index, message] of messages.entries()) {
    const outcome = uninterrupted.receive(message);
    expect(outcome).not.toHaveProperty('rejection');
    if (index % 3 === 0) follow(uninterrupted.capture());
  }
  expect(increments()).toBeGreaterThan(10);
  expect(uninterrupted.state.forks).toBe(3);
  for (let at = 0; at <= messages.length; at += 10) {
    const before = createChainActors(settings);
    for (const message of messages.slice(0, at)) before.receive(message);
    const after = createChainActors(settings);
    restoreState(after, before.capture().all());
    for (const message of messages.slice(at)) after.receive(message);
    expect(writeRecords(after)).toEqual(writeRecords(uninterrupted));
    expect(after.newestSpanAtMs).toBe(uninterrupted.newestSpanAtMs);
  }
});
