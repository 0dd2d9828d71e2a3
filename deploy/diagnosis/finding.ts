import { z } from 'zod';

export const findingSchema = z.object({
  check: z.string(),
  outcome: z.enum(['ok', 'warning', 'failed', 'skipped']),
  detail: z.string(),
  remedy: z.string().exactOptional(),
});
export type Finding = z.infer<typeof findingSchema>;

export function ok(check: string, detail: string): Finding {
  return { check, outcome: 'ok', detail };
}

/** Nothing is wrong yet. */
export function warned(check: string, detail: string, remedy: string): Finding {
  return { check, outcome: 'warning', detail, remedy };
}

export function failed(check: string, detail: string, remedy: string): Finding {
  return { check, outcome: 'failed', detail, remedy };
}

export function skipped(check: string, detail: string): Finding {
  return { check, outcome: 'skipped', detail };
}

/** The printed lines: the result, and a remedy if something is wrong. */
export function formatFinding({ check, outcome, detail, remedy }: Finding): string[] {
  const mark = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ', skipped: 'skipped' }[outcome];
  return [`${mark}  ${check}: ${detail}`, ...(remedy === undefined ? [] : [`         -> ${remedy}`])];
}
