/** The keys of an object that has no others than its type says, such as a constant table. */
export function listKeys<Key extends string>(object: Readonly<Partial<Record<Key, unknown>>>): Key[] {
  return Object.keys(object) as Key[];
}
