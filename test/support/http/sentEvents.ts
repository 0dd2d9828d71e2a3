/** An event as the feed and the event stream show it. */
export interface FeedEvent {
  readonly id: string;
  readonly recordedAt: string;
  /** Of an event of the chain it names its block. */
  readonly source: { readonly blockHash?: `0x${string}` };
}

/** What a client of the event stream was sent. */
export interface SentEvents {
  /**
   * Whether it was sent before. An event whose transaction was mined again, in a block that a reorganization has put in the place of another, is sent
   * again with its ID, and names the other block.
   */
  note(event: FeedEvent): 'never' | 'ofAnotherBlock' | 'before';
  /** Events of the feed that became visible behind the first one of their source that it was sent, and that it was not sent. */
  findMissed<Event extends FeedEvent>(feed: readonly Event[]): Event[];
  has(event: FeedEvent): boolean;
}

export function createSentEvents(): SentEvents {
  const ids = new Set<string>();
  const keys = new Set<string>();
  const formatKey = ({ id, source }: FeedEvent) => `${id} ${source.blockHash ?? ''}`;
  const has = (event: FeedEvent) => keys.has(formatKey(event));
  return {
    has,
    note: (event) => {
      const was = has(event) ? 'before' : ids.has(event.id) ? 'ofAnotherBlock' : 'never';
      ids.add(event.id);
      keys.add(formatKey(event));
      return was;
    },
    findMissed: (feed) =>
      ['chain', 'measurement'].flatMap((source) => {
        const own = feed.filter(({ id }) => id.startsWith(`${source}:`));
        const sent = own.filter(has).map(({ recordedAt }) => recordedAt);
        const [firstAt] = sent.sort();
        return firstAt === undefined ? [] : own.filter((event) => event.recordedAt > firstAt && !has(event));
      }),
  };
}
