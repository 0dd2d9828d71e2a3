import { z } from 'zod';
import {
  blockedReasons,
  type FrontierView,
  queueUnavailableReasons,
  type SettlementQueueView,
  type SubmissionView,
  settlementQueueStates,
  submissionLifecycles,
} from '../../../actors/views/views.ts';
import { encodeView } from '../encodeView.ts';
import {
  availableStatus,
  bytes32,
  decimal,
  text,
  timestamp,
  uint64Decimal,
  unavailableStatus,
  uuid,
} from '../scalars.ts';
import {
  completed,
  plainSumsForm,
  publicSumsForm,
  toAnchorBody,
  toCompletedBody,
  toProjectedBody,
} from './frontiers.ts';

function defineQueue<Anchor extends z.ZodRawShape, Projected extends z.ZodType>({
  anchor,
  projected,
}: {
  readonly anchor: Anchor;
  readonly projected: Projected;
}) {
  return z.discriminatedUnion('status', [
    z.strictObject({
      status: availableStatus,
      state: z
        .enum(settlementQueueStates)
        .describe(
          'What the queue is doing: the first that holds of blocked, disabled, stale, a submission under way, empty, ready',
        ),
      settlementEnabled: z.boolean().describe('Whether settlement is switched on'),
      reporterEnvironmentEnabled: z
        .boolean()
        .describe('Whether the reporter’s environment allows it to send'),
      buffered: z
        .strictObject({
          firstRound: uint64Decimal.nullable().describe('First of them; null without any'),
          lastRound: uint64Decimal.nullable().describe('Last of them; null without any'),
          roundCount: uint64Decimal.describe('How many they are'),
          activeRoundCount: uint64Decimal.describe('How many of them have work'),
          workUnits: decimal.describe('Their work, in work units'),
        })
        .describe('Closed rounds above the settled frontier'),
      projected: projected.describe('Where the frontier would be if the closed rounds settled now'),
      incidentOpen: z
        .boolean()
        .describe('Whether the reporter has an open incident: nothing is settled meanwhile'),
      blockedReason: z
        .enum(blockedReasons)
        .nullable()
        .describe('Why the queue is blocked; null when it is not'),
      lastRun: z
        .strictObject({
          startedAt: timestamp.describe('When it began'),
          finishedAt: timestamp.describe('When it ended'),
          result: text.describe('How it ended, in the reporter’s word'),
        })
        .nullable()
        .describe('The last completed run of the reporter; null before the first'),
      latestSubmission: z
        .strictObject({
          submissionId: uuid.describe('Names the submission'),
          lifecycle: z
            .enum(submissionLifecycles)
            .describe('How far it has come; `confirmed`, `reverted` and `superseded` are ends'),
          previousSettledThroughRound: uint64Decimal.describe('Last round that was settled before it'),
          settledThroughRound: uint64Decimal.describe('Last round that it settles'),
          roundCount: uint64Decimal.describe('How many rounds it settles'),
          activeRoundCount: z
            .string()
            .regex(/^(?:[0-9]|1[0-6])$/)
            .meta({ description: 'How many of them have work, from 0 to 16', format: 'uint64-decimal' }),
          expected: z
            .strictObject({ ...anchor, ...completed })
            .describe('Where the settled frontier is once it is confirmed'),
          transactionHash: bytes32.nullable().describe('Its transaction; null before it was submitted'),
          createdAt: timestamp.describe('When the reporter prepared it'),
          submittedAt: timestamp.nullable().describe('When its transaction was sent; null before'),
          confirmedAt: timestamp.nullable().describe('When it was confirmed; null otherwise'),
          terminalAt: timestamp.nullable().describe('When it ended; null before'),
          changedAt: timestamp.describe('When its lifecycle last changed'),
          outcomeCode: z
            .string()
            .regex(/^(?:reverted|superseded)$/)
            .nullable()
            .describe('`reverted` or `superseded` for these ends; null otherwise'),
        })
        .nullable()
        .describe('The submission under way, or the last one that ended; null before the first'),
    }),
    z.strictObject({
      status: unavailableStatus,
      reason: z
        .enum(queueUnavailableReasons)
        .describe(
          'Why the queue cannot be shown: the oracle has closed no round, closed rounds leave a gap, or one has more work than the core takes',
        ),
    }),
  ]);
}

export const processQueue = defineQueue(publicSumsForm).meta({ id: 'ProcessQueue' });

export const settlementQueue = defineQueue(plainSumsForm).meta({
  id: 'SettlementQueue',
});

type AvailableQueue = Extract<SettlementQueueView, { status: 'available' }>;

export function toProcessQueueBody(view: SettlementQueueView): z.infer<typeof processQueue> {
  return view.status === 'available' ? toAvailableQueue(view, publicSumsForm.encode) : view;
}

export function toQueueBody(view: SettlementQueueView): z.infer<typeof settlementQueue> {
  return view.status === 'available' ? toAvailableQueue(view, plainSumsForm.encode) : view;
}

function toAvailableQueue<Shown>(view: AvailableQueue, sums: (frontier: FrontierView) => Shown) {
  const { projected, latestSubmission } = view;
  return {
    ...encodeView(view),
    projected: toProjectedBody(projected, sums),
    latestSubmission: latestSubmission === null ? null : toSubmissionBody(latestSubmission, sums),
  };
}

function toSubmissionBody<Shown>(view: SubmissionView, sums: (frontier: FrontierView) => Shown) {
  const { submissionId, lifecycle, previousSettledThroughRound, settledThroughRound, roundCount } = view;
  const { activeRoundCount, expected, ...rest } = view;
  return {
    ...encodeView({
      submissionId,
      lifecycle,
      previousSettledThroughRound,
      settledThroughRound,
      roundCount,
    }),
    activeRoundCount: String(activeRoundCount),
    expected: { ...toAnchorBody(expected, sums), ...toCompletedBody(expected) },
    ...encodeView(rest),
  };
}
