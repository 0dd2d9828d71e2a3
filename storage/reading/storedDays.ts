import { type ReadOlderDay, StoreUnavailable } from '../../actors/pages/olderRows.ts';
import { formatDayLabel, roundsPerDay } from '../../actors/wheel/dayHistory.ts';
import { roundMs } from '../../actors/wheel/roundFold.ts';
import type { Database } from '../clickhouse/database.ts';
import { type LineageRuns, selectRuns } from '../runs/lineages.ts';
import type { ReadRuns } from '../runs/runsReader.ts';
import { rounds } from '../tables/rounds.ts';
import { createKeptReads } from './keptReads.ts';

interface StoredDaysOptions {
  readonly database: Database;
  readonly readRuns: ReadRuns;
}

/** Days that are kept: enough for what people look at at the same time. */
const keptMax = 64;

const roundWork = rounds.select('startMs', 'workUnits');

/** Reads universal days from rows, each once while the number of its observed rounds is the same: a gateway may send readings of old days. */
export function createStoredDays({ database, readRuns }: StoredDaysOptions): ReadOlderDay {
  const kept = createKeptReads<ReadonlyMap<number, bigint>>(keptMax);

  async function read(
    runs: LineageRuns,
    installation: string,
    { startMs, observed }: Parameters<ReadOlderDay>[1],
    signal: AbortSignal,
  ) {
    const runCondition = selectRuns(runs);
    const rows = await database.select(
      // If several runs have a round, its last row counts.
      `SELECT ${roundWork.list} FROM ${rounds.name} FINAL WHERE ${runCondition.sql} AND installation_id = {installation:String}
       AND start >= fromUnixTimestamp64Milli({startMs:Int64}, 'UTC') AND start < fromUnixTimestamp64Milli({endMs:Int64}, 'UTC')
       ORDER BY position`,
      { ...runCondition.parameters, installation, startMs, endMs: startMs + roundsPerDay * roundMs },
      signal,
    );
    const works = new Map(
      rows.map(roundWork.read).map((round) => [(round.startMs - startMs) / roundMs, round.workUnits]),
    );
    if (works.size < observed)
      throw new StoreUnavailable(
        `ClickHouse holds ${works.size} of ${observed} rounds of ${formatDayLabel(startMs)}; \`miner replay\` makes lost ones again`,
      );
    // Work that no column holds is unknown.
    return new Map([...works].flatMap(([place, work]) => (work === null ? [] : [[place, work] as const])));
  }

  return async (installationId, day, signal) => {
    const runs = await readRuns();
    const key = `${installationId} ${day.startMs} ${day.observed}`;
    return kept.find(runs, key) ?? kept.add(runs, key, await read(runs, installationId, day, signal));
  };
}
