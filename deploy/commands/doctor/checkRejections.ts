import type { JetStreamManager } from '@nats-io/jetstream';
import { dayMs } from '../../../actors/schemas/durations.ts';
import { formatRejection, readNewestRejections } from '../../../streams/pipeline/newestRejections.ts';
import { type Finding, ok, warned } from '../../diagnosis/finding.ts';

const shownMax = 5;

/** Warns of messages rejected in the last day, since their publishers may not know. */
export async function checkRejections(jsm: JetStreamManager, nowMs: number): Promise<Finding[]> {
  const { rejections } = await readNewestRejections(jsm, { most: shownMax });
  const recent = rejections.filter(({ storedAt }) => Date.parse(storedAt) > nowMs - dayMs);
  if (recent.length === 0) return [ok('rejections', 'none in the last day')];
  const newest = recent.map((rejection) => `\n           ${formatRejection(rejection)}`).join('');
  return [
    warned(
      'rejections',
      `messages of the last day were not accepted; the newest:${newest}`,
      '`miner rejected` lists more; correct what publishes them',
    ),
  ];
}
