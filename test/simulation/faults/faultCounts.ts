/** Number of faults by kind. */
export interface FaultCounts {
  note(kind: string): void;
  readonly byKind: ReadonlyMap<string, number>;
  total(): number;
}

export function createFaultCounts(): FaultCounts {
  const byKind = new Map<string, number>();
  return {
    byKind,
    note: (kind) => byKind.set(kind, (byKind.get(kind) ?? 0) + 1),
    total: () => [...byKind.values()].reduce((sum, count) => sum + count, 0),
  };
}
