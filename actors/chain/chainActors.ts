import type { ChainFeedEvent } from '../events/eventSchemas.ts';
import type { FoldedMessage } from '../folds/foldedMessage.ts';
import { identifyFold } from '../folds/foldIdentity.ts';
import type { Outcome, Rejection } from '../messages/decodeMessage.ts';
import { readStoredAtMs, type StreamMessage } from '../messages/streamMessage.ts';
import { spanSubject } from '../messages/subjects.ts';
import { foldVersions } from '../versions.ts';
import { createSpanFold } from './fold/spanFold.ts';
import { emptySpanFoldState, type Reorganization, type SpanFoldSettings } from './fold/spanFoldState.ts';
import { type ChainRestoration, createChainRestoration, encodeSpanFold } from './records/chainSnapshot.ts';
import type { FinalActivity } from './rows/activityRows.ts';
import type { ChainReads } from './spans/chainReads.ts';
import type { ChainSpan } from './spans/chainSpan.ts';
import { decodeChain, decodeChainReads } from './spans/decodeChain.ts';
import type { ChainState } from './state/chainState.ts';

export interface ChainOutput {
  readonly reorganization: Reorganization | null;
  readonly evicted: readonly ChainFeedEvent[];
  readonly final: readonly FinalActivity[];
}

const nothingChanged = { output: { reorganization: null, evicted: [], final: [] } } as const;

/** A span of this deployment that would have moved the chain. */
interface RefusedSpan {
  readonly sequence: number;
  /** When the stream stored it (epoch milliseconds). */
  readonly storedAtMs: number;
  readonly rejection: Rejection;
}

export type ChainActors = ReturnType<typeof createChainActors>;

export function createChainActors(settings: Omit<SpanFoldSettings, 'forkBlocks'>) {
  let fold = createSpanFold({ ...settings, forkBlocks: new Set() });
  let state = emptySpanFoldState;
  let newestSpanAtMs: number | null = null;
  let refusedSpan: RefusedSpan | null = null;
  let foldedThrough: FoldedMessage | null = null;
  const subject = spanSubject(settings.chainId);

  function receiveReads(reads: ChainReads): Outcome<ChainOutput> {
    const outcome = fold.read(state, reads);
    state = outcome.state;
    return 'rejection' in outcome ? { rejection: outcome.rejection } : nothingChanged;
  }

  function receiveSpan(span: ChainSpan, message: StreamMessage): Outcome<ChainOutput> {
    const storedAtMs = readStoredAtMs(message);
    const outcome = fold.receive(state, span, { position: message.seq, storedAtMs });
    state = outcome.state;
    if ('rejection' in outcome) {
      const isNewer = span.toBlock > (state.head?.number ?? -1n);
      return isNewer ? refuse(outcome.rejection, message) : { rejection: outcome.rejection };
    }
    newestSpanAtMs = storedAtMs;
    refusedSpan = null;
    const { reorganization, evicted, final } = outcome;
    return { output: { reorganization, evicted, final } };
  }

  function refuse(rejection: Rejection, message: StreamMessage) {
    if (message.subject === subject && rejection.reason !== 'other_deployment')
      refusedSpan ??= {
        sequence: message.seq,
        storedAtMs: readStoredAtMs(message),
        rejection,
      };
    return { rejection };
  }

  return {
    identity: identifyFold(foldVersions.MINER_CHAIN.version, {
      chainId: settings.chainId,
      deploymentBlock: settings.deploymentBlock,
      ...settings.contracts,
    }),
    chainId: settings.chainId,
    /** @throws ForkBelowStates if a fork lies below every retained state. */
    receive: (message: StreamMessage): Outcome<ChainOutput> => {
      const reads = decodeChainReads(message.subject, message.data);
      if (reads !== null) return 'rejection' in reads ? reads : receiveReads(reads.value);
      const span = decodeChain(message.subject, message.data);
      if (span === null) return 'unread';
      return 'rejection' in span ? refuse(span.rejection, message) : receiveSpan(span.value, message);
    },
    get state() {
      return state;
    },
    /** Why no more blocks are applied although spans arrive; null without a fault. */
    get fault() {
      return state.fault;
    },
    newest: (): ChainState | null => state.safe.at(-1) ?? null,
    /** The state at a safe block; null if it is no longer retained, or the block has another hash. */
    at: (block: bigint, hash: string): ChainState | null =>
      state.safe.find((one) => one.block.number === block && one.block.hash === hash) ?? null,
    /** When the newest span was stored (epoch milliseconds); null before the first. */
    get newestSpanAtMs() {
      return newestSpanAtMs;
    },
    /** The first span that was refused since the last accepted one; null if none was. */
    get refusedSpan() {
      return refusedSpan;
    },
    /** Notes how far the messages are folded. */
    noteFolded: (through: FoldedMessage) => {
      foldedThrough = through;
    },
    /** The last message that the state includes; null before the first restoration. */
    get foldedThrough() {
      return foldedThrough;
    },
    /** The records of the state as of this call. */
    capture: () => encodeSpanFold({ state, newestSpanAtMs }),
    beginRestore: (): ChainRestoration<() => void> => {
      const restoration = createChainRestoration();
      return {
        ...restoration,
        complete: () => {
          const restored = restoration.complete();
          return () => {
            state = restored.state;
            newestSpanAtMs = restored.newestSpanAtMs;
            refusedSpan = null;
          };
        },
      };
    },
    /** Retains the states at these blocks too, so that forks there can be followed. */
    retainAt: (forkBlocks: ReadonlySet<bigint>) => {
      fold = createSpanFold({ ...settings, forkBlocks });
    },
  };
}
