/** The typed keys of an object without undeclared members, such as a constant table. */
export function listKeys<Key extends string>(object: Readonly<Partial<Record<Key, unknown>>>): Key[] {
  return Object.keys(object) as Key[];
}
