import type { Clock } from '../../../actors/clock.ts';
import type { ReadBody } from '../../explorer/page.ts';
import type { FeedCategory } from '../../explorer/place.ts';
import { eventsPath, statisticsPath, statusPath } from '../../explorer/resources.ts';
import { noStore, revalidated } from '../../routes/cacheControl.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import type { Header } from '../engine/headerBlock.ts';
import {
  describeCategoryFeed,
  describeRecordFeed,
  findFeedSubject,
  type OwnerOrMiner,
  writeAtomFeed,
} from './atomFeed.ts';
import { drawBadge } from './badge.ts';
import type { CsvFile, CsvTable } from './csvFile.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { retryAfter } from './pageHeaders.ts';
import { type ExplorerPage, listReadPaths, type PageReads } from './pageReads.ts';

export interface ExplorerFiles {
  /** A table as a file; null if there is no such table. */
  table(table: CsvTable | null): ExplorerPage | null;
  /** The newest events for feed readers: of a category, an owner, or a miner. Null for an owner or a miner that cannot be. */
  feed(query: string): ExplorerPage | null;
  badge(): ExplorerPage;
  /** A file that pages refer to; null for an unknown name. */
  file(name: string): PreparedResponse | null;
}

interface WrittenFile {
  readonly text: string;
  readonly contentType: string;
  readonly own?: readonly Header[];
}

interface KeptFile extends Pick<CsvTable, 'key' | 'readPaths'> {
  /** @returns null if what it shows cannot be read at the moment, and `none` if there is no such file. */
  readonly write: (read: ReadBody) => WrittenFile | 'none' | null;
}

interface ExplorerFilesOptions {
  readonly reads: PageReads;
  readonly clock: Clock;
  /** Public base URL of the pages, without a trailing slash; null if not configured. */
  readonly publicUrl: string | null;
}

const atomType = 'application/atom+xml; charset=utf-8';

/** Writes what the pages show for other programs: tables, feeds and a picture. */
export function createExplorerFiles({ reads, clock, publicUrl }: ExplorerFilesOptions): ExplorerFiles {
  const { findCurrent, keep, readBodies, createReader } = reads;

  /** A file that is kept for a while. */
  function toKept({ key, readPaths, write }: KeptFile): ExplorerPage {
    const current = findCurrent(key);
    if (current !== null) return { current };
    return {
      current,
      read: (signal) => readBodies(readPaths, signal),
      render: (known) => {
        const file = write(createReader(known));
        if (file === null) return unread;
        if (file === 'none') return missing;
        const bytes = Buffer.from(file.text);
        const { contentType, own = [] } = file;
        const response = prepareDocument(bytes, { contentType, cacheControl: revalidated, own });
        if (![...known.bodies.values()].includes(null))
          keep(key, { response, bytes: bytes.length, expiresAtMs: Number.POSITIVE_INFINITY }, known);
        return response;
      },
    };
  }

  function toTable({ key, readPaths, pagePath, write }: CsvTable): ExplorerPage {
    if (pagePath === null) return toKept({ key, readPaths, write: (read) => describeTable(write(read, [])) });
    return {
      current: null,
      read: (signal) => reads.readPages(pagePath, signal),
      render: (pages) => {
        const file = describeTable(write(createReader(pages), [...pages.bodies.values()]));
        if (file === null || file === 'none') return unread;
        const { text, own = [], contentType } = file;
        return prepareDocument(Buffer.from(text), {
          contentType,
          cacheControl: revalidated,
          own,
          isSingle: true,
        });
      },
    };
  }

  const toCategoryFeed = (category: FeedCategory) =>
    toKept({
      key: `atom ${category}`,
      readPaths: [eventsPath(category)],
      write: (read) => {
        const feed = read('events', eventsPath(category));
        if (feed?.status !== 'available') return null;
        const text = writeAtomFeed(describeCategoryFeed(feed), publicUrl, clock.nowMs());
        return { text, contentType: atomType };
      },
    });

  function toRecordFeed(subject: OwnerOrMiner): ExplorerPage {
    return {
      current: null,
      read: (signal) => readBodies(listReadPaths(subject), signal),
      render: (found) => {
        const feed = describeRecordFeed(subject, createReader(found));
        if (feed === null) return unread;
        return prepareDocument(Buffer.from(writeAtomFeed(feed, publicUrl, clock.nowMs())), {
          contentType: atomType,
          cacheControl: revalidated,
          own: [],
          isSingle: true,
        });
      },
    };
  }

  return {
    table: (table) => (table === null ? null : toTable(table)),
    feed: (query) => {
      const subject = findFeedSubject(query);
      if (subject === null) return null;
      return subject.view === 'feed' ? toCategoryFeed(subject.category) : toRecordFeed(subject);
    },
    badge: () =>
      toKept({
        key: 'badge',
        readPaths: [],
        write: (read) => ({
          text: drawBadge(read('status', statusPath), read('statistics', statisticsPath('7d'))),
          contentType: 'image/svg+xml',
        }),
      }),
    file: (name) => loadExplorerBuild().responses.get(name) ?? null,
  };
}

function describeTable(file: CsvFile | 'none' | null): WrittenFile | 'none' | null {
  if (file === null || file === 'none') return file;
  const own: Header[] = [['Content-Disposition', `attachment; filename="${file.name}"`]];
  if (file.next !== undefined) own.push(['Link', `<${file.next}>; rel="next"`]);
  return { text: file.text, contentType: 'text/csv; charset=utf-8; header=present', own };
}

const unread = describe('503 Service Unavailable', 'This cannot be read at the moment.');
const missing = describe('404 Not Found', 'There is no such table.');

/** Says why there is no file. After a 503 it may be there soon. */
function describe(status: '404 Not Found' | '503 Service Unavailable', reason: string): PreparedResponse {
  return prepareDocument(Buffer.from(`${reason}\n`), {
    contentType: 'text/plain; charset=utf-8',
    cacheControl: noStore,
    own: status === '404 Not Found' ? [] : [retryAfter],
    status,
  });
}
