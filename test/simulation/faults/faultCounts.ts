/** Number of faults by kind. */
export type FaultCounts = ReturnType<typeof createFaultCounts>;

export function createFaultCounts() {
  const byKind = new Map<string, number>();
  return {
    byKind,
    note: (kind: string) => byKind.set(kind, (byKind.get(kind) ?? 0) + 1),
    total: () => [...byKind.values()].reduce((sum, count) => sum + count, 0),
  };
}
