import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { systemClock } from '../../../deploy/process/systemClock.ts';
import { type StreamPosition, startOfStream } from '../../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { createGate, leaveGate } from '../../../streams/operators/gate.ts';
import { whenFinished } from '../processes/lifetime.ts';
import type { TestConnection } from '../processes/natsServer.ts';
import { silentLogger } from '../silentLogger.ts';

/** Subscribes to a stream and keeps everything it emits. */
export function collectSource(
  nats: Pick<TestConnection, 'jetStream'>,
  {
    stream = 'MINER_COUNTER',
    from = startOfStream,
    ...bounds
  }: { stream?: InputStreamName; from?: StreamPosition; through?: number } = {},
) {
  const gate = createGate({ max: 1 });
  let isOpen = true;
  const reader = { ...nats, stream, clock: systemClock, logger: silentLogger };
  const source = createMessageSource({ ...reader, ...bounds, verifier: createStreamVerifier(reader) });
  const collected = {
    source,
    sequences: [] as number[],
    /** Each with the turn of the event loop in which it came. */
    batches: [] as { messages: number; bytes: number; turn: number }[],
    streamPosition: from,
    /** Set when the source ended with an error. */
    failure: null as unknown,
    /** Whether the source ended with its last requested message. */
    hasEnded: false,
    /** Whether the gate is open. */
    get isOpen() {
      return isOpen;
    },
    set isOpen(open) {
      if (open !== isOpen) gate[open ? 'leave' : 'enter'](1);
      isOpen = open;
    },
    stop: () => subscription.unsubscribe(),
  };
  let turn = 0;
  const subscription = source
    .batchesAfter(from, gate)
    .pipe(leaveGate(gate))
    .subscribe({
      next: (batch) => {
        for (const { seq } of batch.messages) collected.sequences.push(seq);
        const bytes = batch.messages.reduce((sum, { data }) => sum + data.length, 0);
        collected.batches.push({ messages: batch.messages.length, bytes, turn });
        setImmediate(() => turn++);
        collected.streamPosition = batch.streamPosition();
      },
      error: (error) => {
        collected.failure = error;
      },
      complete: () => {
        collected.hasEnded = true;
      },
    });
  whenFinished(() => subscription.unsubscribe());
  return collected;
}
