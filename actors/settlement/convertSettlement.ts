import type { StateValue } from 'xstate';
import { z } from 'zod';
import {
  contextSchema,
  machineVersion,
  settlementListsSchema,
  submissionSchema,
} from './settlementSnapshot.ts';

/** Version of the fold whose snapshots had a plain state, and the submission's state in a member of it. */
export const foldVersionBeforeMachine = 3;

const plainSettlement = settlementListsSchema.extend({
  ...contextSchema.shape,
  submission: submissionSchema.extend({ machine: z.string() }).nullable(),
});
type PlainSettlement = z.infer<typeof plainSettlement>;

/**
 * Settlement of a line of a snapshot as this version has it. Retention may have removed the messages that an older snapshot was
 * made from, so it is converted instead of folded again. What is of this version already stays as it is.
 */
export function convertSettlement(encoded: unknown): unknown {
  if (typeof encoded !== 'object' || encoded === null || 'machine' in encoded) return encoded;
  const plain = plainSettlement.parse(encoded);
  const { closedRounds, submissionsSinceMs, endedSubmissions, ended, acceptedMessages, ...held } = plain;
  const value = {
    oracle: held.blockedReason === null ? 'unblocked' : 'blocked',
    run: held.unfinishedRun === null ? 'idle' : 'running',
    incidents: held.openIncidents.length === 0 ? 'noneOpen' : 'someOpen',
    submission: toSubmissionState(held.submission),
  };
  const { machine: _state, ...submission } = held.submission ?? { machine: null };
  const context = { ...held, submission: held.submission === null ? null : submission };
  return {
    machine: { version: machineVersion, value, context },
    closedRounds,
    submissionsSinceMs,
    endedSubmissions,
    ended,
    acceptedMessages,
  };
}

function toSubmissionState(submission: PlainSettlement['submission']): StateValue {
  if (submission === null) return 'unprepared';
  const { machine, terminalAtMs } = submission;
  return terminalAtMs === null ? { underWay: machine } : { ended: machine };
}
