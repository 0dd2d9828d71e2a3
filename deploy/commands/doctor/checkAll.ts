import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { isOfFold } from '../../../actors/folds/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { dayMs } from '../../../actors/schemas/durations.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { readReadingsGoneBeforeMs } from '../../../storage/rows/readingsTtl.ts';
import {
  compareTable,
  countLaterRows,
  type TableDifference,
} from '../../../storage/rows/tableDifferences.ts';
import { closeFill, findFillBase, selectKept } from '../../../storage/runs/fills.ts';
import {
  cutRuns,
  findLastRun,
  type Lineage,
  readLineage,
  type VisibleRuns,
} from '../../../storage/runs/lineages.ts';
import { readCounted } from '../../../storage/runs/mergedRuns.ts';
import { isRefusal, readSnapshotRecords } from '../../../storage/snapshots/readSnapshotRecords.ts';
import { createSnapshotStore, type SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import type { StoredSnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import { rowTablesOf } from '../../../storage/tables/rowTables.ts';
import {
  createStreamActors,
  type StreamActors,
  streamDefinitions,
} from '../../../streams/folds/streamDefinitions.ts';
import type { FilledRun } from '../../../streams/follower/fillRun.ts';
import {
  createStreamVerifier,
  StreamDiverged,
  type StreamVerifier,
} from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven } from '../../../streams/jetstream/proofs/suspicions.ts';
import type { JetStream } from '../../../streams/nats/natsLink.ts';
import { foldAgain } from '../../../streams/work/foldAgain.ts';
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
  readonly snapshots: SnapshotStore;
  readonly actors: StreamActors;
}

/** Records that one finding names. */
const recordsNamed = 5;
const silent = pino({ level: 'silent' });

/**
 * Folds every stream again, each into a run of its own, through the message of the newest saved state, and compares each row and that state with the
 * result. It takes as long and as much room as a replay, and changes nothing that is read.
 */
export async function checkAll(options: CheckAllOptions): Promise<Finding[]> {
  const check = {
    ...options,
    snapshots: createSnapshotStore(options.database),
    actors: createStreamActors(options.deployment),
  };
  const findings: Finding[] = [];
  for (const stream of inputStreamNames)
    if (check.actors[stream] !== null) findings.push(...(await checkStream(check, stream)));
  return findings;
}

async function checkStream(check: Check, stream: InputStreamName): Promise<Finding[]> {
  const findings = (await attemptCheck(check, stream)) ?? (await attemptCheck(check, stream));
  const detail =
    'two attempts did not reach the newest saved state: the stream has lost messages meanwhile, or states that the check began with were removed';
  return findings ?? [failed(nameOf(stream), detail, 'run it again')];
}

const nameOf = (stream: InputStreamName) => `everything of ${stream}`;

