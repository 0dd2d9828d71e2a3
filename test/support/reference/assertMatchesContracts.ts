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
  const core = { address: contracts.core, abi: coreAbi, blockNumber } as const;
  const mining = { address: contracts.mining, abi: miningAbi, blockNumber } as const;
  const collection = { address: contracts.collection, abi: collectionAbi, blockNumber } as const;
  const token = { address: contracts.token, abi: tokenAbi, blockNumber } as const;

  const { configuration, ...sums } = state.core;
  expect(sums).toMatchObject(
    await together({
      cumulativeWork: client.readContract({ ...core, functionName: 'cumulativeWork' }),
      cumulativeBlockUnits: client.readContract({ ...core, functionName: 'cumulativeBlockUnits' }),
      workPerThousandBlocks: client.readContract({ ...core, functionName: 'workPerThousandBlocks' }),
      settledThroughRound: client.readContract({ ...core, functionName: 'settledThroughRound' }),
      authorizationNonce: client.readContract({ ...core, functionName: 'authorizationNonce' }),
      paused: client.readContract({ ...core, functionName: 'paused' }),
    }),
  );
  const configured = await client.readContract({ ...core, functionName: 'configuration' });
  expect(configuration).toMatchObject({
    streamId: configured.streamId,
    genesisTimestamp: configured.genesisTimestamp,
    maxWorkPerRound: configured.maxWorkPerRound,
    guardian: configured.guardian.toLowerCase(),
    reporter: configured.reporter.toLowerCase(),
  });

  expect(state.mining).toMatchObject(
    await together({
      totalWeight: client.readContract({ ...mining, functionName: 'totalWeight' }),
      accumulatedPerWeight: client.readContract({ ...mining, functionName: 'accumulatedPerWeight' }),
      mintedBaseUnits: client.readContract({ ...mining, functionName: 'totalMinted' }),
      paidBaseUnits: client.readContract({ ...mining, functionName: 'totalPaid' }),
      processedThroughRound: client.readContract({ ...mining, functionName: 'processedThroughRound' }),
      closedThroughBlock: client.readContract({ ...mining, functionName: 'closedThroughBlock' }),
      lastActivationRound: client.readContract({ ...mining, functionName: 'lastActivationRound' }),
    }),
  );
  expect(state.token?.supplyBaseUnits).toBe(
    await client.readContract({ ...token, functionName: 'totalSupply' }),
  );
  expect(state.token?.symbol).toBe(await client.readContract({ ...token, functionName: 'symbol' }));

  const sale = await client.readContract({ ...collection, functionName: 'sale' });
  expect(state.collection.sale ?? { allowlistStart: 0n }).toMatchObject(
    state.collection.sale === null ? { allowlistStart: sale.allowlistStart } : sale,
  );
  expect(state.collection).toMatchObject(
    await together({
      isClosed: client.readContract({ ...collection, functionName: 'isClosed' }),
      paused: client.readContract({ ...collection, functionName: 'paused' }),
      publicMinted: client.readContract({ ...collection, functionName: 'publicMinted' }),
      reserveMinted: client.readContract({ ...collection, functionName: 'reserveMinted' }),
      metadataEpoch: client.readContract({ ...collection, functionName: 'metadataEpoch' }),
    }),
  );

  const phase = await client.readContract({ ...collection, functionName: 'phase' });
  expect(findPhase(state.collection, state.block.timestampMs)).toBe(phases[phase]);
  expect(state.core.implementation).toMatchObject(
    await together({
      codeVersion: client.readContract({ ...core, functionName: 'implementationVersion' }),
      storageLayoutDigest: client.readContract({ ...core, functionName: 'storageLayoutDigest' }),
    }),
  );
  const code = await client.getCode({
    address: state.core.implementation?.codeAddress as `0x${string}`,
    blockNumber,
  });
  expect(state.core.implementation?.runtimeHash).toBe(keccak256(code ?? '0x'));

  const days = listEarningsDates(state);
  const assertPositionMatches = async ([tokenId, stored]: readonly [number, MinerPosition]) => {
    const args = [BigInt(tokenId)] as const;
    const { expected, claimable, owner, uri } = await together({
      expected: client.readContract({ ...mining, functionName: 'positionOf', args }),
      claimable: client.readContract({ ...mining, functionName: 'claimable', args }),
      owner: client.readContract({ ...collection, functionName: 'ownerOf', args }),
      // Reverts without metadata.
      uri: client.readContract({ ...collection, functionName: 'tokenURI', args }).catch(() => null),
    });
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

/** Starts reads together, so that the client batches them in one request. */
async function together<Reads extends Record<string, Promise<unknown>>>(
  reads: Reads,
): Promise<{ [Name in keyof Reads]: Awaited<Reads[Name]> }> {
  const entries = Object.entries(reads).map(async ([name, read]) => [name, await read] as const);
  return Object.fromEntries(await Promise.all(entries)) as never;
}
