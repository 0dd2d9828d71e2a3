import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type FoldIdentity, isOfFold } from '../../../actors/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import type { Database } from '../../../storage/database.ts';
import { deleteRows } from '../../../storage/deleteRowsAbove.ts';
import {
  attachSnapshots,
  createChecked,
  dropTables,
  findActiveTables,
} from '../../../storage/generations.ts';
import { findCounted, readLineage } from '../../../storage/lineages.ts';
import { isRefusal, readSnapshotRecords } from '../../../storage/readSnapshotRecords.ts';
import { createRecentReadings } from '../../../storage/recentReadings.ts';
import { createReplayLog } from '../../../storage/replayLog.ts';
import { createOldestRowMs, readRowsGoneBeforeMs, readRowsTtlDays } from '../../../storage/rowsTtl.ts';
import { findMessageColumn, rowTablesOf } from '../../../storage/rowTables.ts';
import { createSnapshotStore, type SnapshotStore } from '../../../storage/snapshots.ts';
import { compareTable, countLaterRows, type TableDifference } from '../../../storage/tableDifferences.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import { resolveCheckedTables, type Tables } from '../../../storage/tables.ts';
import { createStoredReadings } from '../../../streams/counter/storedReadings.ts';
import { foldInto } from '../../../streams/follower/foldInto.ts';
import { acquireLock } from '../../../streams/ingest/processLock.ts';
import type { JetStream } from '../../../streams/jetstream/natsLink.ts';
import { replaySubject } from '../../../streams/jetstream/replaySubject.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import {
  createStreamVerifier,
  StreamDiverged,
  type StreamVerifier,
} from '../../../streams/jetstream/sourceVerification.ts';
import { askUntilProven } from '../../../streams/jetstream/suspicions.ts';
import { createMessageCounts } from '../../../streams/pipeline/messageCounts.ts';
import type { StreamFold } from '../../../streams/pipeline/streamFold.ts';
import {
  createStreamActors,
  createStreamFold,
  type StreamActors,
} from '../../../streams/streamDefinitions.ts';
import type { Deployment } from '../../configuration/deploymentFile.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';
import { createProgress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';

interface CheckAllOptions extends JetStream {
  readonly database: Database;
  readonly deployment: Deployment;
  /** Ends the check early. */
  readonly signal: AbortSignal;
}

interface Check extends CheckAllOptions {
  readonly stored: Tables;
  readonly folded: Tables;
  readonly storedSnapshots: SnapshotStore;
  readonly foldedSnapshots: SnapshotStore;
  readonly actors: StreamActors;
}

/** Records that one finding names. */
const recordsNamed = 5;
const silent = pino({ level: 'silent' });
const replayFrom = 'rebuild it from the stream: `npm run miner -- replay --from-sequence';
const refill = 'fill another database from the streams: deploy/RUNBOOK.md, "Moving to another database"';

/**
 * Folds every stream again, into tables of its own, through the message of the newest saved state, and compares each row and that state with the
 * result. It takes as long and as much room as a replay, and changes nothing that is read.
 *
 * @throws LockHeldError while a replay or a rebuild runs.
 */
export async function checkAll(options: CheckAllOptions): Promise<Finding[]> {
  const { connection, database, deployment } = options;
  const release = await acquireLock(
    connection,
    replaySubject,
    'a replay, a rebuild, or another check of everything',
  );
  try {
    const stored = await findActiveTables(database);
    const log = createReplayLog(database, systemClock.nowMs);
    const folded = resolveCheckedTables(await log.nextGeneration(stored.generation));
    const openSnapshots = (tables: Tables) => createSnapshotStore({ database, tables: () => tables });
    const check = {
      ...options,
      stored,
      folded,
      storedSnapshots: openSnapshots(stored),
      foldedSnapshots: openSnapshots(folded),
      actors: createStreamActors(deployment),
    };
    await createChecked(database, folded);
    try {
      const findings: Finding[] = [];
      for (const stream of inputStreamNames)
        if (check.actors[stream] !== null) findings.push(...(await checkStream(check, stream)));
      return findings;
    } finally {
      await dropTables(database, folded);
    }
  } finally {
    release();
  }
}

async function checkStream(check: Check, stream: InputStreamName): Promise<Finding[]> {
  const { jsm, database, storedSnapshots, signal } = check;
  const name = `everything of ${stream}`;
  const { state } = await jsm.streams.info(stream);
  if (state.last_seq === 0) return [ok(name, 'the stream has never held a message')];
  const fold = openFold(check, stream);
  const ofFold = (await storedSnapshots.list(stream)).filter((header) => isOfFold(header, fold.identity));
  const usable = ofFold.filter(await findCounted(database, stream, fold.identity));
  const [newest] = usable;
  if (newest === undefined)
    return [
      failed(
        name,
        'no state of this version is saved',
        'start the service, and try again once it has caught up',
      ),
    ];
  // Messages before the first one have left the stream, so the fold begins with the oldest state that it continues.
  const base =
    state.first_seq === 1 ? null : usable.findLast(({ position }) => position + 1 >= state.first_seq);
  if (base === undefined || base === newest) {
    const detail = `messages through ${state.first_seq - 1} have left the stream, and no earlier state is saved`;
    return [failed(name, detail, 'try again once the service has saved more states')];
  }
  const after = base?.position ?? 0;
  const through = newest.position;
  try {
    const verifier = createStreamVerifier({ jsm, stream, clock: systemClock });
    await askUntilProven(() => verifier.verify(newest));
    const saved = await digestRecords(storedSnapshots, newest);
    const isComplete = await foldAgain(check, { stream, verifier, fold, base, through });
    if (signal.aborted) return [failed(name, 'it was stopped', 'run it again')];
    if (!isComplete)
      return [failed(name, 'the stream or the saved states changed meanwhile', 'run it again')];
    const left = `messages 1 to ${after} have left the stream, so what was made from them cannot be compared`;
    return [
      ...(after === 0 ? [] : [skipped(name, left)]),
      ...(await compareRows(check, stream, { after, through, identity: fold.identity })),
      await compareState(check, stream, saved),
    ];
  } catch (error) {
    if (error instanceof StreamDiverged)
      return [
        failed(
          name,
          error.message,
          'start the service, which leaves out what the stream has lost; then try again',
        ),
      ];
    if (!isRefusal(error)) throw error;
    const detail = `the newest state, at message ${through}, is damaged (${readErrorMessage(error)})`;
    return [failed(name, detail, 'start the service: it restores an older state, and saves a new one')];
  }
}

/** The service's own fold, whose views nobody sees. */
function openFold({ actors }: Check, stream: InputStreamName): StreamFold {
  const registry = new Registry();
  const fold = createStreamFold(stream, actors, {
    recent: createRecentReadings({ storedThrough: () => Number.POSITIVE_INFINITY }),
    counts: createMessageCounts(registry),
    logger: silent,
    registry,
  });
  return requireValue(fold, `the fold of ${stream}`);
}

interface FoldRange {
  readonly stream: InputStreamName;
  readonly verifier: StreamVerifier;
  readonly fold: StreamFold;
  /** State that the fold begins with; null for the beginning of the stream. */
  readonly base: StoredSnapshotHeader | null;
  readonly through: number;
}

/** Folds a stream again. False if it was stopped, or if the stream or its first state is no longer there. */
async function foldAgain(check: Check, range: FoldRange): Promise<boolean> {
  const { stream, verifier, fold, base, through } = range;
  const { database, stored, folded, foldedSnapshots } = check;
  if (base !== null) {
    const { position } = base;
    await attachSnapshots(database, { from: stored, to: folded, stream, position });
    const attached = await foldedSnapshots.list(stream);
    if (!attached.some((header) => header.position === position)) return false;
  }
  const column = findMessageColumn(stream);
  const progress = createProgress({ label: `folding ${stream}`, unit: 'messages', total: through });
  const oldestMs = createOldestRowMs(await readRowsTtlDays(database, stored.readings), systemClock.nowMs)();
  const readStored = createStoredReadings({
    ...check,
    verifier,
    tables: () => stored,
    oldestRowMs: () => oldestMs,
    logger: silent,
  });
  const { position, snapshotPosition, divergences } = await foldInto({
    ...check,
    stream,
    verifier,
    source: createMessageSource({
      ...check,
      stream,
      verifier,
      through,
      ...(stream === 'MINER_COUNTER' && { readStored }),
      clock: systemClock,
      logger: silent,
    }),
    fold,
    tables: folded,
    snapshots: foldedSnapshots,
    hasRows: column !== null,
    removeRowsAbove: async (above) => {
      if (column === null) return;
      const condition = { sql: `${column} > {position:UInt64}`, parameters: { position: above } };
      await deleteRows(database, folded, condition, stream);
    },
    onBatch: (batch) => progress.update(batch.position),
    clock: systemClock,
    logger: silent,
  }).finally(progress.stop);
  return divergences === 0 && position === through && snapshotPosition === through;
}

async function compareRows(
  { database, stored, folded }: Check,
  stream: InputStreamName,
  {
    identity,
    ...range
  }: { readonly after: number; readonly through: number; readonly identity: FoldIdentity },
): Promise<Finding[]> {
  const check = `rows of ${stream}`;
  const gone = await readRowsGoneBeforeMs(database, stored, systemClock.nowMs());
  // ClickHouse removes rows up to two days later, and by whole days.
  const goneBeforeMs = gone === null ? null : gone + 2 * dayMs;
  const lineage = stream === 'MINER_CHAIN' ? await readLineage(database, stream, identity) : null;
  const runs = lineage?.runs ?? null;
  const differences: TableDifference[] = [];
  let later = 0;
  for (const table of rowTablesOf(stream)) {
    differences.push(await compareTable(database, table, { stored, folded, ...range, runs, goneBeforeMs }));
    later += await countLaterRows(database, table, { stored, ...range, runs });
  }
  const same = differences.filter(({ foreign, missing }) => foreign + missing === 0);
  const newer = `${later} rows of messages after ${range.through} are newer than the newest saved state, so they cannot be compared yet`;
  return [
    ...(later === 0 ? [] : [skipped(check, newer)]),
    ...(same.length === 0
      ? []
      : [ok(check, `as folded again: ${same.map(({ table, rows }) => `${rows} of ${table}`).join(', ')}`)]),
    ...differences
      .filter((one) => !same.includes(one))
      .map(({ table, rows, foreign, missing, firstMessage }) =>
        failed(
          check,
          `${table}: ${missing} of ${rows} rows are missing, and ${foreign} rows are there that the stream does not make; the first of them is of message ${firstMessage}`,
          stream === 'MINER_COUNTER' ? `${replayFrom} ${firstMessage}\`, with --dry-run first` : refill,
        ),
      ),
  ];
}

/** Compares the newest saved state with the state of the fold at the same message. */
async function compareState(
  { foldedSnapshots }: Check,
  stream: InputStreamName,
  saved: ReadonlyMap<string, string>,
): Promise<Finding> {
  const check = `state of ${stream}`;
  const [header] = await foldedSnapshots.list(stream);
  const folded = await digestRecords(foldedSnapshots, requireValue(header, 'the folded state'));
  const differing = [...new Set([...saved.keys(), ...folded.keys()])].filter(
    (record) => saved.get(record) !== folded.get(record),
  );
  if (differing.length === 0) return ok(check, `as folded again: ${folded.size} records`);
  const named = differing.slice(0, recordsNamed).join(', ');
  return failed(
    check,
    `${differing.length} of ${folded.size} records differ: ${named}${differing.length > recordsNamed ? ' and others' : ''}`,
    stream === 'MINER_COUNTER' ? `${replayFrom} 1\`, with --dry-run first` : refill,
  );
}

/** Digests of the values of a state, by kind and key. A state of years would not fit into memory twice. */
async function digestRecords(
  snapshots: SnapshotStore,
  header: StoredSnapshotHeader,
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for await (const records of readSnapshotRecords(snapshots, header))
    for (const { kind, key, value } of records)
      digests.set(`${kind} ${key}`, createHash('sha256').update(value).digest('base64'));
  return digests;
}
