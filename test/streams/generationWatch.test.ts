import type { Logger } from 'pino';
import { expect, it, vi } from 'vitest';
import { createActor } from 'xstate';
import type { Database } from '../../storage/database.ts';
import { generationPointer } from '../../storage/tables/generationPointer.ts';
import { createGenerationWatch } from '../../streams/ingest/generationWatch.ts';

it('a newer generation is used once if this fold made it or nobody knows who did, and otherwise reported once', async () => {
  vi.useFakeTimers();
  let [active, version] = [3, 1];
  const said: unknown[] = [];
  const note = (level: string) => (given: object) => said.push([level, given]);
  const logic = createGenerationWatch({
    database: {
      select: async (sql: string) => {
        if (sql.includes(generationPointer.name)) return [[1, active]];
        return version === 0 ? [] : [[version, 'ours', 'then']];
      },
    } as unknown as Database,
    identity: { foldVersion: 1, configuration: 'ours' },
    onActivated: (generation) => said.push(generation),
    logger: { warn: note('warn'), error: note('error') } as unknown as Logger,
  });
  const watch = createActor(logic, { input: { generation: 3, isShared: true } }).start();
  for (const [generation, madeBy] of [
    [3, 1],
    [2, 1],
    [4, 1],
    [4, 1],
    [5, 2],
    [5, 2],
    [6, 0],
  ] as const) {
    [active, version] = [generation, madeBy];
    await vi.advanceTimersByTimeAsync(1_000);
  }
  watch.stop();
  vi.useRealTimers();
  expect(said).toEqual([
    ['warn', { used: 3, active: 4 }],
    4,
    ['error', { used: 4, active: 5 }],
    ['warn', { used: 5, active: 6 }],
    6,
  ]);
});
