import type { Connection, ReadResource } from './page.ts';
import { nameView, type Place } from './place.ts';
import { statusPath } from './resources.ts';
import { describeWheel, type WheelState } from './wheelState.ts';

/** Title of the window, and the icon for the state of the wheel. */
export function describePage(
  place: Place,
  read: ReadResource,
  connection: Connection | null,
): { title: string; icon: string } {
  const status = read('status', statusPath);
  const { body } = status;
  if (body === null) return { title: `${nameView(place)} · Mining activity`, icon: 'wheel-unknown.svg' };
  const { state } = describeWheel(status, connection);
  const name = place.view === 'glance' ? stateNames[state] : nameView(place);
  return { title: `${name} · ${body.installationId} · Mining activity`, icon: `wheel-${state}.svg` };
}

const stateNames: Record<WheelState, string> = {
  turning: 'Turning',
  resting: 'Resting',
  stale: 'Out of touch',
  fault: 'Counter fault',
  unknown: 'Unknown',
};
