import { z } from 'zod';
import { blockedReasons, settlementQueueStates } from '../../../actors/settlement/queueState.ts';
import {
  type FrontierView,
  queueUnavailableReasons,
  type SettlementQueueView,
  type SubmissionView,
} from '../../../actors/views/processProjection.ts';
import { submissionLifecycles } from '../../../actors/views/views.ts';
import { encodeView } from '../encodeView.ts';
import {
  availableStatus,
  bytes32,
  decimal,
  defineObject,
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

/** Members of both forms of the queue. */
const members = {
  state: z
    .enum(settlementQueueStates)
    .meta({ id: 'ProcessQueueState' })
    .describe(
      'The first state that applies: `blocked`, `disabled`, `stale`, the lifecycle of a submission in progress, `empty`, `ready`',
    ),
  settlementEnabled: z.boolean().describe('Whether settlement is enabled'),
  reporterEnvironmentEnabled: z
    .boolean()
    .describe('Whether the reporter’s environment lets it send transactions'),
  buffered: defineObject('ProcessQueueBuffered', {
    firstRound: uint64Decimal.nullable().describe('First buffered round; null if none is buffered'),
    lastRound: uint64Decimal.nullable().describe('Last buffered round; null if none is buffered'),
    roundCount: uint64Decimal.describe('Number of buffered rounds'),
    activeRoundCount: uint64Decimal.describe('Number of buffered rounds with work'),
    workUnits: decimal.describe('Work of the buffered rounds, in work units'),
  }).describe('Closed rounds above the settled frontier'),
  incidentOpen: z
    .boolean()
    .describe('Whether the reporter has an open incident, during which nothing settles'),
  blockedReason: z
    .enum(blockedReasons)
    .meta({ id: 'ProcessQueueBlockedReason' })
    .nullable()
    .describe('Why the queue is blocked; null if it is not'),
  lastRun: defineObject('ProcessQueueLastRun', {
    startedAt: timestamp.describe('Start of the run'),
    finishedAt: timestamp.describe('End of the run'),
    result: text.describe('Result that the reporter gave'),
  })
    .nullable()
    .describe('The last completed run of the reporter; null before the first'),
};

const lifecycle = z
  .enum(submissionLifecycles)
  .meta({ id: 'ProcessQueueLatestSubmissionLifecycle' })
  .describe('State of the submission; `confirmed`, `reverted` and `superseded` are final');

const reason = z
  .enum(queueUnavailableReasons)
  .meta({ id: 'ProcessQueueReason' })
  .describe(
    'Why the queue cannot be shown: the oracle has closed no round, closed rounds leave a gap, or a round has more work than the core accepts',
  );

function defineQueue<Anchor extends z.ZodRawShape, Projected extends z.ZodType>(
  id: string,
  { anchor, projected }: { readonly anchor: Anchor; readonly projected: Projected },
) {
  return z
    .discriminatedUnion('status', [
      defineObject(`${id}Available`, {
        status: availableStatus,
        ...members,
        projected: projected.describe('The frontier if the closed rounds settled now'),
        latestSubmission: defineObject(`${id}LatestSubmission`, {
          submissionId: uuid.describe('ID of the submission'),
          lifecycle,
          previousSettledThroughRound: uint64Decimal.describe('Last settled round before the submission'),
          settledThroughRound: uint64Decimal.describe('Last round that it settles'),
          roundCount: uint64Decimal.describe('Number of rounds that it settles'),
          activeRoundCount: z
            .string()
            .regex(/^(?:[0-9]|1[0-6])$/)
            .meta({ description: 'Number of these rounds with work, 0 to 16', format: 'uint64-decimal' }),
          expected: defineObject(`${id}LatestSubmissionExpected`, { ...anchor, ...completed }).describe(
            'The settled frontier once the submission is confirmed',
          ),
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
      defineObject(`${id}Unavailable`, { status: unavailableStatus, reason }),
    ])
    .meta({ id });
}

export const processQueue = defineQueue('ProcessQueue', publicSumsForm);

export const settlementQueue = defineQueue('SettlementQueue', plainSumsForm);

export function toProcessQueueBody(view: SettlementQueueView): z.infer<typeof processQueue> {
  return view.status === 'available' ? toAvailableQueue(view, publicSumsForm.encode) : view;
}

export function toQueueBody(view: SettlementQueueView): z.infer<typeof settlementQueue> {
  return view.status === 'available' ? toAvailableQueue(view, plainSumsForm.encode) : view;
}

function toAvailableQueue<Shown>(
  view: Extract<SettlementQueueView, { status: 'available' }>,
  sums: (frontier: FrontierView) => Shown,
) {
  const { projected, latestSubmission } = view;
  return {
    ...encodeView(view),
    projected: toProjectedBody(projected, sums),
    latestSubmission: latestSubmission === null ? null : toSubmissionBody(latestSubmission, sums),
  };
}

function toSubmissionBody<Shown>(view: SubmissionView, sums: (frontier: FrontierView) => Shown) {
  const { activeRoundCount, expected, ...members } = view;
  return {
    ...encodeView(members),
    activeRoundCount: String(activeRoundCount),
    expected: { ...toAnchorBody(expected, sums), ...toCompletedBody(expected) },
  };
}
