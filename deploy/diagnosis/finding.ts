/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'failed' | 'skipped';
  /** What was found. */
  readonly detail: string;
  readonly remedy?: string;
}

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

/** The printed lines: the result, and the remedy of what is not as it should be. */
export function formatFinding({ check, outcome, detail, remedy }: Finding): string[] {
  const mark = { ok: 'ok     ', warning: 'warning', failed: 'FAILED ', skipped: 'skipped' }[outcome];
  return [`${mark}  ${check}: ${detail}`, ...(remedy === undefined ? [] : [`         -> ${remedy}`])];
}
