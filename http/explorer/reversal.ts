import type { Bodies } from './page.ts';

type Core = Extract<Bodies['core'], { status: 'available' }>;

/** What was shown as settled, and is not in the chain that is there now. */
export interface Reversal {
  readonly firstRound: bigint;
  readonly lastRound: bigint;
}

/** How far settlement was seen to reach, and at which safe block. */
export interface SettledMark {
  readonly core: string;
  readonly throughRound: bigint;
  readonly safeBlock: bigint;
}

/**
 * Compares what was seen of the core contract with what is shown now. In one chain the settled rounds only grow, so fewer of them at the same
 * block or a later one mean that another chain has taken its place. Fewer at an earlier block mean nothing: a replica may be behind.
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
