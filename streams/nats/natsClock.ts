import type { StreamPort } from './streamPort.ts';

interface ClockOffset {
  /** How far the clock of NATS is ahead of this machine's; negative if it is behind. */
  readonly offsetMs: number;
  /** Half of the round trip: the offset may be that much larger or smaller. */
  readonly uncertainMs: number;
}

/**
 * Compares the clock of the leader of `MINER_COUNTER`, which gives messages their times, with this machine's.
 *
 * @param nowMs this machine's clock, epoch milliseconds.
 * @param ofOldServer time that a server before 2.10 has just told, which does not tell it here.
 * @returns null if the server tells no time.
 */
export async function measureNatsClock(
  jetStream: Pick<StreamPort, 'info'>,
  nowMs: () => number,
  ofOldServer: string | null = null,
): Promise<ClockOffset | null> {
  const askedAtMs = nowMs();
  const serverTime = (await jetStream.info('MINER_COUNTER')).serverTime ?? ofOldServer;
  const answeredAtMs = nowMs();
  if (serverTime === null) return null;
  return {
    offsetMs: Date.parse(serverTime) - (askedAtMs + answeredAtMs) / 2,
    uncertainMs: (answeredAtMs - askedAtMs) / 2,
  };
}

/** The smallest offset that agrees with a measurement, with its sign. */
export function findCertainOffset({ offsetMs, uncertainMs }: ClockOffset): number {
  return Math.sign(offsetMs) * Math.max(0, Math.abs(offsetMs) - uncertainMs);
}
