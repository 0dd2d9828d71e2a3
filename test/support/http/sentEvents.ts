/** An event as the feed and the event stream show it. */
export interface FeedEvent {
  readonly id: string;
  readonly recordedAt: string;
  /** Names the block, for an event of the chain. */
  readonly source: { readonly blockHash?: `0x${string}` };
}

type Source = 'chain' | 'measurement';

/** Says that the last event of a source is gone, and that the newest ones follow. */
export interface Restart {
  readonly source: Source;
}

/** Records the events that a client of the event stream was sent. */
export interface SentEvents {
  /**
   * @returns whether an event was sent before, since its source restarted. After a reorganization has moved an event's transaction to another block,
   * the event is sent again with its ID and the new block.
   */
  note(message: FeedEvent | Restart): boolean;
  /** Events that were not sent although they became visible after the first sent event of their source since it restarted. */
  findMissed<Event extends FeedEvent>(feed: readonly Event[]): Event[];
}

export function createSentEvents(): SentEvents {
  const keys: Record<Source, Set<string>> = { chain: new Set(), measurement: new Set() };
  const formatKey = ({ id, source }: FeedEvent) => `${id} ${source.blockHash ?? ''}`;
  const keysOf = ({ id }: FeedEvent) => keys[id.startsWith('chain:') ? 'chain' : 'measurement'];
  const has = (event: FeedEvent) => keysOf(event).has(formatKey(event));
  return {
    note: (message) => {
      if (!('id' in message)) {
        keys[message.source].clear();
        return false;
      }
      const isRepeated = has(message);
      keysOf(message).add(formatKey(message));
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
