import {
  encodeFeedPosition,
  type FeedCategory,
  type FeedNews,
  type FeedPosition,
  feedCategories,
  isOfCategory,
} from '../../../actors/views/feed/feedViews.ts';
import { feedEvent, toFeedEventBody } from '../../responses/feed/feedEvent.ts';
import { parseExactQuery } from '../../routes/parseExactQuery.ts';
import { createBodyCheck } from '../answers/checkedBody.ts';

/** What a client chose to receive. Clients of one form receive the same texts. */
export interface StreamForm {
  readonly category: FeedCategory;
  /** Whether events have their type as a name; `onmessage` of a browser's `EventSource` receives those without one. */
  readonly isNamed: boolean;
}

const forms: readonly StreamForm[] = feedCategories.flatMap((category) =>
  [true, false].map((isNamed) => ({ category, isNamed })),
);

const checkEvent = createBodyCheck(feedEvent);

export function parseStreamForm(query: URLSearchParams): StreamForm | null {
  const given = parseExactQuery(query, ['category', 'unnamed']);
  const unnamed = given?.get('unnamed');
  if (given === null || (unnamed !== undefined && unnamed !== '1')) return null;
  const category = given.get('category') ?? 'all';
  return forms.find((form) => form.category === category && form.isNamed === (unnamed === undefined)) ?? null;
}

/**
 * Events of a category as they are sent.
 *
 * @param onRefused called for an event whose body is invalid, which is left out.
 */
export function formatEvents(
  { category, isNamed }: StreamForm,
  { items, context }: FeedNews,
  onRefused: (error: unknown) => void,
): string[] {
  return items
    .filter(({ item }) => isOfCategory(category, item.type))
    .flatMap(({ item, position }) => {
      try {
        const body = toFeedEventBody(item, context);
        checkEvent(body);
        const name = isNamed ? `event: ${item.type}\n` : '';
        return `id: ${encodeFeedPosition(position)}\n${name}data: ${JSON.stringify(body)}\n\n`;
      } catch (error) {
        onRefused(error);
        return [];
      }
    });
}

/** Gives the client its position, without an event. */
export function formatPosition(position: FeedPosition): string {
  return `id: ${encodeFeedPosition(position)}\n\n`;
}
