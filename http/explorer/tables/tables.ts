import { findDaySpan, formatDay } from '../../addresses/days.ts';
import {
  classifyDays,
  type Day,
  type HalfHour,
  type Known,
  listHalfHours,
  type Observed,
} from '../charts/observed.ts';
import { formatUnits } from '../format/numbers.ts';
import { coverageNames } from '../format/words.ts';
import type { Shown } from '../page.ts';
import { halfHourMs } from '../rounds.ts';
import type { DataColumn, DataRows } from './dataTable.ts';

const formatIso = (atMs: number) => new Date(atMs).toISOString().replace('.000Z', 'Z');

/** Beginning and end of what a row is of, which `find` returns in epoch milliseconds. */
function spanColumns<Row>(find: (row: Row) => readonly [fromMs: number, toMs: number]): DataColumn<Row>[] {
  return [
    { name: 'from_utc', value: (row) => formatIso(find(row)[0]), isText: true },
    { name: 'to_utc', value: (row) => formatIso(find(row)[1]), isText: true },
  ];
}

const halfHourColumns: readonly DataColumn<HalfHour>[] = [
  { name: 'universal_day', value: ({ date }) => date, isText: true },
  ...spanColumns<HalfHour>(({ startAt }) => [Date.parse(startAt), Date.parse(startAt) + halfHourMs]),
  { name: 'work_units', value: ({ workUnits }) => workUnits },
  { name: 'coverage', value: ({ state }) => coverageNames[state], isText: true },
  { name: 'observed_rounds_of_3', value: ({ observedRoundCount }) => observedRoundCount },
];

export function halfHoursTable(days: readonly Day[], known: Known): DataRows<HalfHour> {
  return {
    caption: `Half hours of ${nameSpan(days)}`,
    rows: days.flatMap((day) => listHalfHours(day, known)).filter(({ state }) => state !== 'future'),
    columns: halfHourColumns,
    drawn: 'work_units',
  };
}

export function daysTable(
  days: readonly Day[],
  firstObservedMs: number,
): DataRows<Day & { readonly state: Observed }> {
  const isObserved = ({ coverage }: Day) => coverage.observedRoundCount > 0;
  return {
    caption: `Universal days of ${nameSpan(days)}`,
    rows: classifyDays(days, firstObservedMs),
    drawn: 'distance_km',
    columns: [
      {
        name: 'universal_day',
        value: ({ date }) => date,
        isText: true,
        place: ({ date }) => ({ view: 'day', id: date }),
      },
      ...spanColumns<Day & { readonly state: Observed }>(({ date }) => findDaySpan(date)),
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

export function settlementsTable({
  buckets,
  mining,
  generatedAt,
}: Shown<'settlements'>): DataRows<Shown<'settlements'>['buckets'][number]> {
  const symbol = mining.status === 'available' ? `_${mining.economy.symbol}` : '';
  return {
    caption: 'Settled and minted',
    drawn: 'completed_work_blocks',
    // Parts that are still to come are not zero.
    rows: buckets.filter(({ startAt }) => Date.parse(startAt) <= Date.parse(generatedAt)),
    columns: [
      ...spanColumns<Shown<'settlements'>['buckets'][number]>(({ startAt, endAt }) => [
        Date.parse(startAt),
        Date.parse(endAt),
      ]),
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

/** An owner's earnings by calendar days, from midnight to midnight UTC. */
export function earningsTable({
  earnings,
  configuration,
}: Shown<'portfolio'>): DataRows<Shown<'portfolio'>['earnings'][number]> {
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  return {
    caption: 'Earnings of calendar days in UTC',
    rows: earnings,
    drawn: `earned_${symbol}`,
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

export function activityTable({
  activity,
}: Shown<'activity'>): DataRows<Shown<'activity'>['activity'][number]> {
  return {
    caption: 'Activity',
    rows: activity.toReversed(),
    columns: [
      { name: 'at_utc', value: ({ source }) => formatIso(Date.parse(source.blockTimestamp)), isText: true },
      { name: 'action', value: ({ kind }) => kind, isText: true },
      { name: 'token_ids', value: ({ tokenIds }) => tokenIds.join(' '), isText: true },
      { name: 'claimed_base_units', value: ({ amountBaseUnits }) => amountBaseUnits },
      { name: 'from', value: ({ from }) => from, isText: true },
      { name: 'to', value: ({ to }) => to, isText: true },
      { name: 'level', value: ({ level }) => level },
      { name: 'ethereum_block', value: ({ source }) => source.blockNumber },
      { name: 'transaction', value: ({ source }) => source.transactionHash, isText: true },
    ],
  };
}

function nameSpan(days: readonly { readonly date: string }[]): string {
  const first = days[0]?.date ?? '';
  return [...new Set([first, days.at(-1)?.date ?? first])].map(formatDay).join(' to ');
}
