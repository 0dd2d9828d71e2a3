import type { Bodies, FeedEvent, Resource, ResourceName } from '../page.ts';
import { compareSettled, type Reversal, type SettledMark } from '../reversal.ts';

export interface Entry {
  readonly name: ResourceName;
  readonly path: string;
  readonly resource: Resource<unknown>;
  readonly etag: string | null;
  /** When the service was last asked with success, by this tab or another one of this browser; 0 for never. */
  readonly readAtMs: number;
  /** Further pages were added to it. It is not read again, which would take them away; events still arrive by the stream. */
  readonly isExtended: boolean;
}

export interface Store {
  read<Name extends ResourceName>(name: Name, path: string): Resource<Bodies[Name]>;
  /** Those that the page shows. */
  shown(): Iterable<Entry>;
  find(path: string): Entry | undefined;
  put(entry: Entry): void;
  addEvent(event: FeedEvent): void;
  /** Appends a further page to the list that the first page began. */
  append(path: string, page: unknown): void;
  /** Rounds that were shown as settled and are not any more; null where there are none. */
  reversal(): Reversal | null;
  /** Called before everything is rendered: what is read from now on is what the page shows. */
  beginRender(): void;
}

const nothing: Resource<never> = { body: null, problem: null };
/** Events that one feed shows at most: a tab that is open for a month stays small. */
const eventsMax = 400;
/** Resources that are kept for a way back, shown or not: a long visit to many owners does not grow. */
const entriesMax = 32;
/** Lists of what happened on the chain, which may have further pages. */
const chainLists: ReadonlySet<ResourceName> = new Set(['events', 'activity', 'portfolio']);

/** Resources by path; `onChange` is called after each change, `onUnknown` when one is read that was never asked for. */
export function createStore(onChange: () => void, onUnknown: () => void): Store {
  const entries = new Map<string, Entry>();
  let shown = new Set<string>();
  let seen: SettledMark | null = null;
  let reversal: Reversal | null = null;
  /** Lists that were read before the chain was another one may have events that never happened: they begin again. */
  const restartLists = () => {
    for (const entry of entries.values())
      if (chainLists.has(entry.name)) entries.set(entry.path, { ...entry, isExtended: false, readAtMs: 0 });
  };
  const compare = (core: Bodies['core'] | null) => {
    if (core?.status !== 'available') return;
    const before = reversal;
    ({ seen, reversal } = compareSettled(seen, core));
    if (reversal !== null && before === null) restartLists();
  };
  const put = (entry: Entry) => {
    entries.set(entry.path, entry);
    // Put there by the poller, which reads the route that this name stands for.
    if (entry.name === 'core') compare(entry.resource.body as Bodies['core'] | null);
    onChange();
  };
  return {
    read: (name, path) => {
      shown.add(path);
      const entry = entries.get(path);
      if (entry === undefined) {
        entries.set(path, { name, path, resource: nothing, etag: null, readAtMs: 0, isExtended: false });
        onUnknown();
        return nothing;
      }
      // Put there by the poller, which reads the route that this name stands for.
      return entry.resource as Resource<Bodies[typeof name]>;
    },
    shown: () => [...entries.values()].filter(({ path }) => shown.has(path)),
    find: (path) => entries.get(path),
    put,
    addEvent: (event) => {
      for (const entry of entries.values()) {
        const { body } = entry.resource as Resource<Bodies['events']>;
        if (entry.name !== 'events' || body?.status !== 'available' || !isOfFeed(event, body.category))
          continue;
        if (body.events.some(({ id }) => id === event.id)) continue;
        const events = [event, ...body.events].slice(0, eventsMax);
        put({ ...entry, resource: { ...entry.resource, body: { ...body, events } } });
      }
    },
    append: (path, page) => {
      const entry = entries.get(path);
      if (entry === undefined) return;
      const body = appendPage(entry.resource.body, page);
      put({ ...entry, isExtended: true, resource: { body, problem: null } });
    },
    reversal: () => reversal,
    beginRender: () => {
      for (const path of entries.keys())
        if (entries.size > entriesMax && !shown.has(path)) entries.delete(path);
      shown = new Set();
    },
  };
}

function isOfFeed({ type }: FeedEvent, category: string): boolean {
  const prefixes: Readonly<Record<string, string>> = {
    protocol: 'system.',
    players: 'player.',
    measurement: 'measurement.',
  };
  return type.startsWith(prefixes[category] ?? '');
}

const lists = ['events', 'activity', 'positions'] as const;

function appendPage(shown: unknown, page: unknown): unknown {
  // Pages of one route: objects with one of the lists above, and a cursor.
  const [before, after] = [shown, page] as Record<string, unknown>[];
  if (before === undefined || after === undefined) return shown;
  const list = lists.find((name) => Array.isArray(before[name]) && Array.isArray(after[name]));
  if (list === undefined) return shown;
  return {
    ...before,
    [list]: [...(before[list] as unknown[]), ...(after[list] as unknown[])],
    nextCursor: after.nextCursor,
  };
}
