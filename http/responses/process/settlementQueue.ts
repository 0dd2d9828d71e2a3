import { z } from 'zod';
import { blockedReasons, settlementQueueStates } from '../../../actors/settlement/queueState.ts';
import {
  type FrontierView,
  queueUnavailableReasons,
  type SettlementQueueView,
  type SubmissionView,
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
          'The first state that applies: `blocked`, `disabled`, `stale`, the lifecycle of a submission in progress, `empty`, `ready`',
        ),
      settlementEnabled: z.boolean().describe('Whether settlement is enabled'),
      reporterEnvironmentEnabled: z
        .boolean()
        .describe('Whether the reporter’s environment lets it send transactions'),
      buffered: z
        .strictObject({
          firstRound: uint64Decimal.nullable().describe('First buffered round; null if none is buffered'),
          lastRound: uint64Decimal.nullable().describe('Last buffered round; null if none is buffered'),
          roundCount: uint64Decimal.describe('Number of buffered rounds'),
          activeRoundCount: uint64Decimal.describe('Number of buffered rounds with work'),
          workUnits: decimal.describe('Work of the buffered rounds, in work units'),
        })
        .describe('Closed rounds above the settled frontier'),
      projected: projected.describe('The frontier if the closed rounds settled now'),
      incidentOpen: z
        .boolean()
        .describe('Whether the reporter has an open incident, during which nothing settles'),
      blockedReason: z
        .enum(blockedReasons)
        .nullable()
        .describe('Why the queue is blocked; null if it is not'),
      lastRun: z
        .strictObject({
          startedAt: timestamp.describe('Start of the run'),
          finishedAt: timestamp.describe('End of the run'),
          result: text.describe('Result that the reporter gave'),
        })
        .nullable()
        .describe('The last completed run of the reporter; null before the first'),
      latestSubmission: z
        .strictObject({
          submissionId: uuid.describe('ID of the submission'),
          lifecycle: z
            .enum(submissionLifecycles)
            .describe('State of the submission; `confirmed`, `reverted` and `superseded` are final'),
          previousSettledThroughRound: uint64Decimal.describe('Last settled round before the submission'),
          settledThroughRound: uint64Decimal.describe('Last round that it settles'),
          roundCount: uint64Decimal.describe('Number of rounds that it settles'),
          activeRoundCount: z
            .string()
            .regex(/^(?:[0-9]|1[0-6])$/)
            .meta({ description: 'Number of these rounds with work, 0 to 16', format: 'uint64-decimal' }),
          expected: z
            .strictObject({ ...anchor, ...completed })
            .describe('The settled frontier once the submission is confirmed'),
          transactionHash: bytes32.nullable().describe('Its transaction; null before it is sent'),
          createdAt: timestamp.describe('When the reporter prepared it'),
          submittedAt: timestamp.nullable().describe('When its transaction was sent; null before'),
          confirmedAt: timestamp.nullable().describe('When it was confirmed; null if it is not'),
          terminalAt: timestamp.nullable().describe('When it became final; null before'),
          changedAt: timestamp.describe('When its lifecycle last changed'),
          outcomeCode: z
            .string()
            .regex(/^(?:reverted|superseded)$/)
            .nullable()
            .describe('`reverted` or `superseded` for these lifecycles; null otherwise'),
        })
        .nullable()
        .describe('The submission in progress, or else the last one; null before the first'),
    }),
    z.strictObject({
      status: unavailableStatus,
      reason: z
        .enum(queueUnavailableReasons)
        .describe(
          'Why the queue cannot be shown: the oracle has closed no round, closed rounds leave a gap, or a round has more work than the core accepts',
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
