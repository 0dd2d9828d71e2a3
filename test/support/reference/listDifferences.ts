interface Difference {
  readonly member: string;
  readonly program: unknown;
  readonly reference: unknown;
}

/** Lists the reference's quantities from which a body differs. Its other members are no quantities. */
export function listDifferences(program: unknown, reference: unknown, member = ''): Difference[] {
  const isSame = Object.is(program, reference);
  if (!isContainer(program) || !isContainer(reference)) return isSame ? [] : [{ member, program, reference }];
  if (Array.isArray(reference) && program.length !== reference.length)
    return [{ member: `${member}.length`, program: program.length, reference: reference.length }];
  return Object.entries(reference).flatMap(([name, value]) =>
    listDifferences(program[name], value, `${member}.${name}`),
  );
}

export const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
