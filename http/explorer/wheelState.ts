import { nameChain } from './format/networks.ts';
import type { Bodies, PageChain } from './page.ts';

export type WheelState = 'turning' | 'resting' | 'stale' | 'fault' | 'unknown';

export interface WheelWords {
  readonly state: WheelState;
  readonly sentence: string;
  /** The sentence for a page that has lost its connection. */
  readonly lostSentence: string;
  readonly detail: string;
}

/** For visitors who do not know the project. */
export function describeWhatItIs(chain: PageChain | null): string {
  return `A wheel whose every turn is counted as work, settled on ${nameChain(chain)}, and rewarded with tokens.`;
}

/** Describes the wheel by its newest reading. The first matching row wins. */
export function describeWheel(status: Bodies['status'] | null): WheelWords {
  const measurement = status?.measurement ?? null;
  if (measurement === null)
    return {
      state: 'unknown',
      sentence: 'The wheel has not been heard of.',
      lostSentence: 'The wheel had not been heard of.',
      detail: 'No reading was accepted yet. Unknown is not zero: the wheel may well be turning.',
    };
  const isTurning = measurement.rpmMilli > 0 || measurement.speedMmPerSecond > 0;
  if (measurement.freshness === 'stale')
    return {
      state: 'stale',
      sentence: 'The wheel is out of touch.',
      lostSentence: 'The wheel was out of touch.',
      detail: 'No reading of the last two minutes is known. What it does now is unknown.',
    };
  if (measurement.coreStatus === 'COUNTER_FAULT')
    return {
      state: 'fault',
      sentence: 'The counter reports a fault.',
      lostSentence: 'The counter reported a fault.',
      detail: 'The device is in touch, but says that its counter cannot be trusted.',
    };
  if (isTurning)
    return {
      state: 'turning',
      sentence: 'The wheel is turning.',
      lostSentence: 'The wheel was turning.',
      detail: 'It turns at this moment.',
    };
  return {
    state: 'resting',
    sentence: 'The wheel is resting.',
    lostSentence: 'The wheel was resting.',
    detail: 'It is in touch, and does not move at the moment.',
  };
}
