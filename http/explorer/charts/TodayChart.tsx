import { DataTable } from '../components/DataTable.tsx';
import { usePage } from '../components/pageContext.ts';
import { formatExact, formatInteger, formatTick } from '../format/numbers.ts';
import { time } from '../format/timeTexts.ts';
import { describeObservedWork } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { todayTable } from '../tables/tables.ts';
import { Columns, Legend } from './Columns.tsx';
import { listDayTicks } from './halfHours.ts';
import { findKnown, listHalfHours } from './observed.ts';

type Statistics = Bodies['statistics'];

/** Today's 48 half hours, from noon to noon, against the typical day of the range. */
export function TodayChart({ statistics }: { statistics: Statistics }) {
  const known = findKnown(statistics, usePage().read);
  const { days, typicalDay } = statistics.activity;
  const today = days.at(-1);
  if (today === undefined) return null;
  const typical = new Map(typicalDay.map((slot) => [slot.startMinuteUtc, slot.meanWorkMilli]));
  const marks = listHalfHours(today, known).map(({ startMinuteUtc, startAt, state, workUnits }) => {
    const meanWorkMilli = typical.get(startMinuteUtc) ?? null;
    const usual = meanWorkMilli === null ? '' : `, typically ${formatExact(meanWorkMilli, 3)}`;
    return {
      key: String(startMinuteUtc),
      value: workUnits === null ? null : Number(workUnits),
      state,
      reference: meanWorkMilli === null ? null : Number(meanWorkMilli) / 1000,
      text: `${time('halfHour', startAt)}: ${describeObservedWork(workUnits, state)}${usual}`,
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
          ['running', 'so far'],
          ['partial', 'partly observed'],
          ['zero', 'observed, no work'],
          ['missing', 'missing'],
          ['reference', 'typical day'],
        ]}
      />
      <DataTable
        id="today"
        table={todayTable(statistics, known)}
        file={`/tables/today.csv?range=${statistics.range}`}
      />
    </>
  );
}
