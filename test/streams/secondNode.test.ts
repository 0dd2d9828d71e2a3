import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createBlockPublishing } from '../../streams/indexer/blockPublishing.ts';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import type { PublishedBlock, SpanPublisher } from '../../streams/indexer/spanPublisher.ts';
import { serveChains, writeChain } from '../support/chain/writtenNode.ts';

const empty = (length: number) => Array.from({ length }, () => []);
const chain = await writeChain(empty(100));
const branch = await writeChain(empty(100), { salt: 1n, shared: chain.slice(0, 80) });

type Chain = Awaited<ReturnType<typeof writeChain>>;

/** Publishes the chain of the first node from block 1, and returns the last published block and why it ended. */
async function publish(second: Chain, what: 'blocks' | 'ranges', from = 30) {
  const [first, witness] = serveChains(chain, second).map(({ url }) =>
    createChainReader({ url, addresses: [], requestMs: 1_000 }),
  ) as [ReturnType<typeof createChainReader>, ReturnType<typeof createChainReader>];
  const published: PublishedBlock[] = [];
  const publisher = {
    published: () => published,
    publish: async ({ last }: { last: PublishedBlock }) => {
      published.push(last);
    },
  } as unknown as SpanPublisher;
  const publishing = createBlockPublishing({
    reader: first,
    witness,
    publisher,
    onPublished: () => undefined,
  });
  const ahead = { next: await first.header(BigInt(from)), newest: await first.tip() };
  const problem = await publishing[what](ahead, new AbortController().signal).then(
    () => null,
    (error: Error) => error.message,
  );
  return { last: published.at(-1)?.number ?? null, problem };
}

describe('a second node', () => {
  it('that agrees holds nothing up', async () => {
    expect(await publish(chain, 'blocks')).toEqual({ last: 99n, problem: null });
    expect(await publish(chain, 'ranges', 1)).toEqual({ last: 35n, problem: null });
  });

  it('may be some blocks behind', async () => {
    expect(await publish(chain.slice(0, 89), 'blocks')).toEqual({ last: 99n, problem: null });
  });

  it.each([
    ['has another block', branch, /two nodes of MINER_RPC_URL differ: block 80 is 0x.* and 0x/],
    [
      'does not have the block',
      chain.slice(0, 80),
      /second node .* does not confirm block 80: .*no block 80/,
    ],
  ])('keeps a block from becoming safe that it %s', async (_what, second, why) => {
    const { last, problem } = await publish(second, 'blocks');
    // Block 80 would be safe once block 91 is published.
    expect(last).toBe(90n);
    expect(problem).toMatch(why);
  });

  it('keeps a range of old blocks from being published that it does not have', async () => {
    const { last, problem } = await publish(chain.slice(0, 20), 'ranges', 1);
    expect(last).toBeNull();
    expect(problem).toMatch(/does not confirm block 35/);
  });

  it('that is slow leaves nothing to publish once the first one has failed', async () => {
    const [header, last] = chain;
    const happened: string[] = [];
    let confirm: (header: unknown) => void = () => undefined;
    const confirmed = new Promise((resolve) => {
      confirm = resolve;
    });
    const publishing = createBlockPublishing({
      reader: {
        range: async () => ({ last, blocks: [] }),
        header: async () => {
          throw new Error('the first node has failed');
        },
      } as unknown as ReturnType<typeof createChainReader>,
      witness: { header: async () => confirmed } as never,
      publisher: {
        published: () => [],
        publish: async () => {
          happened.push('published');
        },
      } as unknown as SpanPublisher,
      onPublished: () => undefined,
    });
    const ahead = { next: header, newest: { ...header, number: 99n } } as never;
    const ended = publishing.ranges(ahead, new AbortController().signal).catch((error: Error) => {
      happened.push(error.message);
    });
    await setImmediate();
    confirm(last);
    await ended;
    await setImmediate();
    expect(happened).toEqual(['published', 'the first node has failed']);
  });
});
