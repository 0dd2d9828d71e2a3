import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Database } from './database.ts';
import type { StoredRows } from './storedRows.ts';
import type { OfRun } from './tables/chainColumns.ts';
import { chainCheckpoints, chainSettlements } from './tables/chainSettlements.ts';
import { chainEvents, measurementEvents } from './tables/events.ts';
import { foldStates } from './tables/foldStates.ts';
import { halfHourBuckets } from './tables/halfHourBuckets.ts';
import { ownerActivity } from './tables/ownerActivity.ts';
import { readings } from './tables/readings.ts';
import { rounds } from './tables/rounds.ts';
import { createTable, type Table } from './tables/table.ts';
import type { EventTables, Tables } from './tables.ts';

export type EncodeRows<Encoded> = <Row>(rows: readonly Row[], definition: WrittenTable<Row>) => Encoded;

type WrittenTable<Row> = Pick<Table<Row>, 'encode' | 'findPeriod'>;

export interface RowTable {
  readonly definition: Pick<
    Table<unknown>,
    | 'name'
    | 'comment'
    | 'columns'
    | 'storedColumns'
    | 'timeColumn'
    | 'partitionExpression'
    | 'createStatement'
  >;
  /** Stream whose messages make the rows. A replay folds only the counter, so all generations share the tables of the chain. */
  readonly stream: InputStreamName;
  /** Column with the time by which rows age; null if they never do. */
  readonly agesBy: string | null;
  readonly resolveName: (tables: Tables) => string;
  /** @param run of the process that stores the rows, in tables whose rows a lineage selects. */
  readonly encode: <Encoded>(rows: StoredRows, run: string, encodeRows: EncodeRows<Encoded>) => Encoded;
}

/**
 * All tables of rows, in the order of writing. Readings come last and in order of position: the largest stored position shows that every row below it
 * is stored. Likewise, the last stored event shows that its places and all earlier events are stored.
 */
export const rowTables: readonly RowTable[] = [
  // Rounds and half hours have only the device's time.
  defineRows('rounds', rounds, {
    stream: 'MINER_COUNTER',
    agesBy: 'start',
    resolveName: (tables) => tables.rounds,
  }),
  defineRows('buckets', halfHourBuckets, {
    stream: 'MINER_COUNTER',
    agesBy: 'start',
    resolveName: (tables) => tables.halfHourBuckets,
  }),
  defineRows('measurementEvents', measurementEvents.ids, aboutEvents('measurementEvents', 'ids')),
  defineRows('measurementEvents', measurementEvents.times, aboutEvents('measurementEvents', 'times')),
  defineRows('measurementEvents', measurementEvents.events, aboutEvents('measurementEvents', 'events')),
  defineRunRows('chainEvents', chainEvents.ids, aboutEvents('chainEvents', 'ids')),
  defineRunRows('chainEvents', chainEvents.times, aboutEvents('chainEvents', 'times')),
  defineRunRows('chainEvents', chainEvents.events, aboutEvents('chainEvents', 'events')),
  defineRunRows('ownerActivity', ownerActivity, {
    stream: 'MINER_CHAIN',
    agesBy: null,
    resolveName: (tables) => tables.ownerActivity,
  }),
  defineRunRows('settlements', chainSettlements, {
    stream: 'MINER_CHAIN',
    agesBy: null,
    resolveName: (tables) => tables.settlements,
  }),
  defineRunRows('checkpoints', chainCheckpoints, {
    stream: 'MINER_CHAIN',
    agesBy: null,
    resolveName: (tables) => tables.checkpoints,
  }),
  defineRows('readings', readings, {
    stream: 'MINER_COUNTER',
    agesBy: 'received_at',
    resolveName: (tables) => tables.readings,
  }),
];

type MessageColumn = 'stored_by' | 'position';

export function rowTablesOf(stream: InputStreamName): readonly RowTable[] {
  return rowTables.filter((one) => one.stream === stream);
}

export function listRowTables(tables: Tables, stream: InputStreamName): string[] {
  return rowTablesOf(stream).map(({ resolveName }) => resolveName(tables));
}

/** Column with the message that stored a row; null for a stream without rows. */
export function findMessageColumn(stream: InputStreamName): MessageColumn | null {
  const table = rowTables.find((one) => one.stream === stream);
  return table === undefined ? null : messageColumnOf(table);
}

/** Column with the message that stored a row, or that made an event which a later one stored. */
export function messageColumnOf({ definition }: RowTable): MessageColumn {
  return definition.columns.includes('stored_by') ? 'stored_by' : 'position';
}

export async function createGenerationTables(database: Database, tables: Tables): Promise<void> {
  await createRowTables(database, tables, 'MINER_COUNTER');
  await createTable(database, foldStates, tables.foldStates);
}

/** Creates the missing tables of a stream. The table of readings comes first: `listGenerations` finds a generation by it. */
export async function createRowTables(
  database: Database,
  tables: Tables,
  stream: InputStreamName,
): Promise<void> {
  for (const { definition, resolveName, ...one } of rowTables.toReversed())
    if (one.stream === stream) await createTable(database, definition, resolveName(tables));
}

type RowLists = Omit<StoredRows, 'throughPosition'>;
type AboutRows = Pick<RowTable, 'stream' | 'agesBy' | 'resolveName'>;

function defineRows<Kind extends keyof RowLists>(
  kind: Kind,
  definition: RowTable['definition'] & WrittenTable<RowLists[Kind][number]>,
  about: AboutRows,
): RowTable {
  return {
    ...about,
    definition,
    encode: (rows, _run, encodeRows) => encodeRows<RowLists[Kind][number]>(rows[kind], definition),
  };
}

/** Rows that count if a lineage names their run. */
function defineRunRows<Kind extends keyof RowLists>(
  kind: Kind,
  definition: RowTable['definition'] & WrittenTable<OfRun<RowLists[Kind][number]>>,
  about: AboutRows,
): RowTable {
  return {
    ...about,
    definition,
    encode: (rows, run, encodeRows) =>
      encodeRows<OfRun<RowLists[Kind][number]>>(
        rows[kind].map((row) => ({ ...row, run })),
        definition,
      ),
  };
}

function aboutEvents(kind: 'measurementEvents' | 'chainEvents', table: keyof EventTables): AboutRows {
  return {
    stream: kind === 'chainEvents' ? 'MINER_CHAIN' : 'MINER_COUNTER',
    agesBy: table === 'ids' ? 'arrived_at' : 'recorded_at',
    resolveName: (tables) => tables[kind][table],
  };
}
