/** An event as the feed and the event stream show it. */
export interface FeedEvent {
  readonly id: string;
  readonly recordedAt: string;
  /** Names the block, for an event of the chain. */
  readonly source: { readonly blockHash?: `0x${string}` };
}

/** Records the events that a client of the event stream was sent. */
export interface SentEvents {
  /**
   * @returns whether it was sent before. After a reorganization has moved an event's transaction to another block, the event is sent
   * again with its ID and the new block.
   */
  note(event: FeedEvent): boolean;
  /** Events that were not sent although they became visible after the first sent event of their source. */
  findMissed<Event extends FeedEvent>(feed: readonly Event[]): Event[];
}

export function createSentEvents(): SentEvents {
  const keys = new Set<string>();
  const formatKey = ({ id, source }: FeedEvent) => `${id} ${source.blockHash ?? ''}`;
  const has = (event: FeedEvent) => keys.has(formatKey(event));
  return {
    note: (event) => {
      const isRepeated = has(event);
      keys.add(formatKey(event));
      return isRepeated;
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
