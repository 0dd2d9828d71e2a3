import { z } from 'zod';
import { timestamp, uint64Decimal, uint256Decimal, uuid } from '../schemas/wireScalars.ts';

/** Maximum number of rounds in one closure: a week. */
export const closureRoundsMax = 1_008;

const roundDecimal = uint64Decimal.refine((decimal) => decimal !== '0', 'expected a round from 1');

const at = timestamp.describe('When the oracle made the message');

const closedRound = z.object({
  roundId: roundDecimal.describe('Number of the round'),
  workUnits: uint256Decimal.describe('Its validated work; 0 for a round without any'),
});

const closure = z
  .object({
    type: z.literal('closure_accepted'),
    at,
    firstRound: roundDecimal.describe(
      'The round after the last closed one: skipped rounds can never be closed',
    ),
    lastRound: roundDecimal.describe('The last round of the closure'),
    rounds: z
      .array(closedRound)
      .min(1)
      // The check of all rounds below does not run on a longer list.
      .max(closureRoundsMax, { abort: true })
      .describe('Each round from `firstRound` through `lastRound` once, ascending'),
    acceptedAt: timestamp.describe('When the oracle accepted the rounds, which routes show'),
  })
  .refine(
    ({ firstRound, lastRound, rounds }) =>
      BigInt(lastRound) - BigInt(firstRound) + 1n === BigInt(rounds.length) &&
      rounds.every(({ roundId }, index) => BigInt(roundId) === BigInt(firstRound) + BigInt(index)),
    { error: 'expected each round from firstRound through lastRound once, ascending', path: ['rounds'] },
  );

/** Messages of the oracle on `miner.oracle.<installation>` (MESSAGES.md, Oracle). */
export const oracleMessage = z.discriminatedUnion('type', [
  closure,
  z.object({
    type: z.literal('blocked'),
    at,
    reason: z
      .string()
      .min(1)
      .max(256)
      .describe('Why nothing settles until `unblocked`; routes show it unchanged'),
  }),
  z.object({ type: z.literal('unblocked'), at }),
  z.object({
    type: z.literal('epoch_approved'),
    at,
    counterEpoch: uuid.describe('The epoch of readings whose work counts; the newest 256 stay approved'),
  }),
]);
export type OracleMessage = z.infer<typeof oracleMessage>;
