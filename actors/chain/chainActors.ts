import type { ChainFeedEvent } from '../events/eventSchemas.ts';
import { type FoldIdentity, identifyFold } from '../foldIdentity.ts';
import type { StateCapture } from '../foldRecord.ts';
import type { Rejection } from '../messages/decodeMessage.ts';
import type { Outcome } from '../messages/outcome.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import { spanSubject } from '../messages/subjects.ts';
import { toMilliseconds } from '../schemas/durations.ts';
import { createSpanFold, spanFoldVersion } from './fold/spanFold.ts';
import {
  type ChainFault,
  type ChangedRecords,
  emptySpanFoldState,
  type Reorganization,
  type SpanFoldSettings,
  type SpanFoldState,
} from './fold/spanFoldState.ts';
import {
  type ChainRestoration,
  createChainRestoration,
  encodeChainChanges,
  encodeSpanFold,
} from './records/chainSnapshot.ts';
import { type FinalHistory, nothingFinal } from './rows/finalHistory.ts';
import { decodeChainReads } from './spans/chainReads.ts';
import { decodeChain } from './spans/decodeChain.ts';
import type { ChainState, RecordName } from './state/chainState.ts';

export interface ChainOutput {
  readonly reorganization: Reorganization | null;
  readonly evicted: readonly ChainFeedEvent[];
  readonly final: FinalHistory;
}

const nothingChanged = { output: { reorganization: null, evicted: [], final: nothingFinal } } as const;

export interface ChainActors {
  readonly identity: FoldIdentity;
  readonly chainId: bigint;
  /** @throws ForkBelowStates if a fork lies below every retained state. */
  receive(message: StreamMessage): Outcome<ChainOutput>;
  readonly state: SpanFoldState;
  /** Why no more blocks are applied although spans arrive; null without a fault. */
  readonly fault: ChainFault | null;
  newest(): ChainState | null;
  /** The state at a safe block; null if it is no longer retained, or the block has another hash. */
  at(block: bigint, hash: string): ChainState | null;
  /** When the newest span was stored (epoch milliseconds); null before the first. */
  readonly newestSpanAtMs: number | null;
  /** The first span that was refused since the last accepted one; null if none was. */
  readonly refusedSpan: RefusedSpan | null;
  capture(): StateCapture;
  beginRestore(): ChainRestoration<() => void>;
  /** Keeps every state from this block on, so that a fork there can be followed. Null keeps only the newest states again. */
  retainFrom(block: bigint | null): void;
}

/** A span of this deployment that would have moved the chain. */
interface RefusedSpan {
  readonly sequence: number;
  /** When the stream stored it (epoch milliseconds). */
  readonly storedAtMs: number;
  readonly rejection: Rejection;
}

type ChainActorsSettings = Omit<SpanFoldSettings, 'retainedFromBlock'>;

export function createChainActors(settings: ChainActorsSettings): ChainActors {
  let fold = createSpanFold({ ...settings, retainedFromBlock: null });
  let state = emptySpanFoldState;
  let newestSpanAtMs: number | null = null;
  let refusedSpan: RefusedSpan | null = null;
  const subject = spanSubject(settings.chainId);
  /** Changes since the previous capture; null if they are unknown. */
  let changed: Set<RecordName> | null = null;

  function refuse(rejection: Rejection, message: StreamMessage, storedAtMs: number) {
    if (message.subject === subject && rejection.reason !== 'other_deployment')
      refusedSpan ??= { sequence: message.seq, storedAtMs, rejection };
    return { rejection };
  }

  function addChanged(names: ChangedRecords) {
    if (names === 'all') changed = null;
    else if (changed !== null) for (const ofBlock of names) for (const name of ofBlock) changed.add(name);
  }

  return {
    identity: identifyFold(spanFoldVersion, {
      chainId: settings.chainId,
      deploymentBlock: settings.deploymentBlock,
      ...settings.contracts,
    }),
    chainId: settings.chainId,
    receive: (message) => {
      const reads = decodeChainReads(message.subject, message.data);
      if (reads !== null) {
        if ('rejection' in reads) return reads;
        const outcome = fold.read(state, reads.value);
        state = outcome.state;
        return 'rejection' in outcome ? { rejection: outcome.rejection } : nothingChanged;
      }
      const decoded = decodeChain(message.subject, message.data);
      if (decoded === null) return 'unread';
      const storedAtMs = toMilliseconds(message.timestampNanos);
      if ('rejection' in decoded) return refuse(decoded.rejection, message, storedAtMs);
      const span = decoded.value;
      const outcome = fold.receive(state, span, { position: message.seq, storedAtMs });
      state = outcome.state;
      if ('rejection' in outcome) {
        const isNewer = span.toBlock > (state.head?.number ?? -1n);
        return isNewer ? refuse(outcome.rejection, message, storedAtMs) : { rejection: outcome.rejection };
      }
      addChanged(outcome.changed);
      newestSpanAtMs = storedAtMs;
      refusedSpan = null;
      const { reorganization, evicted, final } = outcome;
      return { output: { reorganization, evicted, final } };
    },
    get state() {
      return state;
    },
    get fault() {
      return state.fault;
    },
    newest: () => state.safe.at(-1) ?? null,
    at: (block, hash) =>
      state.safe.find((one) => one.block.number === block && one.block.hash === hash) ?? null,
    get newestSpanAtMs() {
      return newestSpanAtMs;
    },
    get refusedSpan() {
      return refusedSpan;
    },
    capture: () => {
      const captured = { state, newestSpanAtMs };
      const names = changed;
      changed = new Set();
      return {
        all: () => encodeSpanFold(captured),
        changes: names === null ? null : () => encodeChainChanges(captured, names),
      };
    },
    beginRestore: () => {
      const restoration = createChainRestoration();
      return {
        ...restoration,
        complete: () => {
          const restored = restoration.complete();
          return () => {
            state = restored.state;
            changed = null;
            newestSpanAtMs = restored.newestSpanAtMs;
            refusedSpan = null;
          };
        },
      };
    },
    retainFrom: (block) => {
      fold = createSpanFold({ ...settings, retainedFromBlock: block });
    },
  };
}
