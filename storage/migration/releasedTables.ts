import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { Database } from '../clickhouse/database.ts';
import { chainCheckpoints, chainSettlements } from '../tables/chainSettlements.ts';
import { chainEvents, type EventTables, measurementEvents } from '../tables/events.ts';
import { halfHourBuckets } from '../tables/halfHourBuckets.ts';
import { ownerActivity } from '../tables/ownerActivity.ts';
import { readings } from '../tables/readings.ts';
import { rounds } from '../tables/rounds.ts';

/*
 * The tables of version 1.0, which only the migration reads. A replay filled another generation of tables, with a number in their names, and then made
 * it the active one. Tables of the chain had no generations.
 */

type FormatName = (generation: number) => string;

/** Names of the tables that the rows come from, by the name of the table that they move to. */
const sources: ReadonlyMap<string, FormatName> = new Map([
  [readings.name, (generation) => `readings_g${generation}`],
  [rounds.name, (generation) => `rounds_g${generation}`],
  [halfHourBuckets.name, (generation) => `half_hour_buckets_g${generation}`],
  ...listEventSources(measurementEvents, (kind) => (generation) => `measurement_feed${kind}_g${generation}`),
  ...listEventSources(chainEvents, (kind) => () => `chain_feed_events${kind}`),
  [ownerActivity.name, () => 'chain_owner_activity'],
  [chainSettlements.name, () => 'chain_settlements'],
  [chainCheckpoints.name, () => 'chain_checkpoints'],
]);

function listEventSources(
  { ids, keys, events }: EventTables,
  formatOf: (kind: '' | '_ids') => FormatName,
): [string, FormatName][] {
  return [
    [ids.name, formatOf('_ids')],
    // Keys are made from the events.
    [keys.name, formatOf('')],
    [events.name, formatOf('')],
  ];
}

/** SQL of the keys (`eventKeys.ts`) of a row of the events of version 1.0. */
const keysOfEvent = (() => {
  const find = (pattern: string) => `extractAll(event, '${pattern}')`;
  const miners = `arrayConcat(${find('"(?:tokenId|survivorTokenId|donorTokenId)":."[$]bigint":"([0-9]+)"')},
    extractAll(extract(event, '"tokenIds":.([^]]*)'), '"([0-9]+)"'))`;
  const format = (noun: string, found: string, ending = '') =>
    `arrayMap(found -> concat('${noun} ', found${ending}), ${found})`;
  const withType = (noun: string, found: string) =>
    `${format(noun, found)}, ${format(noun, found, ", ' ', toString(type)")}`;
  return `arrayConcat([toString(category), toString(type)],
    ${format('transaction', find('"transactionHash":"(0x[0-9a-f]+)"'))},
    ${format('block', find('"blockNumber":."[$]bigint":"([0-9]+)"'))},
    ${withType('owner', find('"owner":"(0x[0-9a-f]+)"'))}, ${withType('miner', miners)})`;
})();

/** How the rows of a table are made of the rows of version 1.0. */
export interface ReleasedSource {
  readonly name: string;
  /** SQL of the number of rows that are made of a row. */
  readonly count: string;
  /** SQL of the columns that version 1.0 did not have. */
  readonly made: Readonly<Record<string, string>>;
}

/** Table of version 1.0 whose rows move to a table; null for a table that 1.0 had no rows of. */
export function findSource(table: string, generation: number): ReleasedSource | null {
  const name = sources.get(table)?.(generation);
  if (name === undefined) return null;
  if (table !== measurementEvents.keys.name && table !== chainEvents.keys.name)
    return { name, count: '1', made: {} };
  return { name, count: `length(${keysOfEvent})`, made: { key: `arrayJoin(${keysOfEvent})` } };
}

/** The active generation. It has the highest swap, or is the first one without any. */
export async function readActiveGeneration(database: Database): Promise<number> {
  const [row] = await database.select('SELECT generation FROM generation_in_use ORDER BY swap DESC LIMIT 1');
  return Number(row?.[0] ?? 1);
}

/** Fold and stream that a generation's readings were made by and from. */
interface ReleasedOrigin extends FoldIdentity {
  readonly streamCreated: string;
}

/** The origin of the readings of a generation; null if it has none. */
export async function readReadingsOrigin(
  database: Database,
  generation: number,
): Promise<ReleasedOrigin | null> {
  const [reading] = await database.select(
    `SELECT position FROM ${findSource(readings.name, generation)?.name} LIMIT 1`,
  );
  if (reading === undefined) return null;
  const [row] = await database.select(
    `SELECT fold_version, configuration, stream_created FROM generations
     WHERE generation = {generation:Int64} ORDER BY at_ms DESC LIMIT 1`,
    { generation },
  );
  if (row === undefined) return null;
  const [foldVersion, configuration, streamCreated] = row;
  return {
    foldVersion: Number(foldVersion),
    configuration: String(configuration),
    streamCreated: String(streamCreated),
  };
}
