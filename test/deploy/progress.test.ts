import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgress } from '../../deploy/process/progress.ts';

describe('progress without a terminal', () => {
  it('is a line every five seconds and one at the end, with rate and time left', () => {
    const stream = new PassThrough();
    let nowMs = 0;
    const progress = createProgress({
      label: 'replay',
      unit: 'messages',
      total: 1_000,
      stream: stream as unknown as NodeJS.WriteStream,
      nowMs: () => nowMs,
    });
    for (let second = 1; second <= 10; second++) {
      nowMs = second * 1_000;
      progress.update(second * 100);
    }
    progress.stop();
    expect(String(stream.read()).trim().split('\n')).toEqual([
      'replay: 500 of 1000 messages, 100/s, 5 s left',
      'replay: 1000 of 1000 messages, 100/s, 0 s left',
      'replay: 1000 of 1000 messages, 100/s, 0 s left',
    ]);
  });
});
