import type { Bodies } from './page.ts';

type Core = Extract<Bodies['core'], { status: 'available' }>;

/** A batch of rounds that was settled, and the work for 1,000 work blocks from then on. */
export interface Batch {
  readonly id: string;
  /** When it was settled, in ISO 8601. */
  readonly at: string;
  /** Its last round. */
  readonly round: string;
  readonly value: string;
}

/** The newest batches in the order of time, from the core's events. */
export function listBatches({ events }: Core): Batch[] {
  return events
    .flatMap(({ id, eventName, blockTimestamp, arguments: named }) => {
      const find = (name: string) => named.find((argument) => argument.name === name)?.value;
      const value = find('workPerThousandBlocks');
      const round = find('settledThroughRound');
      if (eventName !== 'BatchSettled' || value === undefined || round === undefined) return [];
      return [{ id, at: new Date(Number(blockTimestamp) * 1000).toISOString(), round, value }];
    })
    .reverse();
}
