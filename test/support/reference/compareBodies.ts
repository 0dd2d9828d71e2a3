import { routes } from '../../../http/routes/routes.ts';
import { opaque } from '../../reference/messages.ts';

export interface Difference {
  readonly member: string;
  readonly program: unknown;
  readonly reference: unknown;
}

/** Where the program's body differs from the reference's. An opaque text of the reference is any text of the program. */
export function listDifferences(program: unknown, reference: unknown, member = ''): Difference[] {
  if (reference === opaque)
    return typeof program === 'string' && program !== '' ? [] : [{ member, program, reference }];
  if (!isContainer(program) || !isContainer(reference) || Array.isArray(program) !== Array.isArray(reference))
    return Object.is(program, reference) ? [] : [{ member, program, reference }];
  // A member that is undefined is not sent.
  const names = new Set([...Object.keys(program), ...Object.keys(reference)]);
  return [...names].flatMap((name) => listDifferences(program[name], reference[name], `${member}.${name}`));
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** By route and member, the values that comparisons have seen; no more than two are kept. */
export const seenMembers = new Map<string, Set<string>>();

/** Notes the members of a body that was compared. */
export function noteMembers(path: string, body: unknown): void {
  const pathname = path.split('?')[0] as string;
  const route = routes.find((one) => new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname));
  if (route === undefined) throw new Error(`no route has the path ${pathname}`);
  note(route.path, body);
}

function note(member: string, value: unknown): void {
  if (isContainer(value)) {
    for (const [name, inner] of Object.entries(value))
      note(Array.isArray(value) ? `${member}[]` : `${member}.${name}`, inner);
    return;
  }
  const values = seenMembers.get(member) ?? new Set();
  if (values.size < 2) values.add(String(value));
  seenMembers.set(member, values);
}
