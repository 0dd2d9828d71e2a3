import { publishResults } from '../results.ts';
import { measureSnapshots } from './snapshots.ts';
import type { SyntheticSize } from './syntheticChain.ts';

/** What a service costs that has run for years, on states that are made up. */
export async function measureYears({ positions, events }: YearsOptions): Promise<void> {
  const size: SyntheticSize = { positions, ownerEvents: events };
  publishResults({ command: 'years', tables: await measureSnapshots(size) });
}

export interface YearsOptions {
  readonly positions: number;
  readonly events: number;
}
