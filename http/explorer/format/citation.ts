import { formatDate } from '../../addresses/days.ts';
import { formatPlace } from '../../addresses/place.ts';
import type { Bodies, PageRequest } from '../page.ts';
import { statusPath } from '../resources.ts';
import { describeUnreal } from './networks.ts';
import { formatInteger } from './numbers.ts';
import { describeDistance } from './quantities.ts';
import { formatClock } from './times.ts';

type Day = Bodies['day']['day'];

/** A sentence to quote and to share, with the time of reading and the permanent address of the day. */
export function citeDay(
  { read, nowMs, settings, chain }: Pick<PageRequest, 'read' | 'nowMs' | 'settings' | 'chain'>,
  day: Day,
): string {
  const status = read('status', statusPath);
  const unreal = describeUnreal(status, chain);
  const of = `${status === null ? '' : ` of ${status.installationId}`}${unreal === null ? '' : ` (${unreal.short})`}`;
  const { value, unit, exact } = describeDistance(day.distanceMm);
  const distance = value === null ? 'unknown' : `${value} ${unit} (${exact})`;
  const isObserved = day.coverage.observedRoundCount > 0;
  const work = isObserved ? `${formatInteger(day.observedWorkUnits)} units` : 'unknown';
  const readAt = new Date(nowMs).toISOString();
  const address = `${settings.publicUrl ?? ''}${formatPlace({ view: 'day', id: day.date })}`;
  const time = `${formatDate(readAt)} at ${formatClock(readAt, 'UTC').slice(0, 5)} UTC`;
  return `Mining activity${of}, universal day of ${formatDate(day.date)} (noon to noon, UTC): distance ${distance}, work ${work}, ${nameCoverage(day)}. ${address}, read on ${time}.`;
}

export function nameCoverage({ coverage: { observedRoundCount, expectedRoundCount } }: Day): string {
  return `${observedRoundCount} of ${expectedRoundCount} rounds observed`;
}
