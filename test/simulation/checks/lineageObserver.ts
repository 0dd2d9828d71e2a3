import { openEnd } from '../../../storage/runs/lineages.ts';
import { countingCauses, type LineageRow, lineages } from '../../../storage/tables/lineages.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** As in `smallLimits.mjs`: how long a replaced lineage is kept, and a retired run. */
const [retainedMs, readMs] = [120_000, 65_000];
/** Rows that a killed process sent arrive within this time. The next lineage leaves them out. */
const lateMs = 60_000;
/** Between two lineages more and more is shown. It is looked at this often. */
const tipMs = 10_000;

type Noted = LineageRow;

/** Whether it counts. */
const counts = ({ cause }: Noted) => countingCauses.includes(cause);
const isFill = ({ cause }: Noted) => cause === 'filling' || cause === 'filled';
const isSame = (one: Noted, other: Noted, members: readonly (keyof Noted)[]) =>
  members.every((member) => one[member] === other[member]);
const lastRun = ({ runs }: Noted) => runs.at(-1);
const order = ({ epoch, holder, step }: Noted) =>
  `${String(epoch).padStart(9)} ${holder} ${String(step).padStart(9)}`;

/**
 * Checks each lineage that is noted, and each run that is dropped: one process writes a run at a time, a replay is continued after its end and by its own
 * fold, what is shown vanishes only if the stream has lost it, and what may count again stays.
 *
 * @param isClockRight whether all processes have the same wall clock.
 */
export function observeLineages(
  { time, clickHouse }: SimulatedWorld,
  { isClockRight, onFailure }: { isClockRight: boolean; onFailure: (failure: SimulationFailure) => void },
) {
  /** By their text, since an insert may be sent twice. */
  const known = new Map<string, Noted>();
  let noted: Noted[] = [];
  let tips: { readonly atMs: number; readonly tip: number }[] = [];
  let streamCreated: string | undefined;
  const fail = (detail: string) => onFailure(new SimulationFailure('lineages', detail));
  const { command } = clickHouse;
  clickHouse.command = (sql, parameters = {}) => {
    const [, name = '', hasPartition] = /^ALTER TABLE (stored_\w+) (DROP PARTITION)?/.exec(sql) ?? [];
    if (hasPartition !== undefined && isClockRight) checkDrop(name, String(Object.values(parameters)[0]));
    command(sql, parameters);
  };

  /** Lineages of a stream that count, oldest first. */
  function listCounting(stream: Noted['stream']): Noted[] {
    return noted
      .filter((one) => one.stream === stream && counts(one))
      .sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  function read() {
    const rows = clickHouse.select(
      `SELECT ${lineages.list} FROM ${lineages.name} ORDER BY epoch, holder, step`,
    );
    for (const row of rows) {
      const text = JSON.stringify(row);
      if (known.has(text)) continue;
      const one = lineages.read(row);
      known.set(text, one);
      noted = [...known.values()];
      if (counts(one)) checkNoted(one);
    }
  }

  function checkNoted(one: Noted) {
    const about = `${one.stream} ${one.cause} by ${order(one)}`;
    const run = lastRun(one);
    const before = listCounting(one.stream).findLast(
      (other) => order(other) < order(one) && lastRun(other) === run,
    );
    // A process that only leaves the lineage of a lost stream writes none of its runs.
    const isWritten = run !== undefined && one.step > 0;
    if (isWritten && before !== undefined && !isSame(before, one, ['holder']) && before.cause !== 'ended')
      fail(`${about}: another process writes ${run}`);
    if (
      noted.some(
        (other) =>
          other.cause === 'retired' && isSame(other, one, ['holder']) && other.runs.includes(run ?? ''),
      )
    )
      fail(`${about}: it has retired ${run}, which it writes`);
    const fills = noted.filter((other) => isFill(other) && lastRun(other) === one.continuedRun);
    const hasEnded = (other: Noted) => other.cause === 'filled' && !other.throughs.includes(openEnd);
    const isOfFold = (other: Noted) =>
      isSame(other, one, ['stream', 'foldVersion', 'configuration', 'streamCreated']);
    if (fills.length > 0 && !fills.some((other) => hasEnded(other) && isOfFold(other)))
      fail(`${about}: ${one.continuedRun} is of another fold, or has not ended`);
    if (one.stream !== 'MINER_COUNTER') return;
    if (one.reason === 'diverged' || one.streamCreated !== streamCreated) tips = [];
    streamCreated = one.streamCreated;
  }

  function checkDrop(table: string, partition: string) {
    read();
    const ofPartition = `SELECT run FROM ${table} WHERE _partition_id = {partition:String} LIMIT 1`;
    const [[run] = []] = clickHouse.select(ofPartition, { partition });
    if (run === undefined) return;
    const nowMs = time.within(time.outside, time.wallMs);
    const isOld = (one: Noted, ms: number) => nowMs - one.notedAtMs >= ms;
    const holds = ({ runs }: Noted) => runs.includes(String(run));
    const isRetired = noted.some((one) => one.cause === 'retired' && holds(one) && isOld(one, readMs));
    // A replay drops its own rows if nobody continues it.
    const causes = new Set(noted.filter(holds).map(({ cause }) => cause));
    const isReplays = causes.size === 1 && causes.has('filling');
    if (!isReplays && !isRetired) fail(`${table}: ${run} was dropped, but not retired long ago`);
    for (const stream of new Set(noted.map((one) => one.stream)))
      for (const [at, one] of listCounting(stream).entries()) {
        const next = listCounting(stream)[at + 1];
        if (holds(one) && (next === undefined || !isOld(next, retainedMs) || !isOld(one, retainedMs)))
          fail(`${table}: ${run} was dropped, and ${order(one)} may count again`);
      }
  }

  /** The newest message whose reading is shown. */
  function findTip(): number {
    const newest = listCounting('MINER_COUNTER').at(-1);
    if (newest === undefined) return 0;
    const { runs, throughs } = newest;
    const [row] = clickHouse.select(
      `SELECT max(stored_by) FROM stored_readings
       WHERE arrayExists((one, through) -> run = one AND stored_by <= through, {runs:Array(String)}, {throughs:Array(UInt64)})`,
      { runs, throughs },
    );
    return Number(row?.[0] ?? 0);
  }

  return {
    /** Call it every second. */
    note: () => {
      const before = noted.length;
      read();
      const atMs = time.nowMs();
      if (noted.length === before && atMs - (tips.at(-1)?.atMs ?? 0) < tipMs) return;
      const tip = findTip();
      const least = Math.min(...tips.map((one) => one.tip));
      if (tips.length > 0 && atMs - (tips[0]?.atMs ?? 0) >= lateMs && tip < least)
        fail(`readings are shown through ${tip}, and were through ${least} before`);
      tips = [...tips.filter((one) => one.atMs >= atMs - lateMs - tipMs), { atMs, tip }];
    },
  };
}
