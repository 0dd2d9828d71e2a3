import { Registry } from 'prom-client';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { createChainFold } from '../../../streams/definitions/chainStream.ts';
import { createMessageCounts } from '../../../streams/pipeline/messageCounts.ts';
import type { StreamFold } from '../../../streams/pipeline/streamFold.ts';
import { buildEvent, type WrittenEvent, writtenSettings } from '../chain/writtenSpans.ts';
import { silentLogger } from '../silentLogger.ts';

interface WrittenFold {
  readonly registry: Registry;
  readonly actors: ChainActors;
  readonly fold: StreamFold;
}

/** A fold of `MINER_CHAIN` for written spans, with its metrics. */
export function createWrittenFold(actors: ChainActors = createChainActors(writtenSettings)): WrittenFold {
  const registry = new Registry();
  const fold = createChainFold(actors, {
    counts: createMessageCounts(registry),
    logger: silentLogger,
    registry,
  });
  return { registry, actors, fold };
}

/** A checkpoint through the round after `afterRound`. It is an event of the feed. */
export function buildCheckpointed(afterRound: number): WrittenEvent {
  return buildEvent('mining', 'Checkpointed', {
    afterRound: BigInt(afterRound),
    throughRound: BigInt(afterRound + 1),
  });
}
