import { createGunzip } from 'node:zlib';
import { parse, stringify } from '../actors/bigintJson.ts';
import { chainRecords } from '../actors/chain/records/chainRecords.ts';
import { createChainRestoration, encodeSpanFold } from '../actors/chain/records/chainSnapshot.ts';
import { ownerEventsRetained } from '../actors/chain/rows/activityRows.ts';
import { type OwnerEvent, ownerEvent } from '../actors/chain/state/ownerState.ts';
import type { EventWindow } from '../actors/events/eventWindow.ts';
import { type FoldIdentity, identifyFold } from '../actors/foldIdentity.ts';
import {
  defineListRecord,
  type FoldRecord,
  parseRecord,
  RecordRefused,
  type Restoration,
  refuseOnError,
} from '../actors/foldRecord.ts';
import { aheadMsMax } from '../actors/messages/futureTimes.ts';
import { findHalfSurrogate } from '../actors/messages/halfSurrogates.ts';
import { type InputStreamName, inputStreamNames } from '../actors/messages/subjects.ts';
import {
  createInstallationsRestoration,
  encodeInstallations,
  installationRecords,
} from '../actors/settlement/installationSnapshot.ts';
import { counterRecords } from '../actors/wheel/counterRecords.ts';
import { createCounterRestoration, encodeCounters } from '../actors/wheel/counterSnapshot.ts';
import { type RecentRound, roundMs } from '../actors/wheel/roundFold.ts';
import type { Database } from './database.ts';
import { readActiveGeneration, readReadingsOrigin } from './releasedTables.ts';
import { readPayloads } from './snapshotText.ts';
import { integer, oneOf, string, stringOrEmpty } from './tables/column.ts';
import type { SnapshotHeader } from './tables/foldSnapshot.ts';
import { defineTable } from './tables/table.ts';

/*
 * Snapshots as version 1.0 stored them: a whole state as part 0, and parts with the changes since, in one partition. Only the migration to
 * runs reads them.
 */

/** A replay of one installation noted the state of the other ones, under a name of its own. */
const releasedSources = [...inputStreamNames, 'MINER_COUNTER beside'] as const;

interface ReleasedChunk extends Omit<ReleasedSource, 'stream'> {
  readonly stream: (typeof releasedSources)[number];
  readonly snapshot: string;
  /** 0 is the whole state; each later part holds the changes since the previous one. */
  readonly part: number;
  readonly chunk: number;
  /** Number of chunks of the part; 0 except in the last chunk. */
  readonly chunkCount: number;
  /** Number of the state in its stream, in the order of saving. */
  readonly ordinal: number;
  /** SHA-256 of the part's payloads; empty except in the last chunk. */
  readonly checksum: string;
  /** Piece of the part's records, gzipped, in base64. */
  readonly payload: string;
}

/** Version 1.0 had no runs. */
type ReleasedSource = Omit<SnapshotHeader, 'run'>;

export const releasedSnapshots = defineTable<ReleasedChunk>({
  name: 'fold_snapshots',
  columns: {
    snapshot: string,
    part: integer,
    chunk: integer,
    chunkCount: integer,
    stream: oneOf(releasedSources),
    foldVersion: integer,
    configuration: string,
    streamCreated: string,
    position: integer,
    digest: stringOrEmpty,
    takenAtMs: integer,
    ordinal: integer,
    checksum: string,
    payload: string,
  },
  engine: 'MergeTree()',
  partitionBy: { value: 'snapshot' },
  orderBy: ['snapshot', 'part', 'chunk'],
});

const headers = releasedSnapshots.select(
  'snapshot',
  'part',
  'stream',
  'foldVersion',
  'configuration',
  'streamCreated',
  'position',
  'digest',
  'takenAtMs',
  'ordinal',
);
type ReleasedHeader = ReturnType<typeof headers.read>;

