import { concatMap, delay, NEVER, Observable, of } from 'rxjs';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Database } from '../../storage/clickhouse/database.ts';
import type { MessageSource } from '../../streams/jetstream/source/messageSource.ts';
import type { PipelineItem } from '../../streams/pipeline/pipelineItem.ts';
import type { RejectionLog } from '../../streams/pipeline/rejectionLog.ts';
import { createRowWriter } from '../../streams/pipeline/rowWriter.ts';
import { runStreamPipeline, underWayBytesMax } from '../../streams/pipeline/streamPipeline.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';
import { manualClock } from '../support/manualClock.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { storedRows } from '../support/storage/readingRows.ts';

type Options = Parameters<typeof runStreamPipeline>[1];

useVirtualTime();

it('rows that a closed gate waits for are not gathered for long', async () => {
  const writer = createRowWriter({
    stream: 'MINER_COUNTER',
    database: { insertBlocks: async () => undefined } as Partial<Database> as Database, // Nothing else of it is used.
    run: () => 'run',
    clock: manualClock(),
    logger: silentLogger,
  });
  const weight = underWayBytesMax / 128;
  let position = 0;
  /** As fast as the gate lets it. */
  const batchesAfter: MessageSource['batchesAfter'] = (_place, gate) =>
    new Observable((subscriber) => {
      const ending = new AbortController();
      const read = async () => {
        while (!subscriber.closed) {
          gate.enter(weight);
          subscriber.next({ position: ++position, weight, streamPosition: () => null } as never);
          await gate.opened(ending.signal);
        }
      };
      void read();
      return () => ending.abort();
    });
  /** Takes a while for a batch, as for many rejections. */
  const afterPublication = concatMap((item: PipelineItem) => of(item).pipe(delay(10)));
  const pipeline = runStreamPipeline({ streamCreated: null, position: 0, digest: null }, {
    source: { batchesAfter } as Partial<MessageSource> as MessageSource,
    fold: {
      receive: (batch: { position: number }) => ({ rows: storedRows(batch.position, 1), rejections: [] }),
    },
    sinks: { writer, rejections: { afterPublication } as RejectionLog },
    policy: { intervalMs: 60_000, messages: 1_000_000 },
    onFolded: () => undefined,
    isSaveDue: () => false,
    ended$: NEVER,
  } as unknown as Options).subscribe();
  onTestFinished(() => pipeline.unsubscribe());
  await vi.advanceTimersByTimeAsync(10_000);
  // It is filled about every second.
  expect(position * weight).toBeGreaterThan(4 * underWayBytesMax);
});
