import { formatDayLabel } from '../../../actors/wheel/dayHistory.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { type DayDifference, sumDayWorkUnits } from '../../../storage/rows/historyDifferences.ts';
import type { VisibleRuns } from '../../../storage/runs/lineages.ts';

const daysShown = 40;

/** Describes the changes of a replay, one line per universal day. */
export async function describeDifferences(
  database: Database,
  differences: readonly DayDifference[],
  histories: { readonly before: VisibleRuns; readonly after: VisibleRuns },
): Promise<string[]> {
  if (differences.length === 0) return ['no day differs'];
  const lines: string[] = [];
  for (const difference of differences.slice(0, daysShown)) {
    const { installationId, startMs, before, after } = difference;
    const work = [
      await sumDayWorkUnits(database, histories.before, difference),
      await sumDayWorkUnits(database, histories.after, difference),
    ] as const;
    const changes = [
      describeChange('readings', before.readings, after.readings),
      describeChange('rounds', before.rounds, after.rounds),
      describeChange('half hours', before.buckets, after.buckets),
      describeChange('events', before.events, after.events),
      describeChange('work units', ...work),
    ].filter((change) => change !== null);
    const what = changes.length === 0 ? 'the same numbers, other content' : changes.join(', ');
    lines.push(`${formatDayLabel(startMs)}  ${installationId}  ${what}`);
  }
  if (differences.length > daysShown) lines.push(`and ${differences.length - daysShown} more days`);
  return [`${differences.length} days differ (each from noon to noon UTC):`, ...lines];
}

function describeChange(
  what: string,
  before: number | bigint | null,
  after: number | bigint | null,
): string | null {
  // Unknown values cannot be compared.
  if (before === after || before === null || after === null) return null;
  const by = BigInt(after) - BigInt(before);
  return `${what} ${before} -> ${after} (${by > 0n ? '+' : ''}${by})`;
}