/** Finds the state of a stream that was saved last, of those without a missing part; null without one. */
async function findNewest(
  database: Database,
  table: string,
  stream: InputStreamName,
): Promise<ReleasedHeader | null> {
  const rows = await database.select(
    `SELECT snapshot, part, ${headers.columns
      .slice(2)
      .map((column) => `any(${column})`)
      .join(', ')}
     FROM ${table} WHERE stream = {stream:String} GROUP BY snapshot, part
     HAVING uniqExact(chunk) = max(chunk_count) ORDER BY snapshot, part`,
    { stream },
  );
  const parts = rows.map(headers.read);
  const restorable = parts.filter(
    ({ snapshot, part }, at) => parts[at - part]?.snapshot === snapshot && parts[at - part]?.part === 0,
  );
  return restorable.sort((a, b) => b.ordinal - a.ordinal)[0] ?? null;
}

/**
 * The records of a state that `isNeeded` selects by kind and key.
 *
 * @throws SnapshotDamaged or RecordRefused when the stored text differs from the saved one.
 */
async function readRecords(
  database: Database,
  table: string,
  { snapshot, part: last }: ReleasedHeader,
  isNeeded: (record: FoldRecord) => boolean,
): Promise<Iterable<FoldRecord>> {
  const records = new Map<string, FoldRecord>();
  for (let part = 0; part <= last; part++) {
    const rows = await database.selectPlain(
      ['payload', 'checksum'],
      `FROM ${table} WHERE snapshot = {snapshot:String} AND part = {part:Int64} ORDER BY chunk LIMIT 1 BY chunk`,
      { snapshot, part },
    );
    const payloads = async function* () {
      for (const [payload = ''] of rows) yield payload;
    };
    for await (const lines of readPayloads(payloads(), rows.at(-1)?.[1] ?? '', createGunzip()))
      for (const record of refuseOnError(() => lines.map(parseRecord))) {
        if (!isNeeded(record)) continue;
        const name = `${record.kind} ${record.key}`;
        // An empty value removes a record.
        if (record.value === '') records.delete(name);
        else records.set(name, record);
      }
  }
  return records.values();
}

/** Settings that the identities of the folds depend on. */
export interface MigratedDeployment {
  /** Start of round 1, Unix seconds. */
  readonly genesisTimestamp: number;
  /** The public installation. */
  readonly installationId: string;
}

interface Conversion {
  /** Identity of the fold that wrote the state; of any deployment without a configuration. */
  readonly from: Pick<FoldIdentity, 'foldVersion'> & Partial<FoldIdentity>;
  /** The parts of the identity that are new. */
  readonly to: Partial<FoldIdentity>;
  readonly isNeeded: (record: FoldRecord) => boolean;
  /** Whether messages were accepted that are refused now, since they name times in the future. */
  readonly mayNameFuture: boolean;
  readonly convert: (records: Iterable<FoldRecord>, takenAtMs: number) => Iterable<FoldRecord>;
  /** Checks the converted records, and writes them as its fold does. */
  readonly rewrite: (records: Iterable<FoldRecord>) => RewrittenState;
}

interface RewrittenState {
  readonly records: Iterable<FoldRecord>;
  /** Names the rows that the state relies on; null without any. */
  readonly feed: ReleasedFeed | null;
}

/** The run of the fold that made a state and its rows, and the events that are rows. */
export type ReleasedFeed = Pick<EventWindow<never>, 'run' | 'evicted'>;

