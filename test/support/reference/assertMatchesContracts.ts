import { keccak256 } from 'viem';
import { expect } from 'vitest';
import { collectionAbi, coreAbi, miningAbi, tokenAbi } from '../../../actors/chain/spans/contractAbis.ts';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { findPhase } from '../../../actors/chain/state/collectionPhase.ts';
import type { MinerPosition } from '../../../actors/chain/state/miningState.ts';
import {
  activateWeight,
  computeActiveWeight,
  computeRewards,
  computeTargetWeight,
  listEarningsDates,
  rewardScale,
} from '../../../actors/chain/state/rewards.ts';
import type { TestEconomy } from '../chain/testEconomy.ts';

/** Phases in the order of the contract's enumeration. */
const phases = ['unconfigured', 'pending', 'allowlist', 'public', 'closed'] as const;

/** Compares every figure of a state with the contracts' answers at its block, to the base unit. */
export async function assertMatchesContracts(
  { client, deployed }: TestEconomy,
  state: ChainState,
): Promise<void> {
  const { contracts } = deployed;
  const blockNumber = state.block.number;
  const abis = { core: coreAbi, mining: miningAbi, collection: collectionAbi, token: tokenAbi };
  const read = (contract: keyof typeof abis, functionName: string, ...args: bigint[]) =>
    client.readContract({
      ...{ address: contracts[contract], abi: abis[contract], blockNumber },
      ...{ functionName, args },
    } as never) as Promise<never>;
  /** Answers of a contract, by the names of these members. Reads that start together are one request. */
  const readAll = async (contract: keyof typeof abis, functions: Readonly<Record<string, string>>) => {
    const entries = Object.entries(functions).map(
      async ([member, name]) => [member, await read(contract, name)] as const,
    );
    return Object.fromEntries(await Promise.all(entries));
  };
  const listNames = (...names: string[]) => Object.fromEntries(names.map((name) => [name, name]));

  const { configuration, ...sums } = state.core;
  const ofCore = ['cumulativeWork', 'cumulativeBlockUnits', 'workPerThousandBlocks', 'settledThroughRound'];
  expect(sums).toMatchObject(await readAll('core', listNames(...ofCore, 'authorizationNonce', 'paused')));
  const configured: Record<string, unknown> = await read('core', 'configuration');
  for (const name of ['streamId', 'genesisTimestamp', 'maxWorkPerRound', 'guardian', 'reporter'] as const)
    expect(String(configuration?.[name])).toBe(String(configured[name]).toLowerCase());
  expect(state.mining).toMatchObject(
    await readAll('mining', {
      ...listNames('totalWeight', 'accumulatedPerWeight', 'processedThroughRound', 'closedThroughBlock'),
      ...{ lastActivationRound: 'lastActivationRound' },
      ...{ mintedBaseUnits: 'totalMinted', paidBaseUnits: 'totalPaid' },
    }),
  );
  expect(state.token).toMatchObject(
    await readAll('token', { supplyBaseUnits: 'totalSupply', symbol: 'symbol' }),
  );

  const sale: { readonly allowlistStart: bigint } = await read('collection', 'sale');
  expect(state.collection.sale ?? { allowlistStart: 0n }).toMatchObject(
    state.collection.sale === null ? { allowlistStart: sale.allowlistStart } : sale,
  );
  expect(state.collection).toMatchObject(
    await readAll(
      'collection',
      listNames('isClosed', 'paused', 'publicMinted', 'reserveMinted', 'metadataEpoch'),
    ),
  );
  expect(findPhase(state.collection, state.block.timestampMs)).toBe(
    phases[await read('collection', 'phase')],
  );
  expect(state.core.implementation).toMatchObject(
    await readAll('core', {
      codeVersion: 'implementationVersion',
      storageLayoutDigest: 'storageLayoutDigest',
    }),
  );
  const code = await client.getCode({
    address: state.core.implementation?.codeAddress as `0x${string}`,
    blockNumber,
  });
  expect(state.core.implementation?.runtimeHash).toBe(keccak256(code ?? '0x'));

  const days = listEarningsDates(state);
  const assertPositionMatches = async ([tokenId, stored]: readonly [number, MinerPosition]) => {
    const id = BigInt(tokenId);
    const [expected, claimable, owner, uri] = await Promise.all([
      read('mining', 'positionOf', id) as Promise<Readonly<Record<string, unknown>>>,
      read('mining', 'claimable', id),
      read('collection', 'ownerOf', id) as Promise<string>,
      // Reverts without metadata.
      read('collection', 'tokenURI', id).catch(() => null),
    ]);
    const position = activateWeight(state.mining, stored);
    const rewards = computeRewards(state, position, days);
    expect({ tokenId, ...summarize(position), ...rewards, byDateScaled: undefined }).toEqual({
      tokenId,
      level: expected.level,
      pendingRound: expected.pendingRound === 0n ? null : expected.pendingRound,
      nextMergeBlock: expected.nextMergeBlock,
      activeWeight: expected.activeWeight,
      targetWeight: expected.targetWeight,
      earnedScaled: expected.earned,
      unclaimedScaled: expected.unclaimed,
      byDateScaled: undefined,
    });
    expect(rewards.unclaimedScaled / rewardScale).toBe(claimable);
    expect(position.owner).toBe(owner.toLowerCase());
    expect(state.owners.get(position.owner)?.tokenIds).toContain(tokenId);
    const metadata = state.collection.metadata.get(tokenId);
    if (metadata?.epoch === state.collection.metadataEpoch) expect(metadata.uri).toBe(uri);
  };
  await Promise.all([...state.minerPositions].map(assertPositionMatches));
  const tokenCount = [...state.owners.values()].reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  expect(tokenCount).toBe(state.minerPositions.size);
}

function summarize(position: ReturnType<typeof activateWeight>) {
  return {
    level: position.level,
    pendingRound: position.pending?.round ?? null,
    nextMergeBlock: position.nextMergeBlock,
    activeWeight: computeActiveWeight(position),
    targetWeight: computeTargetWeight(position),
  };
}
