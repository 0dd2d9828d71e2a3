import { openEnd } from '../../../storage/runs/lineages.ts';
import { decidingCauses } from '../../../storage/tables/lineages.ts';
import type { SqlValue } from '../clickhouse/evaluate.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** As in `smallLimits.mjs`: how long a replaced history is kept, and a retired run. */
const [retainedMs, readMs] = [120_000, 65_000];
/** Rows that a killed process sent arrive within this time. The next history leaves them out. */
const lateMs = 60_000;

/** A row of `lineages`, by column. */
type Noted = Readonly<Record<string, SqlValue>>;

const fillCauses: readonly SqlValue[] = ['filling', 'filled'];
/** Whether it decides which rows count. */
const decides = ({ cause }: Noted) => (decidingCauses as readonly SqlValue[]).includes(cause ?? '');
const fold = ['stream', 'fold_version', 'configuration', 'stream_created'];
const isSame = (one: Noted, other: Noted | undefined, columns: readonly string[]) =>
  columns.every((column) => one[column] === other?.[column]);
const listRuns = ({ runs }: Noted) => runs as unknown as readonly string[];
const listThroughs = ({ throughs }: Noted) => throughs as unknown as readonly number[];
const lastRun = (noted: Noted) => listRuns(noted).at(-1);
const order = ({ epoch, holder, step }: Noted) =>
  `${String(epoch).padStart(9)} ${holder} ${String(step).padStart(9)}`;

/**
 * Checks each history that is noted, and each run that is dropped: one process writes a run at a time, a replay is continued after its end and by its own
 * fold, what is shown vanishes only if the stream has lost it, and what may count again stays.
 *
 * @param isClockRight whether all processes have the same wall clock.
 */
export function observeLineages(
  { time, clickHouse }: SimulatedWorld,
  { isClockRight, onFailure }: { isClockRight: boolean; onFailure: (failure: SimulationFailure) => void },
) {
  const noted: Noted[] = [];
  let tips: { readonly atMs: number; readonly tip: number }[] = [];
  let streamCreated: SqlValue | undefined;
  const fail = (detail: string) => onFailure(new SimulationFailure('histories', detail));
  const { command } = clickHouse;
  clickHouse.command = (sql, parameters) => {
    const [, name = '', hasPartition] = /^ALTER TABLE (stored_\w+) (DROP PARTITION)?/.exec(sql) ?? [];
    if (hasPartition !== undefined && isClockRight) checkDrop(name, String(Object.values(parameters)[0]));
    command(sql, parameters);
  };

  /** Histories of a stream that decide which rows count, oldest first. */
  function listDeciding(stream: SqlValue | undefined): Noted[] {
    return noted
      .filter((one) => one.stream === stream && decides(one))
      .sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  function read() {
    const { rows = [], columns = [] } = clickHouse.tables.get('lineages') ?? {};
    for (const { values } of rows.slice(noted.length)) {
      const one: Noted = Object.fromEntries(columns.map(({ name }, at) => [name, values[at] ?? null]));
      noted.push(one);
      if (decides(one)) checkNoted(one);
    }
  }

  function checkNoted(one: Noted) {
    const about = `${one.stream} ${one.cause} by ${order(one)}`;
    const run = lastRun(one);
    const before = listDeciding(one.stream).findLast(
      (other) => order(other) < order(one) && lastRun(other) === run,
    );
    // A process that only leaves the history of a lost stream writes none of its runs.
    const isWritten = run !== undefined && Number(one.step) > 0;
    if (isWritten && before !== undefined && !isSame(before, one, ['holder']) && before.cause !== 'ended')
      fail(`${about}: another process writes ${run}`);
    if (
      noted.some(
        (other) =>
          other.cause === 'retired' && isSame(other, one, ['holder']) && listRuns(other).includes(run ?? ''),
      )
    )
      fail(`${about}: it has retired ${run}, which it writes`);
    const fills = noted.filter(
      (other) => fillCauses.includes(other.cause ?? '') && lastRun(other) === one.continuedRun,
    );
    const hasEnded = (other: Noted) => other.cause === 'filled' && !listThroughs(other).includes(openEnd);
    if (fills.length > 0 && !fills.some((other) => hasEnded(other) && isSame(other, one, fold)))
      fail(`${about}: ${one.continuedRun} is of another fold, or has not ended`);
    if (one.stream !== 'MINER_COUNTER') return;
    if (one.cause === 'diverged' || one.stream_created !== streamCreated) tips = [];
    streamCreated = one.stream_created;
  }

  function checkDrop(name: string, partition: string) {
    read();
    const table = clickHouse.tables.get(name);
    const row = table?.rows.find((one) => table.partitionOf(one) === partition);
    if (table === undefined || row === undefined) return;
    const run = String(row.values[table.indexOf('run')]);
    const nowMs = time.within(time.outside, time.wallMs);
    const isOld = (one: Noted, ms: number) => nowMs - Number(one.noted_at_ms) >= ms;
    const isRetired = noted.some(
      (one) => one.cause === 'retired' && listRuns(one).includes(run) && isOld(one, readMs),
    );
    if (!isRetired) fail(`${name}: ${run} was dropped, but not retired long ago`);
    for (const stream of new Set(noted.map((one) => one.stream)))
      for (const [at, one] of listDeciding(stream).entries()) {
        const next = listDeciding(stream)[at + 1];
        if (
          listRuns(one).includes(run) &&
          (next === undefined || !isOld(next, retainedMs) || !isOld(one, retainedMs))
        )
          fail(`${name}: ${run} was dropped, and ${order(one)} may count again`);
      }
  }

  /** The newest message whose reading is shown. */
  function findTip(): number {
    const table = clickHouse.tables.get('stored_readings');
    const newest = listDeciding('MINER_COUNTER').at(-1);
    if (table === undefined || newest === undefined) return 0;
    const throughs = new Map(listRuns(newest).map((run, at) => [run, Number(listThroughs(newest)[at])]));
    const [runAt, storedByAt] = [table.indexOf('run'), table.indexOf('stored_by')];
    let tip = 0;
    for (const { values } of table.rows) {
      const storedBy = Number(values[storedByAt]);
      if (storedBy > tip && storedBy <= (throughs.get(String(values[runAt])) ?? 0)) tip = storedBy;
    }
    return tip;
  }

  return {
    /** Call it every second. */
    note: () => {
      read();
      const atMs = time.nowMs();
      const tip = findTip();
      const least = Math.min(...tips.map((one) => one.tip));
      if (tips.length > 0 && atMs - (tips[0]?.atMs ?? 0) >= lateMs && tip < least)
        fail(`readings are shown through ${tip}, and were through ${least} before`);
      tips = [...tips.filter((one) => one.atMs >= atMs - lateMs - 1_500), { atMs, tip }];
    },
  };
}