function buildConversions({
  genesisTimestamp,
  installationId: publicInstallationId,
}: MigratedDeployment): Readonly<Record<InputStreamName, Conversion>> {
  const genesisMs = genesisTimestamp * 1000;
  const ofCounter = { genesisMs, publicInstallationId };
  return {
    MINER_COUNTER: {
      from: identifyFold(7, ofCounter),
      to: identifyFold(8, ofCounter),
      isNeeded: ({ kind, key }) => kind !== 'recentRounds' || key.startsWith(`${publicInstallationId}/`),
      mayNameFuture: true,
      convert: convertCounter,
      rewrite: (records) => {
        const state = restoreAll(createCounterRestoration(), records);
        return { records: encodeCounters(state), feed: state.progress };
      },
    },
    MINER_PIPELINE: {
      from: identifyFold(5, {}),
      to: identifyFold(6, { genesisMs }),
      isNeeded: () => true,
      mayNameFuture: true,
      convert: convertPipeline,
      rewrite: (records) => ({
        records: encodeInstallations(restoreAll(createInstallationsRestoration(), records)),
        feed: null,
      }),
    },
    MINER_CHAIN: {
      from: { foldVersion: 8 },
      to: {},
      isNeeded: () => true,
      mayNameFuture: false,
      convert: convertChain,
      rewrite: (records) => {
        const captured = restoreAll(createChainRestoration(), records);
        return { records: encodeSpanFold(captured), feed: captured.state.safe.at(-1)?.feed ?? null };
      },
    },
  };
}

function restoreAll<State>(restoration: Restoration<State>, records: Iterable<FoldRecord>): State {
  for (const record of records) restoration.add(record);
  return restoration.complete();
}

/** Only the public installation's rounds are kept. The gateway received a reading shortly before the stream stored it. */
function* convertCounter(records: Iterable<FoldRecord>): Iterable<FoldRecord> {
  const rounds: RecentRound[] = [];
  for (const record of records) {
    if (record.kind === counterRecords.recentRounds.kind)
      rounds.push(...counterRecords.recentRounds.read(record));
    else if (record.kind === counterRecords.installation.kind) {
      const installation = parse(record.value) as { acceptance: { latest: { receivedAtMs: number } } };
      const heardAtMs = installation.acceptance.latest.receivedAtMs;
      yield { ...record, value: stringify({ ...installation, heardAtMs }) };
    } else yield record;
  }
  if (rounds.length > 0)
    yield counterRecords.recentRounds.write(
      '',
      rounds.sort((a, b) => a.roundId - b.roundId),
    );
}

/** Version 1.0 did not note when an installation was heard. It gives its place up 30 days later at the earliest. */
function* convertPipeline(records: Iterable<FoldRecord>, takenAtMs: number): Iterable<FoldRecord> {
  for (const record of records) {
    yield record;
    if (record.kind === 'settlement')
      yield installationRecords.heard.write(record.key, { heardAtMs: takenAtMs, forgottenThroughMs: null });
  }
}

/** Each event had a record, by owner and number, and owners without an event in memory had their number. */
const activity = defineListRecord('activity', ownerEvent);

function* convertChain(records: Iterable<FoldRecord>): Iterable<FoldRecord> {
  const counts = new Map<string, number>();
  const events = new Map<string, { readonly number: number; readonly event: OwnerEvent }[]>();
  let rowsThroughBlock = -1n;
  for (const record of records) {
    const [owner = '', number] = record.key.split('/');
    if (record.kind === 'activityCount') counts.set(record.key, Number(record.value));
    else if (record.kind === activity.kind) {
      const known = events.get(owner) ?? [];
      events.set(owner, known);
      known.push({ number: Number(number), event: activity.read(record) });
    } else {
      if (record.kind === chainRecords.state.kind)
        rowsThroughBlock = chainRecords.state.read(record).activityRowsThroughBlock ?? -1n;
      yield record;
    }
  }
  for (const [owner, activityCount] of counts)
    if (!events.has(owner)) yield chainRecords.owner.write(owner, { activityCount, activity: [] });
  for (const [owner, known] of events) {
    known.sort((a, b) => a.number - b.number);
    const [first] = known;
    const activityCount = (known.at(-1)?.number ?? -1) + 1;
    if (first === undefined || activityCount - first.number !== known.length)
      throw new RecordRefused(`activity of ${owner} is missing`);
    // What is a row, and on no first page, is left out.
    const isKept = ({ number, event }: (typeof known)[number]) =>
      number >= activityCount - ownerEventsRetained || event.source.blockNumber > rowsThroughBlock;
    const kept = known.slice(known.findIndex(isKept)).map(({ event }) => event);
    yield chainRecords.owner.write(owner, { activityCount, activity: kept });
  }
}

