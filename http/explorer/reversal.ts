import type { Bodies } from './page.ts';

type Core = Extract<Bodies['core'], { status: 'available' }>;

/** Rounds that were shown as settled and are not settled in the current chain. */
export interface Reversal {
  readonly firstRound: bigint;
  readonly lastRound: bigint;
}

/** Highest settled round that was seen, and its safe block. */
export interface SettledMark {
  readonly core: string;
  readonly throughRound: bigint;
  readonly safeBlock: bigint;
}

/**
 * Compares the core contract's earlier state with the current one. In one chain the settled rounds only grow, so fewer of them at the same
 * block or a later one mean that a reorganization has replaced the chain. Fewer at an earlier block mean nothing: a replica may be behind.
 */
export function compareSettled(
  seen: SettledMark | null,
  body: Core,
): { readonly seen: SettledMark; readonly reversal: Reversal | null } {
  const shown: SettledMark = {
    core: body.identities.core,
    throughRound: BigInt(body.core.settledThroughRound),
    safeBlock: BigInt(body.chain.safeThroughBlock),
  };
  const isComparable = seen !== null && seen.core === shown.core && shown.throughRound < seen.throughRound;
  if (!isComparable) return { seen: shown, reversal: null };
  if (shown.safeBlock < seen.safeBlock) return { seen, reversal: null };
  return { seen, reversal: { firstRound: shown.throughRound + 1n, lastRound: seen.throughRound } };
}
