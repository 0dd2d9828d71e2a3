import { createHttpError } from '../routes/errors.ts';
import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import { type EventStream, isFeedEventId } from './events/eventStream.ts';
import { parseStreamRequest } from './events/streamForm.ts';
import type { Mount } from './mount.ts';
import type { Guarded } from './requestRefusals.ts';

export const eventStreamPath = '/v1/events/stream';
const guarded: Guarded = { rateClass: 'publicHeavy', query: [], canAnswerWithoutViews: true };

interface MountedEventStream extends Pick<ReadAnswerDependencies, 'transport' | 'writer' | 'reads'> {
  readonly events: EventStream;
  /** False until state is restored. */
  readonly hasViews: () => boolean;
}

/**
 * Mounts the event stream. If a client resumes with an ID of the feed, its position is looked up before the stream opens. Without state, or while
 * expensive requests are refused, it is looked up later.
 */
export function mountEventStream(
  mount: Mount,
  { events, transport, writer, reads, hasViews }: MountedEventStream,
): void {
  mount(eventStreamPath, guarded, (exchange, request) => {
    const query = new URLSearchParams(transport.query(request));
    const wanted = parseStreamRequest(query, exchange.headers.lastEventId);
    if (wanted === null) return writer.writeError(exchange, createHttpError('invalid_query'));
    const open = (lastEventId: string) => {
      const refusal = events.open(exchange, { ...wanted, lastEventId });
      if (refusal !== null) writer.writeError(exchange, refusal);
    };
    const { lastEventId } = wanted;
    if (!isFeedEventId(lastEventId) || !hasViews() || reads.isBusy(exchange)) return open(lastEventId);
    reads.run(
      exchange,
      (signal) => events.locate(lastEventId, signal),
      ({ body }) => open(body),
    );
  });
}
