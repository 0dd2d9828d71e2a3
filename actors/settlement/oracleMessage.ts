import { z } from 'zod';
import { timestamp, uint64Decimal, uint256Decimal, uuid } from '../schemas/wireScalars.ts';

/** Maximum number of rounds in one closure: a week. */
export const closureRoundsMax = 1_008;

const roundDecimal = uint64Decimal.refine((decimal) => decimal !== '0', 'expected a round from 1');

const closure = z
  .object({
    type: z.literal('closure_accepted'),
    at: timestamp,
    firstRound: roundDecimal,
    lastRound: roundDecimal,
    rounds: z
      .array(z.object({ roundId: roundDecimal, workUnits: uint256Decimal }))
      .min(1)
      .max(closureRoundsMax),
    acceptedAt: timestamp,
  })
  .refine(
    ({ firstRound, lastRound, rounds }) =>
      BigInt(lastRound) - BigInt(firstRound) + 1n === BigInt(rounds.length) &&
      rounds.every(({ roundId }, index) => BigInt(roundId) === BigInt(firstRound) + BigInt(index)),
    'expected every round from firstRound to lastRound once, ascending',
  );

/** Messages of the oracle on `miner.oracle.<installation>` (MESSAGES.md, Oracle). */
export const oracleMessage = z.discriminatedUnion('type', [
  closure,
  z.object({ type: z.literal('blocked'), at: timestamp, reason: z.string().min(1).max(256) }),
  z.object({ type: z.literal('unblocked'), at: timestamp }),
  z.object({ type: z.literal('epoch_approved'), at: timestamp, counterEpoch: uuid }),
]);
export type OracleMessage = z.infer<typeof oracleMessage>;
