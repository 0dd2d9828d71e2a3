import type { Bodies } from './page.ts';
import { nameView, type Place } from './place.ts';
import { describeWheel, type WheelState } from './wheelState.ts';

/** Title of the window, and the icon for the state of the wheel. */
export function describePage(place: Place, status: Bodies['status'] | null): { title: string; icon: string } {
  if (status === null) return { title: `${nameView(place)} · Mining activity`, icon: 'wheel-unknown.svg' };
  const { state } = describeWheel(status);
  const name = place.view === 'glance' ? stateNames[state] : nameView(place);
  return { title: `${name} · ${status.installationId} · Mining activity`, icon: `wheel-${state}.svg` };
}

const stateNames: Record<WheelState, string> = {
  turning: 'Turning',
  resting: 'Resting',
  stale: 'Out of touch',
  fault: 'Counter fault',
  unknown: 'Unknown',
};
