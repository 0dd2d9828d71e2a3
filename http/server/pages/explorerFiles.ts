import type { Clock } from '../../../actors/clock.ts';
import type { ReadBody } from '../../explorer/page.ts';
import type { FeedCategory } from '../../explorer/place.ts';
import { corePath, eventsPath, statisticsPath, statusPath } from '../../explorer/resources.ts';
import { noStore, revalidated } from '../../routes/cacheControl.ts';
import { type PreparedResponse, prepareDocument } from '../answers/preparedResponse.ts';
import {
  describeCategoryFeed,
  describeRecordFeed,
  findFeedSubject,
  type OwnerOrMiner,
  writeAtomFeed,
} from './atomFeed.ts';
import { drawBadge } from './badge.ts';
import { type CsvTable, findCsvTable } from './csvTables.ts';
import { loadExplorerBuild } from './explorerBuild.ts';
import { retryAfter } from './pageHeaders.ts';
import { type ExplorerPage, listReadPaths, type PageRead, type PageReads } from './pageReads.ts';

export interface ExplorerFiles {
  /** A table as a file; null for an unknown name. */
  table(name: string, query: string): ExplorerPage | null;
  /** The newest events for feed readers: of a category, an owner, or a miner. Null for an owner or a miner that cannot be. */
  feed(query: string): ExplorerPage | null;
  badge(): PreparedResponse | null;
  /** A file that pages refer to; null for an unknown name. */
  file(name: string): PreparedResponse | null;
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

  function writeTable(table: CsvTable, { bodies: known }: PageRead): PreparedResponse {
    const { views, readBody } = createReader(known);
    const file = table.write(readBody);
    if (file === null) return describe('503 Service Unavailable', 'The table cannot be read at the moment.');
    if (file === 'none') return describe('404 Not Found', 'There is no such table.');
    const bytes = Buffer.from(file.text);
    const response = prepareDocument(bytes, {
      contentType: 'text/csv; charset=utf-8; header=present',
      cacheControl: revalidated,
      own: [['Content-Disposition', `attachment; filename="${file.name}"`]],
      isSingle: known.size > 0,
    });
    if (known.size === 0)
      keep(table.key, { response, bytes: bytes.length, views, expiresAtMs: Number.POSITIVE_INFINITY });
    return response;
  }

  /** A document that is written from views, once per change of them. */
  function findDocument(
    key: string,
    contentType: string,
    write: (read: ReadBody) => string | null,
  ): PreparedResponse | null {
    const current = findCurrent(key);
    if (current !== null) return current;
    const { views, noteView, readBody } = createReader(new Map());
    // Events have no view of their own. They follow the chain and the readings.
    noteView(statusPath);
    noteView(corePath);
    const text = write(readBody);
    if (text === null) return null;
    const bytes = Buffer.from(text);
    const response = prepareDocument(bytes, { contentType, cacheControl: revalidated, own: [] });
    keep(key, { response, bytes: bytes.length, views, expiresAtMs: Number.POSITIVE_INFINITY });
    return response;
  }

  function readCategoryFeed(category: FeedCategory): PreparedResponse {
    const document = findDocument(`atom ${category}`, atomType, (read) => {
      const feed = read('events', eventsPath(category));
      return feed?.status === 'available'
        ? writeAtomFeed(describeCategoryFeed(feed), publicUrl, clock.nowMs())
        : null;
    });
    return document ?? unreadFeed;
  }

  function toRecordFeed(subject: OwnerOrMiner): ExplorerPage {
    return {
      current: null,
      read: (signal) => readBodies(listReadPaths(subject), subject, signal),
      render: (found) => {
        const feed = describeRecordFeed(subject, found, createReader(found.bodies).readBody);
        if (feed === null) return unreadFeed;
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
    table: (name, query) => {
      const table = findCsvTable(name, query);
      if (table === null) return null;
      const current = findCurrent(table.key);
      if (current !== null) return { current };
      return {
        current,
        read: (signal) => readBodies(table.readPaths, null, signal),
        render: (found) => writeTable(table, found),
      };
    },
    feed: (query) => {
      const subject = findFeedSubject(query);
      if (subject === null) return null;
      return subject.view === 'feed'
        ? { current: readCategoryFeed(subject.category) }
        : toRecordFeed(subject);
    },
    badge: () =>
      findDocument('badge', 'image/svg+xml', (read) =>
        drawBadge(read('status', statusPath), read('statistics', statisticsPath('7d'))),
      ),
    file: (name) => loadExplorerBuild().responses.get(name) ?? null,
  };
}

const unreadFeed = describe('503 Service Unavailable', 'The feed cannot be read at the moment.');

/** Says why there is no file. What cannot be read now may be read soon. */
function describe(status: '404 Not Found' | '503 Service Unavailable', reason: string): PreparedResponse {
  return prepareDocument(Buffer.from(`${reason}\n`), {
    contentType: 'text/plain; charset=utf-8',
    cacheControl: noStore,
    own: status === '404 Not Found' ? [] : [retryAfter],
    status,
  });
}
