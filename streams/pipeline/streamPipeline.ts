import { ignoreElements, map, type Observable, takeUntil } from 'rxjs';
import type { StreamPosition } from '../jetstream/proofs/streamPosition.ts';
import type { MessageBatch } from '../jetstream/source/messageBatch.ts';
import type { MessageSource } from '../jetstream/source/messageSource.ts';
import type { ActorOwner } from '../operators/actorOwner.ts';
import { createGate, leaveGate } from '../operators/gate.ts';
import { createSnapshotMarks, type SnapshotPolicy } from '../operators/snapshotMarks.ts';
import type { CapturedState, FoldedBatch, PipelineItem } from './pipelineItem.ts';
import type { RejectionLog } from './rejectionLog.ts';
import type { RowWriter } from './rowWriter.ts';
import type { StreamFold } from './streamFold.ts';

/** Bytes of messages, about 40,000 readings, that may usually be between the stream and ClickHouse; the rest waits in JetStream. */
export const underWayBytesMax = 32 * 1024 * 1024;

/** Where the rows and rejections of a stream go; a read replica has no sinks. */
export interface StreamSinks {
  /** Null for a stream without rows. */
  readonly writer: RowWriter | null;
  /** Null if the rejections are published already. */
  readonly rejections: RejectionLog | null;
  /** Bound of the bytes between the stream and ClickHouse, if it is not the usual one. */
  readonly underWayBytesMax?: number;
}

interface StreamPipelineOptions {
  readonly source: MessageSource;
  readonly fold: StreamFold;
  readonly sinks: StreamSinks | null;
  readonly policy: SnapshotPolicy;
  readonly onFolded: (batch: FoldedBatch) => void;
  /** Whether the state is to be saved now, regardless of the policy. */
  readonly isSaveDue: () => boolean;
  readonly capture: (streamPosition: StreamPosition) => CapturedState;
  readonly save: (captured: CapturedState) => Promise<unknown>;
  readonly onSaveFailure: (error: unknown) => void;
  /** Ends the source; the messages already read are stored and saved. */
  readonly ended$: Observable<unknown>;
  /** Owner of the source's machine. */
  readonly owner: ActorOwner;
}

/** Folds and stores the messages of one stream after a stream position. Completes once the source has ended and its last batch is stored. */
export function runStreamPipeline(from: StreamPosition, options: StreamPipelineOptions): Observable<never> {
  const { source, fold, sinks, policy, onFolded, isSaveDue, capture, save } = options;
  const { onSaveFailure, ended$, owner } = options;
  const writer = sinks?.writer ?? null;
  const gate = createGate({
    max: sinks?.underWayBytesMax ?? underWayBytesMax,
    onClosed: () => writer?.flushNow(),
  });
  const marks = createSnapshotMarks<FoldedBatch, CapturedState>({
    policy,
    from: from.position,
    capture: (batch) => capture(batch.streamPosition()),
    isDue: isSaveDue,
    save: ({ captured }) => save(captured),
    onFailure: onSaveFailure,
  });

  function receive(batch: MessageBatch): FoldedBatch {
    const { rows: made, rejections } = fold.receive(batch);
    const { position, weight, streamPosition } = batch;
    const rows = writer?.encode({ ...made, throughPosition: position }) ?? null;
    const folded: FoldedBatch = { kind: 'batch', position, weight, rows, rejections, streamPosition };
    onFolded(folded);
    return folded;
  }

  const folded$ = source.batchesAfter(from, gate, owner).pipe(takeUntil(ended$), map(receive));
  if (sinks === null) return folded$.pipe(leaveGate(gate), ignoreElements());
  return folded$.pipe(
    marks.set,
    sinks.rejections?.afterPublication ?? passThrough,
    writer?.afterInsert(() => gate.isHalfFull) ?? passThrough,
    marks.save,
    leaveGate(gate),
    ignoreElements(),
  );
}

function passThrough(items$: Observable<PipelineItem>): Observable<PipelineItem> {
  return items$;
}
