/** What one check found. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'failed' | 'skipped';
  /** What was found, and for a failure what to do. */
  readonly detail: string;
  readonly remedy?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, outcome: 'ok', detail };
}

export function failed(check: string, detail: string, remedy: string): Finding {
  return { check, outcome: 'failed', detail, remedy };
}

export function skipped(check: string, detail: string): Finding {
  return { check, outcome: 'skipped', detail };
}

/** As it is printed: one line, and one more that says what to do. */
export function formatFinding({ check, outcome, detail, remedy }: Finding): string[] {
  const mark = { ok: 'ok     ', failed: 'FAILED ', skipped: 'skipped' }[outcome];
  return [`${mark}  ${check}: ${detail}`, ...(remedy === undefined ? [] : [`         -> ${remedy}`])];
}
