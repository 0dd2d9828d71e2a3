import type { Logger } from 'pino';
import { type ChainActors, chainFoldVersion } from '../actors/chain/chainActors.ts';
import { ForkBelowStates } from '../actors/chain/chainFold.ts';
import type { ChainFeedEvent } from '../actors/chain/chainState.ts';
import { chainEventRow } from '../actors/feed/eventRows.ts';
import { noRows } from '../actors/storedRows.ts';
import type { RowWriter } from '../storage/rowWriter.ts';
import type { RejectionLog } from '../streams/rejectionLog.ts';
import type { ChainCounts } from './chainMetrics.ts';
import type { MessageCounts } from './messageCounts.ts';
import { createReject } from './reject.ts';
import { type FollowedFold, OlderSnapshotNeeded } from './streamFollower.ts';

/** Cursors of owner lists keep their block's state for at least so long, across a restart too. */
const statesKeptMs = 10 * 60_000;

export interface ChainFoldParts {
  readonly actors: ChainActors;
  readonly counts: MessageCounts;
  readonly chainCounts: ChainCounts;
  /** Null on a read replica, which writes nothing. */
  readonly writing: {
    readonly writer: RowWriter;
    readonly rejections: RejectionLog;
    readonly removeRowsAbove: (position: number) => Promise<void>;
  } | null;
  readonly logger: Logger;
}

/** `MINER_CHAIN`: spans into states at safe blocks. */
export function createChainStreamFold(parts: ChainFoldParts): FollowedFold {
  const { actors, counts, chainCounts, writing, logger } = parts;
  const reject = createReject({ stream: 'MINER_CHAIN', counts, rejections: writing?.rejections ?? null });
  /** A fork below every kept state was found and not followed yet: snapshots above it are of no use. */
  let restoredBelow: bigint | null = null;

  function receive(message: Parameters<ChainActors['receive']>[0], streamCreated: string) {
    const outcome = actors.receive(message);
    if (outcome === 'unread') return counts.unread('MINER_CHAIN');
    if ('rejection' in outcome) {
      reject(message, streamCreated, outcome.rejection);
      return;
    }
    counts.accepted('MINER_CHAIN', 1);
    if (outcome.givenUp.length > 0) store(outcome.givenUp, message.seq);
    if (outcome.reorganization === null) return;
    const { forkBlock, safeDepth } = outcome.reorganization;
    if (restoredBelow !== null && forkBlock <= restoredBelow) keepFrom(null);
    chainCounts.reorganized(safeDepth);
    const about = { forkBlock: String(forkBlock), safeDepth };
    if (safeDepth > 0)
      logger.error(about, 'safe blocks were reorganized: views go back to the state before the fork');
    else logger.info(about, 'blocks above the safe one were reorganized; nothing of them was shown');
  }

  function store(givenUp: readonly ChainFeedEvent[], position: number) {
    writing?.writer.add({
      ...noRows,
      chainEvents: givenUp.map((event) => chainEventRow(event, { chainId: actors.chainId, position })),
      throughPosition: position,
    });
  }

  function keepFrom(forkBlock: bigint | null) {
    restoredBelow = forkBlock;
    actors.keepFrom(forkBlock);
  }

  return {
    foldVersion: chainFoldVersion,
    snapshotAgeMs: statesKeptMs,

    fold({ messages }, streamCreated) {
      try {
        for (const message of messages) receive(message, streamCreated);
      } catch (error) {
        if (!(error instanceof ForkBelowStates)) throw error;
        keepFrom(error.forkBlock);
        chainCounts.rewound();
        throw new OlderSnapshotNeeded(error.message);
      }
    },

    accepts: (state) => restoredBelow === null || actors.liesWithin(state, restoredBelow),
    capture: () => actors.capture(),
    restore: (lines) => actors.restore(lines),
    async flushed() {
      if (writing === null) return true;
      return (await writing.writer.flushed()) && writing.rejections.flushed();
    },

    async removeAbove(position) {
      await writing?.removeRowsAbove(position);
      await writing?.rejections.resume();
    },
  };
}
