import { DataTable } from '../components/DataTable.tsx';
import { formatExact, formatInteger, formatTick } from '../format/numbers.ts';
import { time } from '../format/timeTexts.ts';
import { coverages } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { dayTable } from '../tables/tables.ts';
import { Columns, Legend } from './Columns.tsx';
import { findTime, inDayOrder, listDayTicks } from './halfHours.ts';

type Statistics = Bodies['statistics'];

interface DayChartProps {
  readonly statistics: Statistics;
  readonly day: Statistics['activity']['days'][number];
  /** Path of the table as a file. */
  readonly file: string;
}

/** The 48 half hours of a universal day, from noon to noon, against the typical day of the range. */
export function DayChart({ statistics, day, file }: DayChartProps) {
  const hasEnded = day.buckets.every(({ coverage }) => coverage !== 'future');
  const typical = new Map(
    statistics.activity.typicalDay.map((slot) => [slot.startMinuteUtc, slot.meanWorkMilli]),
  );
  const marks = inDayOrder(day.buckets).map(({ startMinuteUtc, coverage, workUnits }) => {
    const meanWorkMilli = typical.get(startMinuteUtc) ?? null;
    const work = workUnits === null ? coverages[coverage] : `${formatInteger(workUnits)} work units`;
    const usual = meanWorkMilli === null ? '' : `, typically ${formatExact(meanWorkMilli, 3)}`;
    return {
      key: String(startMinuteUtc),
      value: workUnits === null ? null : Number(workUnits),
      state: coverage,
      reference: meanWorkMilli === null ? null : Number(meanWorkMilli) / 1000,
      text: `${time('halfHour', findTime(day.date, startMinuteUtc))}: ${work}${usual}`,
    };
  });
  return (
    <>
      <Columns
        id="today"
        label={`Work in each half hour of the day of ${day.date}, from noon to noon UTC: ${formatInteger(day.observedWorkUnits)} work units${hasEnded ? '' : ' so far'}`}
        marks={marks}
        ticks={listDayTicks(day.date).map((text, index) => ({ at: index / 6, text }))}
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
      <DataTable id="today" table={dayTable(statistics, day)} file={file} />
    </>
  );
}

/** The half hours of the newest day of a range. */
export function TodayChart({ statistics }: { statistics: Statistics }) {
  const today = statistics.activity.days.at(-1);
  return today === undefined ? null : (
    <DayChart statistics={statistics} day={today} file={`/tables/today.csv?range=${statistics.range}`} />
  );
}
