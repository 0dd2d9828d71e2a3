interface Difference {
  readonly member: string;
  readonly program: unknown;
  readonly reference: unknown;
}

/**
 * Lists the quantities of the reference from which a body differs. The reference has each amount once, as a bigint, under every name by which a route shows
 * it: only those that a body has are compared.
 */
export function listDifferences(program: unknown, reference: unknown, member = ''): Difference[] {
  const shown = typeof reference === 'bigint' ? String(reference) : reference;
  if (!isContainer(program) || !isContainer(shown))
    return Object.is(program, shown) ? [] : [{ member, program, reference: shown }];
  if (Array.isArray(shown) && program.length !== shown.length)
    return [{ member: `${member}.length`, program: program.length, reference: shown.length }];
  return Object.entries(shown)
    .filter(([name]) => program[name] !== undefined)
    .flatMap(([name, value]) => listDifferences(program[name], value, `${member}.${name}`));
}

export const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
