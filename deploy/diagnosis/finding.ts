import { z } from 'zod';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';

export const findingSchema = z.object({
  check: z.string(),
  outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
  detail: z.string(),
  remedy: z.string().exactOptional(),
});
export type Finding = z.infer<typeof findingSchema>;

const plain =
  (outcome: Finding['outcome']) =>
  (check: string, detail: string): Finding => ({ check, outcome, detail });
const withRemedy =
  (outcome: Finding['outcome']) =>
  (check: string, detail: string, remedy: string): Finding => ({ check, outcome, detail, remedy });

export const ok = plain('ok');
export const skipped = plain('skipped');
export const failed = withRemedy('failed');
/** Nothing is wrong yet. */
export const warned = withRemedy('warning');

export type Findings = AsyncGenerator<Finding, void>;

/** Finds something, or fails itself: then its name and remedy are the finding. */
export type Check<Parts> = readonly [name: string, find: (parts: Parts) => Findings, remedy: string];

/** Runs checks in stages. Each stage needs the ones before it: a failure ends the examination after its stage. Returns whether there was none. */
export async function* runChecks<Parts>(
  stages: readonly (readonly Check<Parts>[])[],
  parts: Parts,
): AsyncGenerator<Finding, boolean> {
  for (const stage of stages) {
    let hasFailed = false;
    for (const [name, find, remedy] of stage)
      try {
        for await (const finding of find(parts)) {
          hasFailed ||= finding.outcome === 'failed';
          yield finding;
        }
      } catch (error) {
        hasFailed = true;
        // An error of the node has several lines.
        yield failed(name, readErrorMessage(error).trim().replace(/\s+/g, ' '), remedy);
      }
    if (hasFailed) return false;
  }
  return true;
}

/** The printed lines: the result, and a remedy if something is wrong. */
export function formatFinding({ check, outcome, detail, remedy }: Finding): string {
  const mark = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ', skipped: 'skipped' }[outcome];
  return `${mark}  ${check}: ${detail}\n${remedy === undefined ? '' : `         -> ${remedy}\n`}`;
}
