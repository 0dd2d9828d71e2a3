import { findDaySpan } from '../../addresses/days.ts';
import { DataTable } from '../components/DataTable.tsx';
import { usePage } from '../components/pageContext.ts';
import { formatFixed, formatInteger } from '../format/numbers.ts';
import { time } from '../format/times.ts';
import { describeObservedWork } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { halfHourMs } from '../rounds.ts';
import { halfHoursTable } from '../tables/tables.ts';
import { Columns, Legend } from './Columns.tsx';
import { findKnown, listHalfHours } from './observed.ts';

type Statistics = Bodies['statistics'];

interface DayChartProps {
  readonly statistics: Statistics;
  readonly day: Statistics['activity']['days'][number];
}

/** The 48 half hours of a universal day, from noon to noon, against the typical day of the range. */
export function DayChart({ statistics, day }: DayChartProps) {
  const known = findKnown(statistics, usePage().read);
  const halfHours = listHalfHours(day, known);
  const hasEnded = halfHours.every(({ state }) => state !== 'future' && state !== 'running');
  const typical = new Map(
    statistics.activity.typicalDay.map((slot) => [slot.startMinuteUtc, slot.meanWorkMilli]),
  );
  const marks = halfHours.map(({ startMinuteUtc, startAt, state, workUnits }) => {
    const meanWorkMilli = typical.get(startMinuteUtc) ?? null;
    const usual = meanWorkMilli === null ? '' : `, typically ${formatFixed(BigInt(meanWorkMilli), 3, 0)}`;
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
        label={`Work in each half hour of the day of ${day.date}, from noon to noon UTC: ${formatInteger(day.observedWorkUnits)} work units${hasEnded ? '' : ' so far'}`}
        caption={`Work units in each half hour, ${time('zone')}`}
        marks={marks}
        ticks={[0, 1, 2, 3, 4, 5, 6].map((index) => ({
          at: index / 6,
          text: time('hour', new Date(findDaySpan(day.date)[0] + index * 8 * halfHourMs).toISOString()),
        }))}
      />
      {marks.every(({ value, reference }) => value === null && reference === null) ? (
        <p class="quiet">Nothing was observed on this day{hasEnded ? '' : ' so far'}.</p>
      ) : (
        <Legend kinds={['complete', 'running', 'partial', 'zero', 'missing', 'reference']} />
      )}
      <DataTable
        id="today"
        table={halfHoursTable([day], known)}
        file={`/tables/half-hours.csv?date=${day.date}`}
      />
    </>
  );
}