/**
 * Why a state holds something of a message that is refused now; null if it holds nothing of the kind. A time that has passed when the
 * state was saved did no harm.
 */
function explainTaint({ kind, key, value }: FoldRecord, limitMs: number, genesisMs: number): string | null {
  if (findHalfSurrogate(value) !== null) return `${kind} ${key} holds half of a surrogate pair`;
  const read = parse(value);
  const name = findLaterTime(read, limitMs);
  if (name !== null) return `${kind} ${key} names a time in the future (${name})`;
  if (kind !== 'closedRound') return null;
  const { roundId } = read as { roundId: bigint };
  return BigInt(genesisMs) + roundId * BigInt(roundMs) > BigInt(limitMs)
    ? `round ${roundId} ends in the future`
    : null;
}

/** The name of the first member in milliseconds that is beyond the limit; null without one. Durations are far below it. */
function findLaterTime(value: unknown, limitMs: number): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (name.endsWith('Ms') && typeof member === 'number' && member > limitMs) return name;
    const found = findLaterTime(member, limitMs);
    if (found !== null) return found;
  }
  return null;
}

interface ConvertedState {
  readonly header: ReleasedSource;
  readonly records: readonly FoldRecord[];
  readonly feed: ReleasedFeed | null;
}

/**
 * The newest state of a stream in a generation of version 1.0, as the folds of this version write it; null without one.
 *
 * @throws SnapshotDamaged or RecordRefused if the state cannot be taken over.
 */
export async function convertNewest(
  database: Database,
  {
    generation,
    stream,
    deployment,
  }: {
    readonly generation: number;
    readonly stream: InputStreamName;
    readonly deployment: MigratedDeployment;
  },
): Promise<ConvertedState | null> {
  const table = formatTable(generation);
  const newest = await findNewest(database, table, stream);
  if (newest === null) return null;
  const { from, to, isNeeded, mayNameFuture, convert, rewrite } = buildConversions(deployment)[stream];
  const { foldVersion, configuration, streamCreated, position, digest, takenAtMs } = newest;
  if (foldVersion !== from.foldVersion || configuration !== (from.configuration ?? configuration))
    throw new RecordRefused('it is of another version or deployment');
  const limitMs = takenAtMs + aheadMsMax;
  const records = [...(await readRecords(database, table, newest, isNeeded))];
  const header = { stream, foldVersion, configuration, streamCreated, position, digest, takenAtMs, ...to };
  return refuseOnError(() => {
    for (const record of mayNameFuture ? records : []) {
      const taint = explainTaint(record, limitMs, deployment.genesisTimestamp * 1000);
      if (taint !== null) throw new RecordRefused(taint);
    }
    const { records: rewritten, feed } = rewrite(convert(records, takenAtMs));
    return { header, records: [...rewritten], feed };
  });
}

/**
 * Creation times of the streams that the rows and snapshots of a database of version 1.0 were made from, by stream, the newest first. Readings
 * without a snapshot belong to the stream with which their generation began. A stream without rows and snapshots is left out.
 */
export async function readReleasedStreams(
  database: Database,
): Promise<Map<InputStreamName, readonly [string, ...string[]]>> {
  const generation = await readActiveGeneration(database);
  const created = new Map<InputStreamName, readonly [string, ...string[]]>();
  for (const stream of inputStreamNames) {
    const rows = await database.select(
      `SELECT stream_created FROM ${formatTable(generation)} WHERE stream = {stream:String}
       GROUP BY stream_created ORDER BY max(ordinal) DESC`,
      { stream },
    );
    const [newest, ...others] = rows.map(([one]) => String(one));
    if (newest !== undefined) created.set(stream, [newest, ...others]);
  }
  if (!created.has('MINER_COUNTER')) {
    const origin = await readReadingsOrigin(database, generation);
    if (origin !== null) created.set('MINER_COUNTER', [origin.streamCreated]);
  }
  return created;
}

function formatTable(generation: number): string {
  return `${releasedSnapshots.name}_g${generation}`;
}
