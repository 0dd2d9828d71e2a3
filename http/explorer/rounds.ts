/** Length of a round (CONTRACT.md, Time, rounds and days). The genesis is a multiple of it, so rounds begin at whole ten minutes. */
export const roundMs = 600_000;

/** When a round ends, from the genesis of the core contract in Unix seconds. */
export function computeRoundEnd(round: string, genesisTimestamp: string): string {
  return new Date(Number(genesisTimestamp) * 1000 + Number(round) * roundMs).toISOString();
}
