import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { keptStatesMax } from '../../actors/chain/chainFold.ts';
import { createChainStreamFold } from '../../deploy/chainFold.ts';
import { registerChainMetrics } from '../../deploy/chainMetrics.ts';
import { createMessageCounts } from '../../deploy/messageCounts.ts';
import { OlderSnapshotNeeded } from '../../deploy/streamFollower.ts';
import type { StreamMessage } from '../../streams/messageSource.ts';
import { silentLogger } from '../support/silentLogger.ts';

const streamCreated = '2026-01-01T00:00:00Z';
const core = `0x${'c0'.repeat(20)}`;
const contracts = {
  core,
  proxyAdmin: `0x${'01'.repeat(20)}`,
  operatorTimelock: `0x${'02'.repeat(20)}`,
  tokenFactory: `0x${'03'.repeat(20)}`,
  mining: `0x${'04'.repeat(20)}`,
  token: `0x${'05'.repeat(20)}`,
  collection: `0x${'06'.repeat(20)}`,
};

/** Spans of one empty block each; blocks above a fork have hashes of their own. */
function createChainWriter() {
  const messages: StreamMessage[] = [];
  const hashes = new Map<number, string>();
  const hashOf = (block: number) => hashes.get(block) ?? `0x${'0'.repeat(64)}`;
  let fork = 0;
  function append(fromBlock: number, toBlock: number) {
    for (let block = fromBlock; block <= toBlock; block++) {
      const hash = `0x${fork.toString(16).padStart(4, '0')}${block.toString(16).padStart(60, '0')}`;
      const span = {
        core,
        fork,
        fromBlock: String(block),
        toBlock: String(block),
        parentHash: hashOf(block - 1),
        hash,
        timestamp: new Date(Date.UTC(2026, 0, 1) + block * 1_000).toISOString(),
        blocks: [],
      };
      hashes.set(block, hash);
      messages.push({
        seq: messages.length + 1,
        subject: 'miner.chain.31337.span',
        data: Buffer.from(JSON.stringify(span)),
        timestampNanos: BigInt(messages.length + 1) * 10n ** 9n,
      });
    }
  }
  return {
    messages,
    append,
    forkBehind(block: number, toBlock: number) {
      fork++;
      append(block + 1, toBlock);
    },
  };
}

function createFold() {
  const registry = new Registry();
  const actors = createChainActors({ chainId: 31_337n, contracts });
  const fold = createChainStreamFold({
    actors,
    counts: createMessageCounts(registry, ['MINER_CHAIN']),
    chainCounts: registerChainMetrics(registry, actors),
    rejections: null,
    logger: silentLogger,
  });
  const take = (messages: readonly StreamMessage[]) =>
    fold.fold(
      { messages, streamCreated, checkpoint: () => ({ streamCreated, position: 0, digest: null }) },
      streamCreated,
    );
  return { registry, actors, fold, take };
}

describe('the fold of the chain stream', () => {
  it('keeps all states of a fork below those that it kept until it has followed it, and the newest ones after', async () => {
    const chain = createChainWriter();
    chain.append(1, 900);
    const { registry, actors, fold, take } = createFold();
    take(chain.messages.slice(0, 50));
    const early = [...fold.capture()];
    take(chain.messages.slice(50, 150));
    const late = [...fold.capture()];
    take(chain.messages.slice(150));
    expect(actors.state.safe.length).toBe(keptStatesMax);

    chain.forkBehind(100, 920);
    expect(() => take(chain.messages.slice(900))).toThrow(OlderSnapshotNeeded);
    expect(fold.accepts?.(late[0] as string)).toBe(false);
    expect(fold.accepts?.(early[0] as string)).toBe(true);
    fold.restore(early, 50);
    take(chain.messages.slice(50, 900));
    expect(actors.state.safe[0]?.block.number).toBeLessThanOrEqual(100n);
    take(chain.messages.slice(900));

    expect(actors.state.safe.length).toBe(keptStatesMax);
    expect(fold.accepts?.(late[0] as string)).toBe(true);
    const metrics = await registry.metrics();
    expect(metrics).toContain('miner_chain_reorganizations_total{reached="safe"} 1');
    expect(metrics).toContain('miner_chain_rewinds_total 1');
    const fresh = createFold();
    fresh.take(chain.messages.slice(0, 100));
    fresh.take(chain.messages.slice(900));
    expect(actors.newest()).toEqual(fresh.actors.newest());
  });
});
