import { createPublicClient, http, webSocket } from 'viem';
import { coreAbi, miningAbi, tokenAbi } from '../../actors/chain/spans/contractAbis.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import type { ChainDeployment } from '../../actors/views/chain/chainDeployment.ts';
import { type Audit, differencesMax } from './audit.ts';

const requestMs = 10_000;

/** Compares a state with what the node's contracts answer at its block. */
export type BlockAudit = (state: ChainState) => Promise<Audit<bigint>>;

export interface BlockAuditOptions {
  readonly rpcUrl: string;
  readonly contracts: ChainDeployment['contracts'];
}

/** One request for the block, and one batch for nine values of its contracts. */
export function createBlockAudit({ rpcUrl, contracts }: BlockAuditOptions): BlockAudit {
  const settings = { timeout: requestMs, retryCount: 0 };
  const transport = rpcUrl.startsWith('ws')
    ? webSocket(rpcUrl, settings)
    : http(rpcUrl, { ...settings, batch: true });
  const client = createPublicClient({ transport });

  return async (state) => {
    const { number: blockNumber, hash } = state.block;
    const about = `block ${blockNumber}`;
    const block = await client.getBlock({ blockNumber });
    const differences =
      block.hash === hash
        ? await compareValues(state)
        : [`its hash is ${hash} in memory and ${block.hash} at the node`];
    if (differences === null) return { outcome: 'skipped', about };
    if (differences.length === 0) return { outcome: 'agrees', about };
    return {
      outcome: 'drift',
      about,
      key: String(blockNumber),
      sample: blockNumber,
      differences: differences.slice(0, differencesMax),
      repair: `npm run miner -- index --from-block ${blockNumber}`,
    };
  };

  /** Null where the node does not have the state of the block any more. */
  async function compareValues({ block, core, mining, token }: ChainState): Promise<string[] | null> {
    const blockNumber = block.number;
    const ofCore = { address: contracts.core, abi: coreAbi, blockNumber } as const;
    const ofMining = { address: contracts.mining, abi: miningAbi, blockNumber } as const;
    const ofToken = { address: contracts.token, abi: tokenAbi, blockNumber } as const;
    const asked: readonly (readonly [
      name: string,
      inMemory: bigint | boolean,
      atNode: Promise<bigint | boolean>,
    ])[] = [
      [
        'cumulativeWork',
        core.cumulativeWork,
        client.readContract({ ...ofCore, functionName: 'cumulativeWork' }),
      ],
      [
        'cumulativeBlockUnits',
        core.cumulativeBlockUnits,
        client.readContract({ ...ofCore, functionName: 'cumulativeBlockUnits' }),
      ],
      [
        'settledThroughRound',
        core.settledThroughRound,
        client.readContract({ ...ofCore, functionName: 'settledThroughRound' }),
      ],
      ['paused', core.paused, client.readContract({ ...ofCore, functionName: 'paused' })],
      [
        'totalMinted',
        mining.mintedBaseUnits,
        client.readContract({ ...ofMining, functionName: 'totalMinted' }),
      ],
      ['totalPaid', mining.paidBaseUnits, client.readContract({ ...ofMining, functionName: 'totalPaid' })],
      ['totalWeight', mining.totalWeight, client.readContract({ ...ofMining, functionName: 'totalWeight' })],
      [
        'processedThroughRound',
        mining.processedThroughRound,
        client.readContract({ ...ofMining, functionName: 'processedThroughRound' }),
      ],
      [
        'totalSupply',
        token?.supplyBaseUnits ?? 0n,
        client.readContract({ ...ofToken, functionName: 'totalSupply' }),
      ],
    ];
    const answers = await Promise.allSettled(asked.map(([, , atNode]) => atNode));
    if (answers.some(({ status }) => status === 'rejected')) return null;
    return asked.flatMap(([name, inMemory], at) => {
      const answer = answers[at];
      return answer?.status === 'fulfilled' && answer.value !== inMemory
        ? [`${name} is ${inMemory} in memory and ${answer.value} at the node`]
        : [];
    });
  }
}
