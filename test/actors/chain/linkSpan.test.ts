import { describe, expect, it } from 'vitest';
import type { ChainSpan } from '../../../actors/chain/spans/chainSpan.ts';
import { linkSpan } from '../../../actors/chain/spans/linkSpan.ts';
import { joinParts } from '../../../actors/chain/spans/spanParts.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';

const block = (number: number, branch = 'a') =>
  ({
    number: BigInt(number),
    hash: buildBlockHash(`${branch}${number}`),
    timestampMs: number,
    logs: [],
  }) as const;

const span = (from: number, to: number, { branch = 'a', parent = 'a', fork = 0 } = {}): ChainSpan => ({
  fromBlock: BigInt(from),
  toBlock: BigInt(to),
  parentHash: buildBlockHash(`${parent}${from - 1}`),
  blocks: [block(to, branch)],
  fork,
  chainId: 1n,
  core: toAddress(`0x${'0'.repeat(40)}`),
  part: null,
});

/** Blocks 10, 12 and 15 are known; the deployment begins with block 5. */
const blocks = [block(10), block(12), block(15)];
const known = {
  head: block(15),
  forks: 2,
  deploymentBlock: 5n,
  newestThrough: (number: bigint) => blocks.findLast((one) => one.number <= number),
};
const empty = { ...known, head: null, forks: 0, newestThrough: () => undefined };

const unbound = { ...empty, deploymentBlock: null };

describe('a span', () => {
  it.each([
    ['begins the chain at the deployment block', span(5, 8), empty, 'first'],
    ['does not begin it above', span(6, 8), empty, 'unlinked'],
    ['does not begin it below', span(4, 8), empty, 'unlinked'],
    ['may begin anywhere without a known deployment block', span(6, 8), unbound, 'first'],
    ['follows the head that it names', span(16, 18), known, 'next'],
    ['leaves nothing out', span(17, 18), known, 'unlinked'],
    ['follows no other head', span(16, 18, { parent: 'b' }), known, 'unlinked'],
    ['replaces the blocks above the block that it names', span(13, 18, { branch: 'b' }), known, 'fork'],
    ['replaces more blocks by fewer only as a new fork', span(13, 14, { branch: 'b' }), known, 'unlinked'],
    ['replaces blocks by as many only as a new fork', span(13, 15, { branch: 'b' }), known, 'unlinked'],
    ['replaces more blocks by fewer as a new fork', span(13, 14, { branch: 'b', fork: 3 }), known, 'fork'],
    ['cannot name an unknown block', span(12, 18, { branch: 'b', fork: 3 }), known, 'unlinked'],
    ['may fork below all known blocks', span(8, 18, { branch: 'b', fork: 3 }), known, 'belowKnown'],
    ['may replace all from the deployment block on', span(5, 18, { branch: 'b', fork: 3 }), known, 'restart'],
    ['does not replace all without a new fork', span(5, 18, { branch: 'b', fork: 2 }), known, 'unlinked'],
  ])('%s', (_, one, before, kind) => {
    expect(linkSpan(one, before).kind).toBe(kind);
  });

  it.each([
    ['another hash', span(13, 18, { parent: 'b' }), `block 12 is ${buildBlockHash('a12')}`],
    ['an unknown block above a known one', span(12, 18, { fork: 3 }), 'block 11 is unknown'],
    ['a block below all known ones', span(8, 18, { fork: 3 }), 'block 7 is unknown'],
  ])('is refused by naming the known block if its parent is %s', (_, one, found) => {
    expect(linkSpan(one, known)).toHaveProperty('detail', expect.stringMatching(`, but ${found}$`));
  });

  it('is complete with its last part', () => {
    const part = (index: number, from = 16) => ({ ...span(from, from), part: { index, count: 2 } });
    const first = joinParts(null, part(0));
    expect(first).toHaveProperty('parts');
    const { parts } = first as Extract<typeof first, { parts: unknown }>;
    expect(joinParts(parts, part(1))).toMatchObject({ complete: { part: null } });
    expect(joinParts(parts, part(1, 17))).toHaveProperty('rejection');
    expect(joinParts(null, part(1))).toHaveProperty('rejection');
  });
});
