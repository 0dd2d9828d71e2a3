import { tap } from 'rxjs';
import { beforeEach, vi } from 'vitest';
import { cancelledConsumers, changeHeld, readHeld, untilReleased } from './processes/held.ts';

// After each test, parts in this process hold no more streams, requests and listeners than before it, no cancelled consumer pulls, and completed
// pipelines have left their gate.
beforeEach(({ onTestFinished }) => {
  const before = readHeld();
  // Runs after all that the test itself has registered.
  onTestFinished(() => untilReleased(before));
});

vi.doMock(import('../../http/server/limits/clientCounts.ts'), async (importOriginal) => {
  const { createClientCounts } = await importOriginal();
  return {
    createClientCounts: (clientMax, siteMax) => {
      const counts = createClientCounts(clientMax, siteMax);
      return {
        isFull: counts.isFull,
        change: (address, by) => {
          changeHeld('requests and streams of clients', by);
          counts.change(address, by);
        },
      };
    },
  };
});

vi.doMock(import('../../actors/views/feed/feedNews.ts'), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    createFeedNews: (options) => {
      const news = original.createFeedNews(options);
      const listeners = new Set<Parameters<typeof news.listen>[0]>();
      const listen: typeof news.listen = (listener) => {
        const stop = news.listen(listener);
        listeners.add(listener);
        changeHeld('listeners of the feed', 1);
        return () => {
          stop();
          if (listeners.delete(listener)) changeHeld('listeners of the feed', -1);
        };
      };
      return { ...news, listen };
    },
  };
});

vi.doMock(import('../../streams/jetstream/source/orderedConsumer.ts'), async (importOriginal) => {
  const { runOrderedConsumer } = await importOriginal();
  return {
    runOrderedConsumer: async (from, options) => {
      const { signal } = options.recipient;
      let isCancelled = false;
      const cancel = () => {
        isCancelled = true;
        changeHeld(cancelledConsumers, 1);
      };
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
      try {
        await runOrderedConsumer(from, options);
      } finally {
        signal.removeEventListener('abort', cancel);
        if (isCancelled) changeHeld(cancelledConsumers, -1);
      }
    },
  };
});

vi.doMock(import('../../streams/pipeline/streamPipeline.ts'), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    runStreamPipeline: (from, options) => {
      let weight = 0;
      const { source } = options;
      const batchesAfter: typeof source.batchesAfter = (place, gate, owner) => {
        const { enter, leave } = gate;
        Object.assign(gate, {
          enter: (entered: number) => {
            weight += entered;
            enter(entered);
          },
          leave: (left: number) => {
            weight -= left;
            leave(left);
          },
        });
        return source.batchesAfter(place, gate, owner);
      };
      const complete = () => changeHeld('bytes within the gate of a completed pipeline', weight);
      return original
        .runStreamPipeline(from, { ...options, source: { ...source, batchesAfter } })
        .pipe(tap({ complete }));
    },
  };
});
