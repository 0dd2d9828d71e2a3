import { nameChain } from './format/networks.ts';
import type { Bodies, PageChain } from './page.ts';

export type WheelState = 'turning' | 'resting' | 'stale' | 'fault' | 'unknown';

/** Its name for titles, the sentence, and the same for a page that has lost its connection. */
type Words = readonly [name: string, sentence: string, lostSentence: string];

const words: Readonly<Record<WheelState, Words>> = {
  unknown: ['Unknown', 'The wheel has not reported yet.', 'The wheel had not reported yet.'],
  stale: ['Out of touch', 'The wheel is out of touch.', 'The wheel was out of touch.'],
  fault: ['Counter fault', 'The counter reports a fault.', 'The counter reported a fault.'],
  turning: ['Turning', 'The wheel is turning.', 'The wheel was turning.'],
  resting: ['Resting', 'The wheel is resting.', 'The wheel was resting.'],
};

/** For visitors who do not know the project. */
export function describeWhatItIs(chain: PageChain | null): string {
  return `Every turn of a wheel is counted as work, settled on ${nameChain(chain)} and rewarded with tokens.`;
}

export function describeWheel(status: Bodies['status'] | null) {
  const state = classify(status?.measurement ?? null);
  const [name, sentence, lostSentence] = words[state];
  return { state, name, sentence, lostSentence };
}

function classify(measurement: Bodies['status']['measurement']): WheelState {
  if (measurement === null) return 'unknown';
  if (measurement.freshness === 'stale') return 'stale';
  if (measurement.coreStatus === 'COUNTER_FAULT') return 'fault';
  return measurement.rpmMilli > 0 || measurement.speedMmPerSecond > 0 ? 'turning' : 'resting';
}
