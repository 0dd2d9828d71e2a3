import { z } from 'zod';
import { formatArrival } from '../feed/arrival.ts';
import { type FoldRecord, RecordRefused } from '../foldRecord.ts';
import { compileGuard } from '../schemas/compileGuard.ts';

const isHistory = compileGuard(
  z.strictObject({
    history: z.strictObject({
      installationId: z.string(),
      days: z
        .strictObject({
          firstObservedAtMs: z.int(),
          days: z.array(z.looseObject({ startMs: z.int() })),
        })
        .nullable(),
      progress: z
        .looseObject({ events: z.array(z.looseObject({ position: z.int(), ordinal: z.int() })) })
        .nullable(),
    }),
  }),
);

const isInstallation = compileGuard(
  z.looseObject({
    acceptance: z.looseObject({ latest: z.looseObject({ installationId: z.string() }) }),
  }),
);

/**
 * Records of a snapshot in the format before records: a line of the public installation's history, and one for each installation.
 * What they hold stays as it was, bigints too, and is checked when its record is read.
 */
export function* convertCounterLines(lines: Iterable<string>): Iterable<FoldRecord> {
  for (const line of lines) {
    const value: unknown = JSON.parse(line);
    if (isInstallation(value)) {
      yield toRecord('installation', value.acceptance.latest.installationId, value);
      continue;
    }
    if (!isHistory(value))
      throw new RecordRefused('a line of a counter state is neither an installation nor a history');
    const { days, progress } = value.history;
    if (days !== null) {
      yield toRecord('history', '', { firstObservedAtMs: days.firstObservedAtMs });
      for (const day of days.days) yield toRecord('day', day.startMs, day);
    }
    if (progress !== null) {
      const { events, ...rest } = progress;
      yield toRecord('progress', '', rest);
      for (const event of events) yield toRecord('measurementEvent', formatArrival(event), event);
    }
  }
}

function toRecord(kind: string, key: string | number, value: unknown): FoldRecord {
  return { kind, key: String(key), value: JSON.stringify(value) };
}
