import { createHttpError } from '../routes/errors.ts';
import type { ReadAnswerDependencies } from './answers/readAnswer.ts';
import type { EventStream } from './events/eventStream.ts';
import { parseStreamRequest } from './events/streamForm.ts';
import type { Mount } from './mount.ts';
import type { Guarded } from './requestRefusals.ts';

export const eventStreamPath = '/v1/events/stream';
const guarded: Guarded = { rateClass: 'publicHeavy', query: [], canAnswerWithoutViews: true };

interface MountedEventStream extends Pick<ReadAnswerDependencies, 'transport' | 'writer'> {
  readonly events: EventStream;
}

export function mountEventStream(mount: Mount, { events, transport, writer }: MountedEventStream): void {
  mount(eventStreamPath, guarded, (exchange, request) => {
    const query = new URLSearchParams(transport.query(request));
    const wanted = parseStreamRequest(query, exchange.headers.lastEventId);
    const refusal = wanted === null ? createHttpError('invalid_query') : events.open(exchange, wanted);
    if (refusal !== null) writer.writeError(exchange, refusal);
  });
}