/** Null if the stream or its saved states changed meanwhile, so that another attempt may succeed. */
async function attemptCheck(check: Check, stream: InputStreamName): Promise<Finding[] | null> {
  const { jsm, database, snapshots, signal } = check;
  const name = nameOf(stream);
  const { created: streamCreated, state } = await jsm.streams.info(stream);
  if (state.last_seq === 0) return [ok(name, 'the stream has never held a message')];
  const { identity } = requireValue(check.actors[stream], `the actors of ${stream}`);
  const history = await readLineage(database, stream, { ...identity, streamCreated });
  const isCounted = await readCounted(database, history);
  const usable = (await snapshots.list(stream)).filter(
    (header) => isOfFold(header, identity) && isCounted(header),
  );
  const [newest] = usable;
  if (history === null || newest === undefined)
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
    const saved = await digestRecords(snapshots, newest);
    const { filled, isComplete } = await foldForCheck(check, { verifier, history, after, through });
    const folded = filled.runs.slice(selectKept(filled).length);
    try {
      if (signal.aborted) return [failed(name, 'it was stopped', 'run it again')];
      if (!isComplete || findFillBase(filled) !== after) return null;
      const left = `messages 1 to ${after} have left the stream, so what was made from them cannot be compared`;
      return [
        ...(after === 0 ? [] : [skipped(name, left)]),
        ...(await compareRows(check, { history, folded, after, through })),
        ...(await compareState(check, { stream, folded, through }, saved)),
      ];
    } finally {
      // Only now, since nothing is kept of a check that has ended.
      if (folded.length > 0)
        await closeFill(database, filled, { position: through, nowMs: systemClock.nowMs() });
    }
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

interface FoldRange {
  readonly verifier: StreamVerifier;
  readonly history: Lineage;
  /** Position of the saved state that the fold begins with; 0 for the beginning of the stream. */
  readonly after: number;
  readonly through: number;
}

/** Folds a stream again, into runs that never count. */
function foldForCheck(check: Check, { verifier, history, after, through }: FoldRange): Promise<FilledRun> {
  const { stream } = history;
  const kept = cutRuns(history.runs, after);
  const progress = createProgress({ label: `folding ${stream}`, unit: 'messages', total: through });
  return foldAgain({
    ...check,
    stream,
    verifier,
    clock: systemClock,
    logger: silent,
    through,
    from: { ...history, runs: kept, continuedRun: findLastRun(kept) },
    cause: 'checking',
    onBatch: (batch) => progress.update(batch.position),
  }).finally(progress.stop);
}

interface FoldedAgain extends Pick<FoldRange, 'history' | 'after' | 'through'> {
  /** The runs of the result. A deep reorganization begins another one. */
  readonly folded: VisibleRuns;
}

async function compareRows(
  { database }: Check,
  { history: { stream, runs }, folded, ...range }: FoldedAgain,
): Promise<Finding[]> {
  const check = `rows of ${stream}`;
  const gone = await readReadingsGoneBeforeMs(database, systemClock.nowMs());
  // ClickHouse removes rows up to two days later, and by whole days.
  const goneBeforeMs = gone === null ? null : gone + 2 * dayMs;
  const compared = { stored: runs, folded, ...range, goneBeforeMs };
  const differences: TableDifference[] = [];
  let later = 0;
  for (const table of rowTablesOf(stream)) {
    differences.push(await compareTable(database, table, compared));
    later += await countLaterRows(database, table, compared);
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
          streamDefinitions[stream].doctor.remedyFrom(firstMessage ?? 1),
        ),
      ),
  ];
}

/** Compares the newest saved state with the state of the fold at the same message. */
async function compareState(
  { snapshots }: Check,
  {
    stream,
    folded: runs,
    through,
  }: { readonly stream: InputStreamName } & Pick<FoldedAgain, 'folded' | 'through'>,
  saved: ReadonlyMap<string, string>,
): Promise<Finding[]> {
  const check = `state of ${stream}`;
  const headers = await snapshots.list(stream);
  const header = headers.find((one) => one.run === findLastRun(runs) && one.position === through);
  const folded = await digestRecords(snapshots, requireValue(header, 'the folded state'));
  const differing = [...new Set([...saved.keys(), ...folded.keys()])].filter(
    (record) => saved.get(record) !== folded.get(record),
  );
  if (differing.length > 0) {
    const named = differing.slice(0, recordsNamed).join(', ');
    const detail = `${differing.length} of ${folded.size} records differ: ${named}${differing.length > recordsNamed ? ' and others' : ''}`;
    return [failed(check, detail, streamDefinitions[stream].doctor.remedyFrom(1))];
  }
  return [ok(check, `as folded again: ${folded.size} records`)];
}

/** The digests of the values of a state, by kind and key. A state of years would not fit into memory twice. */
async function digestRecords(
  snapshots: SnapshotStore,
  header: StoredSnapshotHeader,
): Promise<ReadonlyMap<string, string>> {
  const digest = (value: string) => createHash('sha256').update(sortMembers(value)).digest('base64');
  const digests = new Map<string, string>();
  for await (const records of readSnapshotRecords(snapshots, header))
    for (const { kind, key, value } of records) digests.set(`${kind} ${key}`, digest(value));
  return digests;
}

/** The same JSON in one form: a fold keeps a restored value in the order of members in which it was saved. */
function sortMembers(json: string): string {
  return JSON.stringify(JSON.parse(json), (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
