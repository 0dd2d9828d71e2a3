import { formatUnits } from '../../client/decimals.ts';
import { DataTable } from '../components/DataTable.tsx';
import { usePage } from '../components/pageContext.ts';
import { formatExact, formatInteger, formatTick } from '../format/numbers.ts';
import { formatMinute } from '../format/times.ts';
import { coverages } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { Columns, Legend } from './Columns.tsx';
import { formatHalfHour, inDayOrder, listDayTicks } from './halfHours.ts';

type Statistics = Bodies['statistics'];

/** Today's 48 half hours, from noon to noon, against the typical day of the range. */
export function TodayChart({ statistics }: { statistics: Statistics }) {
  const { zone } = usePage();
  const { days, typicalDay } = statistics.activity;
  const today = days.at(-1);
  if (today === undefined) return null;
  const typical = new Map(typicalDay.map((slot) => [slot.startMinuteUtc, slot]));
  const rows = inDayOrder(today.buckets).map((bucket) => ({
    ...bucket,
    meanWorkMilli: typical.get(bucket.startMinuteUtc)?.meanWorkMilli ?? null,
  }));
  const marks = rows.map(({ startMinuteUtc, coverage, workUnits, meanWorkMilli }) => {
    const time = formatHalfHour(today.date, startMinuteUtc, zone);
    const work = workUnits === null ? coverages[coverage] : `${formatInteger(workUnits)} work units`;
    const usual = meanWorkMilli === null ? '' : `, typically ${formatExact(meanWorkMilli, 3)}`;
    return {
      key: String(startMinuteUtc),
      value: workUnits === null ? null : Number(workUnits),
      state: coverage,
      reference: meanWorkMilli === null ? null : Number(meanWorkMilli) / 1000,
      text: `${time}: ${work}${usual}`,
    };
  });
  const ticks = listDayTicks(today.date, zone).map((text, index) => ({ at: index / 6, text }));
  return (
    <>
      <Columns
        label={`Work in each half hour of the day of ${today.date}, from noon to noon UTC: ${formatInteger(today.observedWorkUnits)} work units so far`}
        marks={marks}
        ticks={ticks}
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
        caption={`Half hours of the day of ${today.date}`}
        fileName={`half-hours-${today.date}.csv`}
        rows={rows}
        columns={[
          { name: 'from (UTC)', value: ({ startMinuteUtc }) => formatMinute(startMinuteUtc), isText: true },
          { name: 'work (units)', value: ({ workUnits }) => workUnits },
          { name: 'coverage', value: ({ coverage }) => coverage, isText: true },
          { name: 'observed rounds of 3', value: ({ observedRoundCount }) => observedRoundCount },
          {
            name: 'typical work (units)',
            value: ({ meanWorkMilli }) =>
              meanWorkMilli === null ? null : formatUnits(BigInt(meanWorkMilli), 3),
          },
        ]}
      />
    </>
  );
}
