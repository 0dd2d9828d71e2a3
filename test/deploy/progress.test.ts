import { uptime } from 'node:os';
import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { showIndexingProgress } from '../../deploy/process/indexingProgress.ts';
import { createProgress } from '../../deploy/process/progress.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';

it.each([
  [
    {},
    [
      'replay: 500 of 1000 messages, 100/s, 5 s left',
      'replay: 1000 of 1000 messages, 100/s, 0 s left',
      'replay: 1000 of 1000 messages, 100/s, 0 s left',
    ],
  ],
  [
    { doneBefore: 250 },
    [
      'replay: 500 of 1000 messages, 50/s, 10 s left',
      'replay: 1000 of 1000 messages, 75/s, 0 s left',
      'replay: 1000 of 1000 messages, 75/s, 0 s left',
    ],
  ],
])('progress without a terminal is a line every five seconds: %j', (settings, lines) => {
  const stream = new PassThrough();
  let nowMs = 0;
  const progress = createProgress({
    label: 'replay',
    unit: 'messages',
    total: 1_000,
    stream: stream as unknown as NodeJS.WriteStream,
    nowMs: () => nowMs,
    ...settings,
  });
  for (let second = 1; second <= 10; second++) {
    nowMs = second * 1_000;
    progress.update(second * 100);
  }
  progress.stop();
  expect(String(stream.read()).trim().split('\n')).toEqual(lines);
});

it('each time the indexer falls behind, its progress begins anew', () => {
  const written: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
  const show = showIndexingProgress();
  show(9n, 9n);
  show(10n, 30n);
  show(20n, 35n);
  show(30n, 40n);
  show(40n, 40n);
  show(45n, 50n);
  show(50n, 50n);
  vi.restoreAllMocks();
  expect(written.map((line) => line.split(',')[0])).toEqual([
    'indexing: 20 of 20 blocks',
    'indexing: 5 of 5 blocks',
  ]);
});

it('the clocks are those of day, process and boot', () => {
  const read = () => [Date.now(), performance.now(), uptime() * 1_000];
  const [before, between, after] = [
    read(),
    [systemClock.nowMs(), systemClock.monotonicMs(), systemClock.bootMs()],
    read(),
  ];
  const isWithin = between.map((ms, index) => ms >= (before[index] ?? 0) && ms <= (after[index] ?? 0));
  expect(isWithin).toEqual([true, true, true]);
});
