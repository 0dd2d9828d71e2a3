import type { Hex } from 'viem';
import { zeroHash } from '../../../actors/schemas/hex.ts';
import { copyState, createEconomyState, type EconomyState, runAction } from './contracts/contractState.ts';
import { listDeployment } from './deployment.ts';
import type { Action } from './drawAction.ts';
import { type RunTransaction, type SealedBlock, type SentTransaction, sealBlock } from './sealBlock.ts';

/** Contents of a block to mine. Each action is drawn from the state after the actions before it, or was sent earlier. */
export interface BlockPlan {
  /** Raised to a second after the parent's if it is earlier. */
  readonly timestamp: bigint;
  readonly drawActions: (state: EconomyState, timestamp: bigint) => Iterable<Action | SentTransaction>;
}

/** A node's chain, and every branch that it ever followed. */
export type EthereumChain = Awaited<ReturnType<typeof createEthereumChain>>;

export async function createEthereumChain(genesis: bigint, startsAt: bigint) {
  const known = new Map<Hex, SealedBlock>();
  const confirmed = new Map<Hex, bigint>();
  const returned = new Set<Hex>();
  let blocks: SealedBlock[] = [];
  /** The chain before the last reorganization. */
  let replaced: readonly SealedBlock[] = [];
  let salt = 0n;
  let isUnknownFork = false;
  let nextNonce = 0n;

  async function extend(chain: readonly SealedBlock[], { timestamp, drawActions }: BlockPlan) {
    const parent = chain.at(-1) ?? null;
    const state = parent?.state ?? createEconomyState(genesis);
    const least = (parent?.timestamp ?? -1n) + 1n;
    const run = runTransactions(state, timestamp > least ? timestamp : least, drawActions, () => nextNonce++);
    const block = await sealBlock({
      number: (parent?.number ?? -1n) + 1n,
      parentHash: parent?.hash ?? zeroHash,
      salt: salt++,
      isUnknownFork,
      ...run,
    });
    known.set(block.hash, block);
    return block;
  }

  function adopt(next: SealedBlock[], from: number) {
    blocks = next;
    const tip = blocks.length - 1;
    // Confirmations above 16 are never asked for, so blocks further below are not updated.
    for (let at = Math.max(0, from - 16); at <= tip; at++) {
      const { hash } = blocks[at] as SealedBlock;
      const count = BigInt(tip - at + 1);
      if (count > (confirmed.get(hash) ?? 0n)) confirmed.set(hash, count);
    }
  }

  for (const [number, actions] of listDeployment(genesis).entries()) {
    const plan = { timestamp: startsAt + BigInt(number), drawActions: () => actions };
    adopt([...blocks, await extend(blocks, plan)], number);
  }

  return {
    /** By number, from the genesis on. */
    get blocks(): readonly SealedBlock[] {
      return blocks;
    },
    get tip(): SealedBlock {
      return blocks.at(-1) as SealedBlock;
    },
    /** Includes replaced branches. */
    find: (hash: Hex) => known.get(hash) ?? null,
    /** Most confirmations that a block ever had, its own block counted; 0 if it is unknown. */
    confirmationsOf: (hash: Hex) => confirmed.get(hash) ?? 0n,
    /** Whether the chain has returned to a block that a reorganization had replaced. */
    hasReturnedTo: (hash: Hex) => returned.has(hash),
    mine: async (plan: BlockPlan) => {
      const block = await extend(blocks, plan);
      adopt([...blocks, block], blocks.length);
    },
    /** Replaces the newest `depth` blocks at once. The new blocks may contain transactions of the replaced ones. */
    reorganize: async (
      depth: number,
      planBranch: (replaced: readonly SentTransaction[]) => readonly BlockPlan[],
    ) => {
      const length = Math.max(blocks.length - depth, listDeployment(genesis).length);
      replaced = blocks;
      const kept = blocks.slice(0, length);
      const branch = [...kept];
      for (const plan of planBranch(blocks.slice(length).flatMap(({ sent }) => sent)))
        branch.push(await extend(branch, plan));
      adopt(branch, kept.length);
    },
    /** Follows a fork whose headers have another member. The returned function gives the fork up. */
    followUnknownFork: () => {
      isUnknownFork = true;
      return async (planBlock: () => BlockPlan) => {
        isUnknownFork = false;
        const fork = blocks.findIndex(isOfUnknownFork);
        if (fork === -1) return;
        const branch = blocks.slice(0, fork);
        while (branch.length <= blocks.length) branch.push(await extend(branch, planBlock()));
        adopt(branch, fork);
      };
    },
    /** Returns to the branch that the last reorganization replaced, and extends it until it is longer. */
    returnToBranch: async (planBlock: () => BlockPlan) => {
      if (replaced.length === 0 || replaced.some(isOfUnknownFork)) return;
      const branch = [...replaced];
      while (branch.length <= blocks.length) branch.push(await extend(branch, planBlock()));
      const fork = branch.findIndex((block, number) => block !== blocks[number]);
      for (const { hash } of replaced.slice(fork)) returned.add(hash);
      replaced = blocks;
      adopt(branch, fork);
    },
  };
}

export const isOfUnknownFork = ({ header }: SealedBlock) => 'unknownRoot' in header;

/** Runs the drawn transactions one after another on a copy of the state. */
function runTransactions(
  before: EconomyState,
  timestamp: bigint,
  drawActions: BlockPlan['drawActions'],
  takeNonce: () => bigint,
): { state: EconomyState; timestamp: bigint; transactions: RunTransaction[] } {
  const state = copyState(before);
  const transactions: RunTransaction[] = [];
  for (const drawn of drawActions(state, timestamp)) {
    const sent = typeof drawn === 'function' ? { act: drawn, nonce: takeNonce() } : drawn;
    const events = runAction(sent.act, state, timestamp);
    transactions.push({ ...sent, events: events ?? [], isReverted: events === null });
  }
  return { state, timestamp, transactions };
}
