import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import type { IsCounted } from '../runs/mergedRuns.ts';
import { listContinuable } from '../runs/replays.ts';
import type { SnapshotHeader, StoredSnapshotHeader } from '../tables/foldSnapshot.ts';
import { foldStates } from '../tables/foldStates.ts';
import { selectRetained } from './snapshotRetention.ts';
import { readPayloads, writePayloads } from './snapshotText.ts';

/** Chunks that one statement reads, and that one block of an insert has: at most two MiB, so that neither blocks the event loop for long. */
const chunksAtOnce = 8;

const headers = foldStates.select(
  'snapshot',
  'stream',
  'run',
  'foldVersion',
  'configuration',
  'streamCreated',
  'position',
  'digest',
  'takenAtMs',
  'checksum',
);

export type SnapshotStore = ReturnType<typeof createSnapshotStore>;

/**
 * Snapshots of folds, each a whole state in a partition of its own. One insert stores all of it or nothing, and only then are older ones
 * dropped, so a kill at any point leaves a restorable state.
 */
export function createSnapshotStore(database: Database) {
  const { name: table } = foldStates;

  /**
   * Saves a state, and removes snapshots that are no longer retained. Resolves with the stored bytes.
   *
   * @param isCounted whether the rows of a snapshot count in the lineage that the state belongs to.
   */
  async function save(
    header: SnapshotHeader,
    records: Iterable<FoldRecord>,
    isCounted: IsCounted,
  ): Promise<number> {
    const { payloads, checksum } = await writePayloads(records);
    const saved: StoredSnapshotHeader = { ...header, snapshot: formatName(header), checksum };
    const rows = payloads.map((payload, chunk) => ({ ...saved, chunk, payload }));
    await database.insertBlocks(table, encodeInTurns(rows));
    await dropExcept(saved, isCounted);
    return payloads.reduce((bytes, payload) => bytes + payload.length, 0);
  }

  /** Snapshots of a stream, highest position first. */
  async function list(stream: InputStreamName): Promise<StoredSnapshotHeader[]> {
    const rows = await database.select(
      `SELECT DISTINCT ${headers.list} FROM ${table} WHERE stream = {stream:String}`,
      { stream },
    );
    return rows.map(headers.read).sort((a, b) => b.position - a.position || b.takenAtMs - a.takenAtMs);
  }

  /**
   * The records of a snapshot.
   *
   * @throws SnapshotDamaged when the stored text differs from the saved one, RecordRefused when a line is not a record.
   */
  function read({ snapshot, checksum }: StoredSnapshotHeader): AsyncIterable<readonly FoldRecord[]> {
    return readPayloads(selectPayloads(snapshot), checksum);
  }

  /** The payloads of a snapshot, in order. The next statement already runs while the caller uses a payload. */
  async function* selectPayloads(snapshot: string): AsyncIterable<string> {
    const select = (from: number) =>
      database.selectPlain(
        ['payload'],
        `FROM ${table} WHERE snapshot = {snapshot:String} AND chunk >= {from:Int64} AND chunk < {end:Int64}
         ORDER BY chunk LIMIT 1 BY chunk`, // A repeated insert leaves duplicates.
        { snapshot, from, end: from + chunksAtOnce },
      );
    let next = select(0);
    for (let from = chunksAtOnce; ; from += chunksAtOnce) {
      const rows = await next;
      if (rows.length === 0) return;
      next = select(from);
      next.catch(() => undefined); // The `await` above throws the error.
      for (const [payload] of rows) if (payload !== undefined) yield payload;
    }
  }

  /** Drops the snapshots that are not retained once another one is saved. */
  async function dropExcept(saved: StoredSnapshotHeader, isCounted: IsCounted) {
    const stored = await list(saved.stream);
    const others = stored.filter(({ snapshot }) => snapshot !== saved.snapshot);
    const lineages = await listContinuable(database, saved.stream);
    const retained = selectRetained(saved, others, isCounted, lineages);
    for (const one of others)
      if (!retained.includes(one))
        await database.command(`ALTER TABLE ${table} DROP PARTITION {name:String}`, { name: one.snapshot });
  }

  return { save, list, read };
}

/** Blocks of one insert. The event loop gets a turn after each. */
async function* encodeInTurns(rows: Parameters<typeof foldStates.encode>[0]): AsyncIterable<Buffer> {
  for (let from = 0; from < rows.length; from += chunksAtOnce) {
    yield foldStates.encode(rows.slice(from, from + chunksAtOnce));
    await nextTurn();
  }
}

/** The name of a snapshot, which is its partition. */
function formatName(header: SnapshotHeader): string {
  const { stream, foldVersion, configuration, position, takenAtMs, run } = header;
  return `${stream}.${foldVersion}.${position}.${takenAtMs}.${configuration.slice(0, 16)}.${run}`;
}
