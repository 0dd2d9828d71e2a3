import { lastValueFrom, map } from 'rxjs';
import { createCounterActors } from '../actors/wheel/counterActors.ts';
import { createRowEncoder } from '../storage/rowInserts.ts';
import { collectRows } from '../streams/counter/collectedRows.ts';
import { startOfStream } from '../streams/jetstream/streamPosition.ts';
import { alwaysOpen } from '../streams/operators/gate.ts';
import { cutRanges } from '../streams/ranges/messageRange.ts';
import { createRangedSource, isRangeBatch } from '../streams/ranges/rangedSource.ts';
import { createRangeThreads } from '../streams/ranges/rangeThreads.ts';
import { type Contender, type Measurement, measureInterleaved, type Series } from './measureInterleaved.ts';
import { genesisMs } from './readingLoad.ts';
import { publishResults } from './results.ts';
import { createSyntheticMessages, readSynthetic, type SyntheticMessages } from './syntheticMessages.ts';
import { readThreadCpuNs } from './threadCpu.ts';

export interface RangesOptions {
  readonly readings: number;
  readonly rounds: number;
}

/** What a thread of this benchmark is given. */
export interface SyntheticThreadData {
  readonly messages: SyntheticMessages;
  readonly settings: typeof settings;
}

const settings = { genesisMs, publicInstallationId: 'wheel-0' };
/** As many as a replay has in a range at most. */
const rangeMessages = 50_000;
const threadCounts = [1, 2, 4];
const installationCounts = [1, 1_000];

/** The fold of a made-up stream into rows, which nobody stores: in one thread, and in ranges. */
export async function measureRanges({ readings, rounds }: RangesOptions): Promise<void> {
  const tables: { title: string; unit: string; isComparison: false; series: Series[] }[] = [];
  for (const installations of installationCounts) {
    const messages = createSyntheticMessages(readings, installations);
    const contenders: Contender[] = [
      { name: 'one message after another', measure: () => measure(readings, () => foldOneByOne(messages)) },
      ...threadCounts.map((count) => ({
        name: `ranges in ${count} threads`,
        measure: () => measureThreads(messages, count),
      })),
    ];
    const series = await measureInterleaved(contenders, rounds);
    const title = `${readings.toLocaleString('en-US')} readings of ${installations.toLocaleString('en-US')} installations`;
    tables.push({ title, unit: 'messages/s', isComparison: false, series });
  }
  publishResults({
    command: 'ranges',
    about:
      'A made-up stream in memory, without NATS and ClickHouse. CPU is of all threads, and of the one that joins ranges and would store their rows: its time of a message bounds what more cores can do.',
    tables,
  });
}

function foldOneByOne(messages: SyntheticMessages): Promise<void> {
  const actors = createCounterActors(settings);
  const encode = createRowEncoder();
  for (const { messages: batch, position } of readSynthetic(messages, 0, countMessages(messages))) {
    const rows = collectRows();
    for (const message of batch) {
      const outcome = actors.receive(message);
      if ('output' in outcome) rows.add(outcome.output);
    }
    encode({ ...rows, throughPosition: position });
  }
  return Promise.resolve();
}

async function measureThreads(messages: SyntheticMessages, count: number): Promise<Measurement> {
  const program = new URL('./rangesThread.js', import.meta.url);
  const data: SyntheticThreadData = { messages, settings };
  const threads = createRangeThreads({ count, program, settings: data });
  const through = countMessages(messages);
  const actors = createCounterActors(settings);
  const encode = createRowEncoder();
  const source = createRangedSource({
    cut: (after) => cutRanges({ after, through, fromSequence: 1, messagesMax: rangeMessages }),
    fold: threads.fold,
    ahead: count * 2,
    join: actors.joinRange,
    createSource: () => {
      throw new Error('a range of readings that follow one another was not joined');
    },
    onRange: () => undefined,
  });
  try {
    // The threads have started, and compiled what they run, once they have folded something.
    const [first] = cutRanges({ after: 0, through, fromSequence: 1, messagesMax: rangeMessages });
    if (first !== undefined) await Promise.all(Array.from({ length: count }, () => threads.fold(first)));
    return await measure(through, async () => {
      const joined$ = source.batchesAfter(startOfStream, alwaysOpen).pipe(
        map((batch) => {
          const rows = collectRows();
          if (isRangeBatch(batch)) rows.addJoined(batch.join());
          encode({ ...rows, throughPosition: batch.position });
        }),
      );
      await lastValueFrom(joined$);
    });
  } finally {
    await threads.stop();
  }
}

function countMessages({ offsets }: SyntheticMessages): number {
  return offsets.length - 1;
}

async function measure(count: number, work: () => Promise<void>): Promise<Measurement> {
  const started = {
    ms: performance.now(),
    cpu: process.cpuUsage(),
    threadNs: readThreadCpuNs(process.pid),
  };
  await work();
  const { user, system } = process.cpuUsage(started.cpu);
  return {
    value: count / ((performance.now() - started.ms) / 1_000),
    others: {
      'µs of CPU a message': (user + system) / count,
      'of that in the joining thread': (readThreadCpuNs(process.pid) - started.threadNs) / 1_000 / count,
    },
  };
}
