import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import { type EventStream, eventStreamType, isFeedEventId } from './events/eventStream.ts';
import type { Mount } from './mount.ts';
import type { Guarded } from './requestRefusals.ts';

export const eventStreamPath = '/v1/events/stream';
const guarded: Guarded = { rateClass: 'publicHeavy', query: [] };

interface MountedEventStream extends Pick<ReadAnswerDependencies, 'transport' | 'writer' | 'reads'> {
  readonly events: EventStream;
}

/** Mounts the event stream. If a client resumes with an ID of the feed, its position is looked up before the stream opens. */
export function mountEventStream(
  mount: Mount,
  { events, transport, writer, reads }: MountedEventStream,
): void {
  mount(eventStreamPath, guarded, (exchange, request) => {
    if (exchange.isHead) return writer.writeUncached(exchange, eventStreamType, Buffer.alloc(0));
    const { lastEventId } = exchange.headers;
    const query = new URLSearchParams(transport.query(request));
    const open = (resumeAfter: string) => {
      const refusal = events.open(exchange, { query, lastEventId: resumeAfter });
      if (refusal !== null) writer.writeError(exchange, refusal);
    };
    if (!isFeedEventId(lastEventId)) return open(lastEventId);
    reads.run(
      exchange,
      (signal) => events.locate(lastEventId, signal),
      ({ body }) => open(body),
    );
  });
}
