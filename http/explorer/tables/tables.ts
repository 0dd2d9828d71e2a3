import { type Batch, listBatches } from '../batches.ts';
import { findTime, noonMinute } from '../charts/halfHours.ts';
import {
  classifyDays,
  type HalfHour,
  type Known,
  listHalfHours,
  type Observed,
  type Day as StatisticsDay,
} from '../charts/observed.ts';
import { formatUnits } from '../format/numbers.ts';
import { formatDay } from '../format/times.ts';
import { coverageNames } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { dayMs, halfHourMs } from '../rounds.ts';
import type { DataColumn, DataRows } from './dataTable.ts';

type Statistics = Bodies['statistics'];
type Day = Statistics['activity']['days'][number] | Bodies['year']['days'][number];
type History = Extract<Bodies['settlements'], { status: 'available' }>;
type Core = Extract<Bodies['core'], { status: 'available' }>;
type Portfolio = Extract<Bodies['portfolio'], { status: 'available' }>;

const addTo = (iso: string, ms: number) => formatIso(Date.parse(iso) + ms);
const formatIso = (atMs: number) => new Date(atMs).toISOString().replace('.000Z', 'Z');

const halfHourColumns: readonly DataColumn<HalfHour>[] = [
  { name: 'universal_day', value: ({ date }) => date, isText: true },
  { name: 'from_utc', value: ({ startAt }) => addTo(startAt, 0), isText: true },
  { name: 'to_utc', value: ({ startAt }) => addTo(startAt, halfHourMs), isText: true },
  { name: 'work_units', value: ({ workUnits }) => workUnits },
  { name: 'coverage', value: ({ state }) => coverageNames[state], isText: true },
  { name: 'observed_rounds_of_3', value: ({ observedRoundCount }) => observedRoundCount },
];

/** The half hours of universal days that have begun. */
function listBegun(days: readonly StatisticsDay[], known: Known): HalfHour[] {
  return days.flatMap((day) => listHalfHours(day, known)).filter(({ state }) => state !== 'future');
}

export function halfHoursTable({ activity }: Statistics, known: Known): DataRows<HalfHour> {
  return {
    caption: `Half hours of ${nameSpan(activity.days)}`,
    rows: listBegun(activity.days, known),
    columns: halfHourColumns,
  };
}

/** The half hours of a universal day, next to the typical day of the range. */
export function dayTable({ activity: { typicalDay } }: Statistics, day: StatisticsDay, known: Known) {
  const typical = new Map(typicalDay.map((slot) => [slot.startMinuteUtc, slot.meanWorkMilli]));
  const rows = listBegun([day], known).map((row) => {
    const minute = (Date.parse(row.startAt) % dayMs) / 60_000;
    return { ...row, meanWorkMilli: typical.get(minute) ?? null };
  });
  const columns: DataColumn<(typeof rows)[number]>[] = [
    ...halfHourColumns,
    {
      name: 'typical_work_units',
      value: ({ meanWorkMilli }) => (meanWorkMilli === null ? null : formatUnits(meanWorkMilli, 3)),
    },
  ];
  return { caption: `Half hours of the universal day of ${day.date}`, rows, columns };
}

/** Universal days, from noon to noon. */
export function daysTable(
  days: readonly Day[],
  firstObservedMs: number,
): DataRows<Day & { readonly state: Observed }> {
  const startAt = ({ date }: Day) => findTime(date, noonMinute);
  const isObserved = ({ coverage }: Day) => coverage.observedRoundCount > 0;
  return {
    caption: `Universal days of ${nameSpan(days)}`,
    rows: classifyDays(days, firstObservedMs),
    columns: [
      {
        name: 'universal_day',
        value: ({ date }) => date,
        isText: true,
        place: ({ date }) => ({ view: 'day', id: date }),
      },
      { name: 'from_utc', value: (day) => addTo(startAt(day), 0), isText: true },
      { name: 'to_utc', value: (day) => addTo(startAt(day), dayMs), isText: true },
      { name: 'work_units', value: (day) => (isObserved(day) ? day.observedWorkUnits : null) },
      { name: 'distance_mm', value: ({ distanceMm }) => distanceMm },
      {
        name: 'distance_km',
        value: ({ distanceMm }) => (distanceMm === null ? null : formatUnits(distanceMm, 6)),
        isText: true,
      },
      { name: 'observed_rounds', value: ({ coverage }) => coverage.observedRoundCount },
      {
        name: 'expected_rounds',
        value: ({ coverage, state }) => (state === 'before' ? 0 : coverage.expectedRoundCount),
      },
      { name: 'coverage', value: ({ state }) => coverageNames[state], isText: true },
    ],
  };
}

/** The settled work and minted tokens of each part of a range. */
export function settlementsTable({
  buckets,
  mining,
  generatedAt,
}: History): DataRows<History['buckets'][number]> {
  const symbol = mining.status === 'available' ? `_${mining.economy.symbol}` : '';
  return {
    caption: 'Settled and minted',
    // Parts that are still to come are not zero.
    rows: buckets.filter(({ startAt }) => Date.parse(startAt) <= Date.parse(generatedAt)),
    columns: [
      { name: 'from_utc', value: ({ startAt }) => addTo(startAt, 0), isText: true },
      { name: 'to_utc', value: ({ endAt }) => addTo(endAt, 0), isText: true },
      { name: 'batches', value: ({ settlementCount }) => settlementCount },
      { name: 'rounds_with_work', value: ({ activeRoundCount }) => activeRoundCount },
      { name: 'work_units', value: ({ workAdded }) => workAdded },
      { name: 'completed_work_blocks', value: ({ completedBlockCount }) => completedBlockCount },
      {
        name: `minted_base_units${symbol}`,
        value: ({ sqkMintedBaseUnits }) => sqkMintedBaseUnits ?? null,
      },
    ],
  };
}

/** Work for 1,000 blocks after each of the newest batches. */
export function difficultyTable(core: Core): DataRows<Batch> {
  const columns: DataColumn<Batch>[] = [
    { name: 'settled_at_utc', value: ({ at }) => addTo(at, 0), isText: true },
    {
      name: 'through_round',
      value: ({ round }) => round,
      place: ({ round }) => ({ view: 'round', id: round }),
    },
    { name: 'work_units_for_1000_blocks', value: ({ value }) => value },
  ];
  return { caption: 'Difficulty after the newest batches', rows: listBatches(core), columns };
}

/** An owner's earnings by calendar days, from midnight to midnight UTC. */
export function earningsTable({
  earnings,
  configuration,
}: Portfolio): DataRows<Portfolio['earnings'][number]> {
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  return {
    caption: 'Earnings of calendar days in UTC',
    rows: earnings,
    columns: [
      { name: 'calendar_day_utc', value: ({ date }) => date, isText: true },
      { name: `earned_base_units_${symbol}`, value: ({ earnedBaseUnits }) => earnedBaseUnits },
      {
        name: `earned_${symbol}`,
        value: ({ earnedBaseUnits }) => formatUnits(earnedBaseUnits, decimals),
        isText: true,
      },
    ],
  };
}

function nameSpan(days: readonly { readonly date: string }[]): string {
  const first = days[0]?.date ?? '';
  return `${formatDay(first)} to ${formatDay(days.at(-1)?.date ?? first)}`;
}
