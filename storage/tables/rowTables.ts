import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { OfRun } from '../definition/runColumns.ts';
import type { Table } from '../definition/table.ts';
import { chainEvents, type EventTables, listKeyRows, measurementEvents } from './events.ts';
import type { FoldedRows } from './foldedRows.ts';
import { halfHourBuckets } from './halfHourBuckets.ts';
import { ownerActivity } from './ownerActivity.ts';
import { readings } from './readings.ts';
import { rounds } from './rounds.ts';

type EncodeRows<Encoded> = <Row>(rows: readonly Row[], table: WrittenTable<Row>) => Encoded;

export interface WrittenTable<Row> {
  readonly findPeriod: (row: Row) => number;
  readonly encode: (rows: readonly Row[], shared: Pick<OfRun, 'run'>) => Buffer;
}

export interface RowTable {
  readonly definition: Pick<
    Table<unknown>,
    'name' | 'comment' | 'storedColumns' | 'timeColumn' | 'identity' | 'createStatement'
  >;
  /** Stream whose messages make the rows. */
  readonly stream: InputStreamName;
  readonly encode: <Encoded>(rows: FoldedRows, encodeRows: EncodeRows<Encoded>) => Encoded;
}

/**
 * All tables of rows, in the order of writing. Readings come last and in order of position: the largest stored position shows that every row below it
 * is stored. Likewise, the last stored event shows that its places and all earlier events are stored.
 */
export const rowTables: readonly RowTable[] = [
  defineRows('rounds', rounds, 'MINER_COUNTER'),
  defineRows('buckets', halfHourBuckets, 'MINER_COUNTER'),
  ...defineEventRows('measurementEvents', measurementEvents, 'MINER_COUNTER'),
  ...defineEventRows('chainEvents', chainEvents, 'MINER_CHAIN'),
  defineRows('ownerActivity', ownerActivity, 'MINER_CHAIN'),
  defineRows('readings', readings, 'MINER_COUNTER'),
];

export function rowTablesOf(stream: InputStreamName): readonly RowTable[] {
  return rowTables.filter((one) => one.stream === stream);
}

type RowLists = Omit<FoldedRows, 'throughPosition'>;

function defineRows<Kind extends keyof RowLists>(
  kind: Kind,
  definition: RowTable['definition'] & WrittenTable<RowLists[Kind][number]>,
  stream: InputStreamName,
): RowTable {
  return {
    stream,
    definition,
    encode: (rows, encodeRows) => encodeRows<RowLists[Kind][number]>(rows[kind], definition),
  };
}

function defineEventRows(
  kind: 'measurementEvents' | 'chainEvents',
  { keys, events }: EventTables,
  stream: InputStreamName,
): RowTable[] {
  return [
    {
      stream,
      definition: keys,
      encode: (rows, encodeRows) => encodeRows(rows[kind].flatMap(listKeyRows), keys),
    },
    defineRows(kind, events, stream),
  ];
}
