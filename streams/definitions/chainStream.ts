import { type ChainActors, type ChainOutput, createChainActors } from '../../actors/chain/chainActors.ts';
import { ForkBelowStates } from '../../actors/chain/fold/followLink.ts';
import type { ChainFault, Reorganization } from '../../actors/chain/fold/spanFoldState.ts';
import type { OwnerActivityRow } from '../../actors/chain/rows/activityRows.ts';
import { toActivityRow } from '../../actors/chain/rows/activityRows.ts';
import { decodeChain, decodeChainReads } from '../../actors/chain/spans/decodeChain.ts';
import type { KeyedEventRow } from '../../actors/feed/eventRows.ts';
import { toChainRow } from '../../actors/feed/eventRows.ts';
import type { Outcome } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { noRows } from '../../storage/tables/foldedRows.ts';
import { registerChainMetrics } from '../metrics/chainMetrics.ts';
import { findLastMessage, receiveBatch } from '../pipeline/receiveBatch.ts';
import { afterRestoration, OlderSnapshotNeeded, type StreamFold } from '../pipeline/streamFold.ts';
import { type FoldDependencies, findRejection, refill, type StreamDefinition } from './streamDefinition.ts';

/** The state at the block of an owner list's cursor is retained for at least this long, also across a restart. */
const stateRetentionMs = 10 * 60_000;

/**
 * A return to an older snapshot, for a message ahead that forks below every retained state. Snapshots above the fork cannot be used. The state at
 * the fork is retained.
 */
interface Rewinding {
  readonly forkBlocks: ReadonlySet<bigint>;
  readonly position: number;
  readonly streamCreated: string;
}

/**
 * On its way to the message that it rewound for, the fold may reach an earlier message with another deep fork. It then keeps the states that
 * both messages need; otherwise the two would make it rewind forever. Each rewinding is for another fork of the stream, so this ends.
 */
function rewindFurther(
  before: Rewinding | null,
  { forkBlock, position, streamCreated }: Omit<Rewinding, 'forkBlocks'> & { readonly forkBlock: bigint },
): Rewinding {
  const forkBlocks = new Set(before?.forkBlocks).add(forkBlock);
  return { forkBlocks, position: Math.max(before?.position ?? 0, position), streamCreated };
}

interface CollectedRows {
  readonly chainEvents: KeyedEventRow[];
  readonly ownerActivity: OwnerActivityRow[];
}

/** The fold of `MINER_CHAIN`. */
export function createChainFold(
  actors: ChainActors,
  { counts, logger, registry }: Omit<FoldDependencies, 'recent'>,
): StreamFold {
  const chainCounts = registerChainMetrics(registry, actors);
  let rewound: Rewinding | null = null;
  let reportedFault: ChainFault | null = null;

  function receive(message: StreamMessage): Outcome<ChainOutput> {
    const headBefore = actors.state.head?.number ?? null;
    const outcome = actors.receive(message);
    if (rewound !== null && message.seq >= rewound.position) endRewinding();
    reportFault();
    if (outcome !== 'unread' && 'output' in outcome && outcome.output.reorganization !== null)
      noteReorganization(outcome.output.reorganization, headBefore);
    return outcome;
  }

  function collectRows(
    { evicted, final }: ChainOutput,
    { seq: storedBy }: StreamMessage,
    rows: CollectedRows,
  ): void {
    const { chainId } = actors;
    for (const event of evicted) rows.chainEvents.push(toChainRow(event, { storedBy, chainId }));
    for (const one of final) rows.ownerActivity.push(toActivityRow(one, { storedBy }));
  }

  function endRewinding() {
    rewound = null;
    actors.retainAt(new Set());
  }

  function noteReorganization({ forkBlock, safeDepth }: Reorganization, headBefore: bigint | null) {
    const depth = Number((headBefore ?? forkBlock) - forkBlock);
    chainCounts.reorganized(safeDepth);
    const about = { forkBlock: String(forkBlock), depth, safeDepth };
    if (safeDepth > 0)
      logger.error(about, 'safe blocks were reorganized: views return to the state before the fork');
    else logger.info(about, 'blocks above the safe block were reorganized; no view had shown them');
  }

  function reportFault() {
    const { fault } = actors;
    if (fault?.block.hash === reportedFault?.block.hash) return;
    if (fault !== null) {
      const { block, detail } = fault;
      logger.error(
        { block: String(block.number), hash: block.hash, detail },
        'a block of the chain cannot be applied: chain views are unavailable until a corrected span replaces it',
      );
    } else logger.info('the block that could not be applied was replaced');
    reportedFault = fault;
  }

  return {
    identity: actors.identity,
    snapshotAgeMs: stateRetentionMs,

    receive(batch) {
      const { streamCreated } = batch;
      const rows: CollectedRows = { chainEvents: [], ownerActivity: [] };
      let position = 0;
      // If the stream was recreated, the message may never arrive.
      if (rewound !== null && rewound.streamCreated !== streamCreated) endRewinding();
      try {
        const rejections = receiveBatch<ChainOutput>({
          stream: 'MINER_CHAIN',
          batch,
          counts,
          receive: (message) => {
            position = message.seq;
            return receive(message);
          },
          collect: (output, message) => collectRows(output, message, rows),
        });
        actors.noteFolded(findLastMessage(batch));
        return { rows: { ...noRows, ...rows }, rejections };
      } catch (error) {
        if (!(error instanceof ForkBelowStates)) throw error;
        rewound = rewindFurther(rewound, { forkBlock: error.forkBlock, position, streamCreated });
        actors.retainAt(rewound.forkBlocks);
        chainCounts.rewound();
        throw new OlderSnapshotNeeded(error.message);
      }
    },

    capture: () => actors.capture(),
    beginRestore: () => {
      const restoration = actors.beginRestore();
      return {
        ...afterRestoration(restoration, (through) => {
          actors.noteFolded(through);
          reportFault();
        }),
        accepts: () => [...(rewound?.forkBlocks ?? [])].every(restoration.liesWithin),
      };
    },
  };
}

/** `MINER_CHAIN`: spans become states at safe blocks. */
export const chainStream: StreamDefinition<ChainActors | null> = {
  createActors: ({ onChain }) => {
    if (onChain === null) return null;
    const { chainId, deploymentBlock } = onChain.chain;
    return createChainActors({ chainId, contracts: onChain.contracts, deploymentBlock });
  },
  createFold: createChainFold,
  judgeContent:
    () =>
    ({ subject, data }) =>
      findRejection(decodeChainReads(subject, data) ?? decodeChain(subject, data)),
  remedyFrom: () => refill,
};
