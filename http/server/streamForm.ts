import {
  encodeFeedPosition,
  type FeedCategory,
  type FeedNews,
  type FeedPosition,
  feedCategories,
  isOfCategory,
} from '../../actors/views/feedViews.ts';
import { toFeedEventBody } from '../responses/feedEventBody.ts';
import { parseExactQuery } from '../routes/parseExactQuery.ts';

/** What a client chose to receive. Clients of one form receive the same texts. */
export interface StreamForm {
  readonly category: FeedCategory;
  /** Whether events have their type as a name; `onmessage` of a browser's `EventSource` receives those without one. */
  readonly isNamed: boolean;
}

const forms: readonly StreamForm[] = feedCategories.flatMap((category) =>
  [true, false].map((isNamed) => ({ category, isNamed })),
);

/** Null for a query that is refused. */
export function parseStreamForm(query: URLSearchParams): StreamForm | null {
  const given = parseExactQuery(query, ['category', 'unnamed']);
  const unnamed = given?.get('unnamed');
  if (given === null || (unnamed !== undefined && unnamed !== '1')) return null;
  const category = given.get('category') ?? 'all';
  return forms.find((form) => form.category === category && form.isNamed === (unnamed === undefined)) ?? null;
}

/** Events of a category as they are sent. */
export function formatEvents({ category, isNamed }: StreamForm, { items, context }: FeedNews): string[] {
  return items
    .filter(({ item }) => isOfCategory(category, item.type))
    .map(({ item, position }) => {
      const data = JSON.stringify(toFeedEventBody(item, context));
      const name = isNamed ? `event: ${item.type}\n` : '';
      return `id: ${encodeFeedPosition(position)}\n${name}data: ${data}\n\n`;
    });
}

/** Gives the client its position, without an event. */
export function formatPosition(position: FeedPosition): string {
  return `id: ${encodeFeedPosition(position)}\n\n`;
}
