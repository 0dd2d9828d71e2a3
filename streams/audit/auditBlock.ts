import { type Abi, type Address, createPublicClient } from 'viem';
import { coreAbi, miningAbi, tokenAbi } from '../../actors/chain/spans/contractAbis.ts';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import type { ChainDeployment } from '../../actors/views/chain/chainDeployment.ts';
import { createNodeTransport, splitNodeUrls } from '../indexer/nodeTransport.ts';

/** Maximum number of differences that one comparison reports. */
const differencesMax = 5;
const requestMs = 10_000;
/** More than the values that one audit compares. */
const comparedMax = 16;

/** A block whose state differs from the node. */
export interface Drift {
  readonly about: string;
  /** Descriptions of the first few differences. */
  readonly differences: readonly string[];
  /** Command that publishes the block again. */
  readonly repair: string;
}

export type Audit = { readonly outcome: 'agrees' | 'skipped' } | ({ readonly outcome: 'drift' } & Drift);

/** Compares a state with the values that the node's contracts return at its block. */
export type BlockAudit = (state: ChainState) => Promise<Audit>;

interface BlockAuditOptions {
  readonly rpcUrl: string;
  readonly contracts: ChainDeployment['contracts'];
}

interface ContractAbi {
  readonly address: Address;
  readonly abi: Abi;
}

/** An audit costs a request for the block, and nine reads of its contracts, which are one batch. */
export function createBlockAudit({ rpcUrl, contracts }: BlockAuditOptions): BlockAudit {
  const [url] = splitNodeUrls(rpcUrl);
  const transport = createNodeTransport({ url, requestMs, batchSize: comparedMax });
  const client = createPublicClient({ transport });
  const ofCore: ContractAbi = { address: contracts.core, abi: coreAbi };
  const ofMining: ContractAbi = { address: contracts.mining, abi: miningAbi };
  const ofToken: ContractAbi = { address: contracts.token, abi: tokenAbi };

  return async (state) => {
    const { number: blockNumber, hash } = state.block;
    const block = await client.getBlock({ blockNumber });
    const differences =
      block.hash === hash
        ? await compareValues(state)
        : [`its hash is ${hash} in memory and ${block.hash} at the node`];
    if (differences === null) return { outcome: 'skipped' };
    if (differences.length === 0) return { outcome: 'agrees' };
    return {
      outcome: 'drift',
      about: `block ${blockNumber}`,
      differences: differences.slice(0, differencesMax),
      repair: `npm run miner -- index --from-block ${blockNumber}`,
    };
  };

  /** Null if the node cannot return a value, for example because it no longer has the state of the block. */
  async function compareValues({ block, core, mining, token }: ChainState): Promise<string[] | null> {
    const blockNumber = block.number;
    const compared = [
      { ...ofCore, functionName: 'cumulativeWork', inMemory: core.cumulativeWork },
      { ...ofCore, functionName: 'cumulativeBlockUnits', inMemory: core.cumulativeBlockUnits },
      { ...ofCore, functionName: 'settledThroughRound', inMemory: core.settledThroughRound },
      { ...ofCore, functionName: 'paused', inMemory: core.paused },
      { ...ofMining, functionName: 'totalMinted', inMemory: mining.mintedBaseUnits },
      { ...ofMining, functionName: 'totalPaid', inMemory: mining.paidBaseUnits },
      { ...ofMining, functionName: 'totalWeight', inMemory: mining.totalWeight },
      { ...ofMining, functionName: 'processedThroughRound', inMemory: mining.processedThroughRound },
      { ...ofToken, functionName: 'totalSupply', inMemory: token?.supplyBaseUnits ?? 0n },
    ];
    const answers = await Promise.all(
      compared.map(({ inMemory: _, ...call }) =>
        client.readContract({ ...call, blockNumber }).catch(() => null),
      ),
    );
    if (answers.includes(null)) return null;
    return compared.flatMap(({ functionName, inMemory }, at) =>
      answers[at] === inMemory
        ? []
        : [`${functionName} is ${inMemory} in memory and ${answers[at]} at the node`],
    );
  }
}
