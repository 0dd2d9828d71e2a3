import type { Bodies, Connection, Resource } from './page.ts';

export type WheelState = 'turning' | 'resting' | 'stale' | 'fault' | 'unknown';

export interface WheelWords {
  readonly state: WheelState;
  readonly sentence: string;
  readonly detail: string;
}

/** For visitors who do not know the project. */
const whatItIs =
  'A wheel whose every turn is counted as work, settled on Ethereum, and rewarded with tokens.';

/** Whether the service is unreachable, so nothing on the page is known to be current. */
export function isLost(connection: Connection | null, { problem }: Resource<unknown>): boolean {
  return problem?.status === 0 || connection?.isOnline === false;
}

/** Describes the wheel by its newest reading. The first matching row wins. */
export function describeWheel(status: Resource<Bodies['status']>, connection: Connection | null): WheelWords {
  const measurement = status.body?.measurement ?? null;
  if (measurement === null)
    return {
      state: 'unknown',
      sentence: 'The wheel has not been heard of.',
      detail: 'No reading was accepted yet. Unknown is not zero: the wheel may well be turning.',
    };
  const isTurning = measurement.rpmMilli > 0 || measurement.speedMmPerSecond > 0;
  if (isLost(connection, status))
    return {
      state: 'stale',
      sentence: `The wheel was ${isTurning ? 'turning' : 'resting'}.`,
      detail: 'That is the last that reached this page. What it does now is unknown.',
    };
  if (measurement.freshness === 'stale')
    return {
      state: 'stale',
      sentence: 'The wheel is out of touch.',
      detail: 'No reading for more than two minutes. What it does now is unknown.',
    };
  if (measurement.coreStatus === 'COUNTER_FAULT')
    return {
      state: 'fault',
      sentence: 'The counter reports a fault.',
      detail: 'The device is in touch, but says that its counter cannot be trusted.',
    };
  if (isTurning)
    return {
      state: 'turning',
      sentence: 'The wheel is turning.',
      detail: `${whatItIs} It turns at this moment.`,
    };
  return {
    state: 'resting',
    sentence: 'The wheel is resting.',
    detail: `${whatItIs} It is in touch, and does not move at the moment.`,
  };
}
