import { exhaustMap, interval } from 'rxjs';
import type { Delivery } from '../../nats/streamPort.ts';
import { whenAborted } from '../../operators/whenAborted.ts';
import type { Doubts } from '../proofs/doubts.ts';
import type { StreamPosition } from '../proofs/streamPosition.ts';
import { contradict, StreamDiverged } from '../proofs/streamVerifier.ts';
import { NotProven } from '../proofs/suspicions.ts';
import type { StreamReaderOptions } from '../streamReaderOptions.ts';

/** How often the stream's end is inspected, for the lag and for faults that cause no notification. */
const inspectionMs = 2_000;
/** Lag without progress for this long means that delivery has stopped, even if heartbeats arrive. */
const stalledAfterMs = 15_000;

interface ConsumptionWatchOptions extends Pick<StreamReaderOptions, 'verifier' | 'clock'> {
  /** Outlives the consumer. */
  readonly doubts: Doubts;
  readonly delivery: Delivery;
  readonly signal: AbortSignal;
  readonly isHeldBack: () => boolean;
  /** The stream position of the last emitted message. */
  readonly reached: () => StreamPosition;
  /** The stream ended at this sequence at this time (`Clock.bootMs`). */
  readonly onEndSeen: (lastSequence: number, atMs: number) => void;
  /** At this time (`Clock.bootMs`) the stream was still the followed one. */
  readonly onVerified: (atMs: number) => void;
  /** The end of the stream cannot be determined at the moment. */
  readonly onUnknown: () => void;
  /** Skips the rest of the stream, which was removed: all of its messages singly, or everything through the last one. */
  readonly skipRest: (through: number, how: { readonly isDeleted: boolean }) => Promise<void>;
}

/**
 * Ends a delivery at the first sign of trouble in the stream itself, since a delivery can die silently (DECISIONS.md). It ends by itself at any
 * other sign. The reaction is always the same: stop, verify, restart.
 */
export function watchConsumption(options: ConsumptionWatchOptions) {
  const { verifier, doubts, clock, delivery, signal } = options;
  let failure: StreamDiverged | null = null;
  let isStopped = false;

  const abortion = whenAborted(signal).subscribe(() => delivery.stop('stopped'));

  let progress = { position: options.reached().position, sinceMs: clock.monotonicMs() };
  const inspect = async () => {
    // Read before the request: messages that arrive during it must not make the stream look shorter.
    const streamPosition = options.reached();
    const { info, askedAtMs } = await verifier.ask();
    if (isStopped) return;
    if (contradict(info, streamPosition) !== null) doubts.add(streamPosition);
    await doubts.settle();
    if (isStopped) return;
    const { lastSequence } = info;
    options.onEndSeen(lastSequence, askedAtMs);
    options.onVerified(askedAtMs);
    // The consumption has ended, but its messages wait for the gate.
    if (delivery.reason() !== null) return;
    const { position } = options.reached();
    const isMoving = position !== progress.position || position >= lastSequence || options.isHeldBack();
    if (isMoving) {
      progress = { position, sinceMs: clock.monotonicMs() };
      return;
    }
    // Nothing has arrived since the last inspection. If the rest of the stream was deleted, nothing will.
    const explanation = await verifier.explainGap({
      fromSequence: position + 1,
      toSequence: lastSequence,
    });
    if (explanation !== null && options.reached().position === position)
      await options.skipRest(lastSequence, { isDeleted: explanation !== 'removed' });
    else if (clock.monotonicMs() - progress.sinceMs > stalledAfterMs) delivery.stop('delivery stalled');
  };
  const inspections = interval(inspectionMs)
    .pipe(
      exhaustMap(() =>
        inspect().catch((error: unknown) => {
          if (error instanceof NotProven) return;
          // No answer; the state of the connection is watched separately.
          if (!(error instanceof StreamDiverged)) return options.onUnknown();
          failure = error;
          delivery.stop('stream diverged');
        }),
      ),
    )
    .subscribe();

  return {
    /** @throws StreamDiverged when the stream turned out to be another one. */
    throwFailure: () => {
      if (failure !== null) throw failure;
    },
    stop: () => {
      isStopped = true;
      inspections.unsubscribe();
      abortion.unsubscribe();
    },
  };
}
