import { DataTable } from '../components/DataTable.tsx';
import { formatExact, formatInteger, formatTick } from '../format/numbers.ts';
import { time } from '../format/timeTexts.ts';
import { coverages } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { todayTable } from '../tables/tables.ts';
import { Columns, Legend } from './Columns.tsx';
import { findTime, inDayOrder, listDayTicks } from './halfHours.ts';

type Statistics = Bodies['statistics'];

/** Today's 48 half hours, from noon to noon, against the typical day of the range. */
export function TodayChart({ statistics }: { statistics: Statistics }) {
  const { days, typicalDay } = statistics.activity;
  const today = days.at(-1);
  if (today === undefined) return null;
  const typical = new Map(typicalDay.map((slot) => [slot.startMinuteUtc, slot.meanWorkMilli]));
  const marks = inDayOrder(today.buckets).map(({ startMinuteUtc, coverage, workUnits }) => {
    const meanWorkMilli = typical.get(startMinuteUtc) ?? null;
    const work = workUnits === null ? coverages[coverage] : `${formatInteger(workUnits)} work units`;
    const usual = meanWorkMilli === null ? '' : `, typically ${formatExact(meanWorkMilli, 3)}`;
    return {
      key: String(startMinuteUtc),
      value: workUnits === null ? null : Number(workUnits),
      state: coverage,
      reference: meanWorkMilli === null ? null : Number(meanWorkMilli) / 1000,
      text: `${time('halfHour', findTime(today.date, startMinuteUtc))}: ${work}${usual}`,
    };
  });
  return (
    <>
      <Columns
        id="today"
        label={`Work in each half hour of the day of ${today.date}, from noon to noon UTC: ${formatInteger(today.observedWorkUnits)} work units so far`}
        marks={marks}
        ticks={listDayTicks(today.date).map((text, index) => ({ at: index / 6, text }))}
        formatValue={formatTick}
      />
      <Legend
        entries={[
          ['complete', 'work'],
          ['partial', 'partly observed'],
          ['zero', 'observed, no work'],
          ['missing', 'missing'],
          ['reference', 'typical day'],
        ]}
      />
      <DataTable
        id="today"
        table={todayTable(statistics)}
        file={`/tables/today.csv?range=${statistics.range}`}
      />
    </>
  );
}
