import { keccak256 } from 'viem';
import { expect } from 'vitest';
import type { ChainState } from '../../actors/chain/chainState.ts';
import { collectionAbi, coreAbi, miningAbi, tokenAbi } from '../../actors/chain/contractAbis.ts';
import {
  activated,
  activeWeightOf,
  earningsDatesOf,
  rewardScale,
  rewardsOf,
  targetWeightOf,
} from '../../actors/chain/rewards.ts';
import { phaseOf } from '../../actors/views/chainViews.ts';
import type { TestEconomy } from './testEconomy.ts';

/** In the order of the contract's enumeration. */
const phases = ['unconfigured', 'pending', 'allowlist', 'public', 'closed'] as const;

/** Compares every figure of a state with what the contracts answer at its block, to the base unit. */
export async function judge({ client, deployed }: TestEconomy, state: ChainState): Promise<void> {
  const { contracts } = deployed;
  const blockNumber = state.block.number;
  const core = { address: contracts.core, abi: coreAbi, blockNumber } as const;
  const mining = { address: contracts.mining, abi: miningAbi, blockNumber } as const;
  const collection = { address: contracts.collection, abi: collectionAbi, blockNumber } as const;
  const token = { address: contracts.token, abi: tokenAbi, blockNumber } as const;

  const { configuration, ...sums } = state.core;
  expect(sums).toMatchObject({
    cumulativeWork: await client.readContract({ ...core, functionName: 'cumulativeWork' }),
    cumulativeBlockUnits: await client.readContract({ ...core, functionName: 'cumulativeBlockUnits' }),
    workPerThousandBlocks: await client.readContract({ ...core, functionName: 'workPerThousandBlocks' }),
    settledThroughRound: await client.readContract({ ...core, functionName: 'settledThroughRound' }),
    authorizationNonce: await client.readContract({ ...core, functionName: 'authorizationNonce' }),
    paused: await client.readContract({ ...core, functionName: 'paused' }),
  });
  const configured = await client.readContract({ ...core, functionName: 'configuration' });
  expect(configuration).toMatchObject({
    streamId: configured.streamId,
    genesisTimestamp: configured.genesisTimestamp,
    maxWorkPerRound: configured.maxWorkPerRound,
    guardian: configured.guardian.toLowerCase(),
    reporter: configured.reporter.toLowerCase(),
  });

  expect(state.mining).toMatchObject({
    totalWeight: await client.readContract({ ...mining, functionName: 'totalWeight' }),
    accumulatedPerWeight: await client.readContract({ ...mining, functionName: 'accumulatedPerWeight' }),
    mintedBaseUnits: await client.readContract({ ...mining, functionName: 'totalMinted' }),
    paidBaseUnits: await client.readContract({ ...mining, functionName: 'totalPaid' }),
    processedThroughRound: await client.readContract({ ...mining, functionName: 'processedThroughRound' }),
    closedThroughBlock: await client.readContract({ ...mining, functionName: 'closedThroughBlock' }),
    lastActivationRound: await client.readContract({ ...mining, functionName: 'lastActivationRound' }),
  });
  expect(state.token?.supplyBaseUnits).toBe(
    await client.readContract({ ...token, functionName: 'totalSupply' }),
  );
  expect(state.token?.symbol).toBe(await client.readContract({ ...token, functionName: 'symbol' }));

  const sale = await client.readContract({ ...collection, functionName: 'sale' });
  expect(state.collection.sale ?? { allowlistStart: 0n }).toMatchObject(
    state.collection.sale === null ? { allowlistStart: sale.allowlistStart } : sale,
  );
  expect(state.collection).toMatchObject({
    isClosed: await client.readContract({ ...collection, functionName: 'isClosed' }),
    paused: await client.readContract({ ...collection, functionName: 'paused' }),
    publicMinted: await client.readContract({ ...collection, functionName: 'publicMinted' }),
    reserveMinted: await client.readContract({ ...collection, functionName: 'reserveMinted' }),
    metadataEpoch: await client.readContract({ ...collection, functionName: 'metadataEpoch' }),
  });

  const phase = await client.readContract({ ...collection, functionName: 'phase' });
  expect(phaseOf(state.collection, state.block.timestampMs)).toBe(phases[phase]);
  expect(state.core.implementation).toMatchObject({
    codeVersion: await client.readContract({ ...core, functionName: 'implementationVersion' }),
    storageLayoutDigest: await client.readContract({ ...core, functionName: 'storageLayoutDigest' }),
  });
  const code = await client.getCode({
    address: state.core.implementation?.codeAddress as `0x${string}`,
    blockNumber,
  });
  expect(state.core.implementation?.runtimeHash).toBe(keccak256(code ?? '0x'));

  const days = earningsDatesOf(state);
  for (const [tokenId, held] of state.positions) {
    const of = { ...mining, functionName: 'positionOf', args: [BigInt(tokenId)] } as const;
    const judged = await client.readContract(of);
    const position = activated(state.mining, held);
    const rewards = rewardsOf(state, position, days);
    expect({ tokenId, ...summaryOf(position), ...rewards, byDateScaled: undefined }).toEqual({
      tokenId,
      level: judged.level,
      pendingRound: judged.pendingRound === 0n ? null : judged.pendingRound,
      nextMergeBlock: judged.nextMergeBlock,
      activeWeight: judged.activeWeight,
      targetWeight: judged.targetWeight,
      earnedScaled: judged.earned,
      unclaimedScaled: judged.unclaimed,
      byDateScaled: undefined,
    });
    expect(rewards.unclaimedScaled / rewardScale).toBe(
      await client.readContract({ ...mining, functionName: 'claimable', args: [BigInt(tokenId)] }),
    );
    const owner = await client.readContract({
      ...collection,
      functionName: 'ownerOf',
      args: [BigInt(tokenId)],
    });
    expect(position.owner).toBe(owner.toLowerCase());
    expect(state.owners.get(position.owner)?.tokenIds).toContain(tokenId);
    const metadata = state.collection.metadata.get(tokenId);
    if (metadata?.epoch === state.collection.metadataEpoch) {
      const uri = await client.readContract({
        ...collection,
        functionName: 'tokenURI',
        args: [BigInt(tokenId)],
      });
      expect(metadata.uri).toBe(uri);
    }
  }
  const heldTokens = [...state.owners.values()].reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  expect(heldTokens).toBe(state.positions.size);
}

function summaryOf(position: ReturnType<typeof activated>) {
  return {
    level: position.level,
    pendingRound: position.pending?.round ?? null,
    nextMergeBlock: position.nextMergeBlock,
    activeWeight: activeWeightOf(position),
    targetWeight: targetWeightOf(position),
  };
}
