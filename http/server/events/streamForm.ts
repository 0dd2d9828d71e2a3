import {
  type FeedCategory,
  type FeedItem,
  type FeedSource,
  feedCategories,
} from '../../../actors/feed/feedItem.ts';
import { encodeFeedPosition, type FeedPosition } from '../../../actors/feed/feedPosition.ts';
import type { FeedMoment } from '../../../actors/views/feed/feedNews.ts';
import { feedEvent, toFeedEventBody } from '../../responses/feed/feedEvent.ts';
import { parseExactQuery } from '../../routes/parameters.ts';
import { createBodyCheck } from '../answers/routeAnswers.ts';

/** The events and the format that a client chose. Clients of one form receive the same texts. */
export interface StreamForm {
  readonly category: FeedCategory;
  /** Whether events carry their type as a name. `onmessage` of a browser's `EventSource` receives only events without one. */
  readonly isNamed: boolean;
}

export interface StreamRequest {
  readonly form: StreamForm;
  /** Position after which the stream begins; empty if it begins now. */
  readonly lastEventId: string;
}

const forms: readonly StreamForm[] = feedCategories.flatMap((category) =>
  [true, false].map((isNamed) => ({ category, isNamed })),
);

const checkEvent = createBodyCheck(feedEvent);

/**
 * @param lastEventId the header; empty without one. Then the parameter counts, which is all that some clients can send: event-source-polyfill,
 *   and a browser's `EventSource` in its first request. A client may add its own behind one that its address has, so the last one counts.
 * @returns null for an invalid query.
 */
export function parseStreamRequest(query: URLSearchParams, lastEventId: string): StreamRequest | null {
  const others = new URLSearchParams(query);
  others.delete('lastEventId');
  const form = parseForm(others);
  const parameter = query.getAll('lastEventId').at(-1) ?? '';
  return form === null ? null : { form, lastEventId: lastEventId === '' ? parameter : lastEventId };
}

function parseForm(query: URLSearchParams): StreamForm | null {
  const given = parseExactQuery(query, ['category', 'unnamed']);
  const unnamed = given?.get('unnamed');
  if (given === null || (unnamed !== undefined && unnamed !== '1')) return null;
  const category = given.get('category') ?? 'all';
  return forms.find((form) => form.category === category && form.isNamed === (unnamed === undefined)) ?? null;
}

/**
 * Creates the function that formats events without their IDs. Each body is made once, however many clients are sent it.
 *
 * @param onRefused called for an event with an invalid body, which is left out: its text is null.
 */
export function createEventFormat(onRefused: (error: unknown) => void) {
  const bodies = new WeakMap<FeedItem['event'], string | null>();

  function formatBody(item: FeedItem, context: FeedMoment['context']): string | null {
    try {
      const body = toFeedEventBody(item, context);
      checkEvent(body);
      return JSON.stringify(body);
    } catch (error) {
      onRefused(error);
      return null;
    }
  }

  return ({ isNamed }: StreamForm, item: FeedItem, context: FeedMoment['context']): string | null => {
    let body = bodies.get(item.event);
    if (body === undefined) {
      body = formatBody(item, context);
      bodies.set(item.event, body);
    }
    if (body === null) return null;
    const name = isNamed ? `event: ${item.type}\n` : '';
    return `${name}data: ${body}\n\n`;
  };
}

export function formatId(position: FeedPosition): string {
  return `id: ${encodeFeedPosition(position)}\n`;
}

/**
 * @returns a message that gives the client its position without an event, so that a connection that breaks before its first event loses nothing.
 *   Many clients keep no ID from a message without data, and programs parse what they are given, so it has an empty object. It is named in
 *   every form: `onmessage` of an `EventSource` does not receive it.
 */
export function formatPosition(position: FeedPosition): string {
  return `${formatId(position)}event: position\ndata: {}\n\n`;
}

/** @returns a message that says that all events of a source in memory follow, since the client's last one is gone. It has the ID of before. */
export function formatRestart(position: FeedPosition, source: FeedSource): string {
  return `${formatId(position)}event: restarted\ndata: ${JSON.stringify({ source })}\n\n`;
}

/** @returns a line that asks the client for a pause before its next connection. It belongs to the message that follows. */
export function formatRetry(pauseMs: number): string {
  return `retry: ${pauseMs}\n`;
}
