import type { StateValue } from 'xstate';
import { z } from 'zod';
import { parse } from '../bigintJson.ts';
import type { FoldRecord } from '../foldRecord.ts';
import { encodeInstallation, moduleSchema, signerSchema, toModuleView } from './installationSnapshot.ts';
import { decodeIds } from './rememberedIds.ts';
import {
  buildSettlement,
  closedRound,
  contextSchema,
  endedSubmission,
  machineVersion,
  persistedMachine,
  submissionSchema,
} from './settlementSnapshot.ts';

/** Version of the fold whose snapshots had a plain state, and the submission's state in a member of it. */
export const foldVersionBeforeMachine = 3;

const ids = z
  .strictObject({ keys: z.string(), stepsMs: z.array(z.int()) })
  .transform((list) => decodeIds([{ from: 0, ...list }]));

const lists = z.strictObject({
  closedRounds: z.array(closedRound),
  submissionsSinceMs: z.int().nullable(),
  endedSubmissions: z.array(endedSubmission),
  ended: z.strictObject({ submissions: ids, runs: ids, incidents: ids }),
  acceptedMessages: ids,
});

const settlement = lists.extend({ machine: persistedMachine });
const plainSettlement = lists.extend({
  ...contextSchema.shape,
  submission: submissionSchema.extend({ machine: z.string() }).nullable(),
});
type PlainSettlement = z.infer<typeof plainSettlement>;

const installation = z.strictObject({
  installationId: z.string(),
  modules: z.array(moduleSchema),
  signer: signerSchema.nullable(),
  acceptedSigners: ids,
  settlement: z.union([settlement, plainSettlement.transform(addMachine)]),
});

/**
 * Records of a snapshot in the format before records: a line for each installation. Retention may have removed the messages that
 * an older snapshot was made from, so it is converted instead of folded again.
 */
export function* convertSettlementLines(lines: Iterable<string>): Iterable<FoldRecord> {
  for (const line of lines) {
    const { modules, settlement: before, ...rest } = installation.parse(parse(line));
    const { machine, submissionsSinceMs, closedRounds, endedSubmissions, ended, acceptedMessages } = before;
    yield* encodeInstallation({
      ...rest,
      modules: modules.map(toModuleView),
      settlement: buildSettlement({
        machine,
        submissionsSinceMs,
        closedRounds,
        endedSubmissions: new Map(endedSubmissions.entries()),
        ids: { ...ended, messages: acceptedMessages },
      }),
    });
  }
}

/** What is of the machine, as its snapshot has it. */
function addMachine(plain: PlainSettlement): z.output<typeof settlement> {
  const { closedRounds, submissionsSinceMs, endedSubmissions, ended, acceptedMessages, ...machineContext } =
    plain;
  const value = {
    oracle: machineContext.blockedReason === null ? 'unblocked' : 'blocked',
    run: machineContext.unfinishedRun === null ? 'idle' : 'running',
    incidents: machineContext.openIncidents.length === 0 ? 'noneOpen' : 'someOpen',
    submission: toSubmissionState(machineContext.submission),
  };
  const { machine: _state, ...submission } = machineContext.submission ?? { machine: null };
  const context = { ...machineContext, submission: machineContext.submission === null ? null : submission };
  return {
    machine: persistedMachine.parse({ version: machineVersion, value, context }),
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
