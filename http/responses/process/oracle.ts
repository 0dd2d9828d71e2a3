import { z } from 'zod';
import { type OracleView, oracleStates } from '../../../actors/views/views.ts';
import { toIsoString, toIsoStringOrNull } from '../isoTime.ts';
import { text, timestamp, uint64Decimal } from '../scalars.ts';

export const oracle = z
  .strictObject({
    state: z
      .enum(oracleStates)
      .describe(
        '`accepted` while it closes rounds, `stale` when it last did so more than 1,200 seconds ago, `blocked` by its own word, `unavailable` before the first closure',
      ),
    reason: text
      .nullable()
      .describe(
        'The oracle’s words while it is blocked, `no_closure` while it is unavailable, null otherwise',
      ),
    latestAcceptedAt: timestamp
      .nullable()
      .describe('When it last closed rounds; null while it is unavailable'),
    latestClosure: z
      .strictObject({
        firstRound: uint64Decimal.describe('First of them'),
        lastRound: uint64Decimal.describe('Last of them'),
        roundCount: uint64Decimal.describe('How many they are'),
        acceptedAt: timestamp.describe('When the oracle accepted their work'),
      })
      .nullable()
      .describe('The rounds that it closed last; null before the first'),
  })
  .meta({ id: 'Oracle' });

export function toOracleBody(view: OracleView): z.infer<typeof oracle> {
  const { latestClosure } = view;
  return {
    state: view.state,
    reason: view.reason,
    latestAcceptedAt: toIsoStringOrNull(view.latestAcceptedAtMs),
    latestClosure:
      latestClosure === null
        ? null
        : {
            firstRound: latestClosure.firstRound.toString(),
            lastRound: latestClosure.lastRound.toString(),
            roundCount: (latestClosure.lastRound - latestClosure.firstRound + 1n).toString(),
            acceptedAt: toIsoString(latestClosure.acceptedAtMs),
          },
  };
}
