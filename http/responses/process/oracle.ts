import { z } from 'zod';
import { oracleStates } from '../../../actors/settlement/oracleState.ts';
import type { OracleView } from '../../../actors/views/processProjection.ts';
import { encodeView } from '../encodeView.ts';
import { defineObject, text, timestamp, uint64Decimal } from '../scalars.ts';

export const oracle = defineObject('Oracle', {
  state: z
    .enum(oracleStates)
    .meta({ id: 'OracleState' })
    .describe(
      '`unavailable` before the first closure, `blocked` while the oracle says so, `stale` if the last closure is more than 1,200 seconds old, otherwise `accepted`',
    ),
  reason: text
    .nullable()
    .describe(
      'The oracle’s reason while it is blocked, `no_closure` while it is unavailable, null otherwise',
    ),
  latestAcceptedAt: timestamp
    .nullable()
    .describe('When it last closed rounds; null before the first closure'),
  latestClosure: defineObject('OracleLatestClosure', {
    firstRound: uint64Decimal.describe('First round of the closure'),
    lastRound: uint64Decimal.describe('Last round of the closure'),
    roundCount: uint64Decimal.describe('Number of rounds in the closure'),
    acceptedAt: timestamp.describe('When the oracle accepted the work of these rounds'),
  })
    .nullable()
    .describe('The rounds that it closed last; null before the first closure'),
});

export function toOracleBody({ latestClosure: closure, ...view }: OracleView): z.infer<typeof oracle> {
  const latestClosure = closure && {
    ...closure,
    roundCount: closure.lastRound - closure.firstRound + 1n,
  };
  return encodeView({ ...view, latestClosure });
}
