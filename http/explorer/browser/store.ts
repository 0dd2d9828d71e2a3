import { nameFamily } from '../format/events.ts';
import type { Bodies, FeedEvent, Resource, ResourceName } from '../page.ts';
import { compareSettled, type Reversal, type SettledMark } from '../reversal.ts';

export interface Entry {
  readonly name: ResourceName;
  readonly path: string;
  readonly resource: Resource<unknown>;
  readonly etag: string | null;
  /** Time of the last successful read, by this or another tab of the browser; 0 for never. */
  readonly readAtMs: number;
  /** Whether further pages were appended. It is then not read again, which would remove them; events still arrive by the stream. */
  readonly isExtended: boolean;
}

export interface Store {
  read<Name extends ResourceName>(name: Name, path: string): Resource<Bodies[Name]>;
  /** Entries that the page shows. */
  shown(): Iterable<Entry>;
  find(path: string): Entry | undefined;
  put(entry: Entry): void;
  addEvent(event: FeedEvent): void;
  /** Appends a page to the list whose first page is stored. */
  append(path: string, page: unknown): void;
  /** Rounds that were shown as settled and no longer are; null if none. */
  reversal(): Reversal | null;
  /** Called before each rendering. The page shows the resources that are read from then on. */
  beginRender(): void;
}

const nothing: Resource<never> = { body: null, problem: null };
/** Maximum number of events in one feed, so a tab that is open for a month stays small. */
const eventsMax = 400;
/** Maximum number of resources kept for going back, so a long visit to many owners does not grow. */
const entriesMax = 32;
/** Lists of chain events, which may have further pages. */
const chainLists: ReadonlySet<ResourceName> = new Set(['events', 'activity', 'portfolio']);

/** Resources by path. Calls `onChange` after each change, and `onUnknown` when a resource is read for the first time. */
export function createStore(onChange: () => void, onUnknown: () => void): Store {
  const entries = new Map<string, Entry>();
  let shown = new Set<string>();
  let seen: SettledMark | null = null;
  let reversal: Reversal | null = null;
  /** After a reorganization, lists may hold events that never happened. They are read again from the beginning. */
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
    // The poller put it there, from the route of this name.
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
      // The poller put it there, from the route of this name.
      return entry.resource as Resource<Bodies[typeof name]>;
    },
    shown: () => [...entries.values()].filter(({ path }) => shown.has(path)),
    find: (path) => entries.get(path),
    put,
    addEvent: (event) => {
      for (const entry of entries.values()) {
        const { body } = entry.resource as Resource<Bodies['events']>;
        if (entry.name !== 'events' || body?.status !== 'available') continue;
        if (body.category !== 'all' && body.category !== nameFamily(event)) continue;
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

const lists = ['events', 'activity', 'positions'] as const;

function appendPage(shown: unknown, page: unknown): unknown {
  // Both are pages of one route: objects with a cursor and one of the lists above.
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
