import type { SubmissionTimes } from './activityStatistics.ts';
import {
  ignoreRejected,
  isDecimal,
  isFuture,
  isInteger,
  isObject,
  isText,
  isTime,
  isUuid,
  type Json,
  parsePayload,
  readSubject,
  roundMs,
  type StoredMessage,
  uint64Max,
} from './messages.ts';
import { blockUnitsPerBlock, type CoreSums, isWithinBounds } from './workToBlocks.ts';

/** MESSAGES.md, Oracle, Reporter, Expected sums and What has ended stays ended; CONTRACT.md, Submission lifecycle. */

type Lifecycle = 'preparing' | 'submitted' | 'retrying' | 'confirmed' | 'reverted' | 'superseded';

export interface Submission extends SubmissionTimes {
  readonly submissionId: string;
  readonly lifecycle: Lifecycle;
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: number;
  readonly expected: CoreSums & { readonly completedBlockCount: bigint };
  readonly transactionHash: string | null;
  readonly changedAtMs: number;
}

/** Messages of one installation's oracle and reporter, folded. */
export interface Settlement {
  closure: { readonly firstRound: bigint; readonly lastRound: bigint; readonly acceptedAtMs: number } | null;
  /** Work of each closed round. */
  readonly closedRounds: Map<bigint, bigint>;
  oracleBlockedReason: string | null;
  approvedEpochs: string[];
  /** Null until the reporter sends it. */
  settlementEnabled: boolean | null;
  reporterEnvironmentEnabled: boolean | null;
  runUnderWay: { readonly runId: string; readonly startedAtMs: number } | null;
  lastRun: { readonly startedAtMs: number; readonly finishedAtMs: number; readonly result: string } | null;
  readonly openIncidents: Set<string>;
  /** Oldest first; the last one is the latest. */
  submissions: Submission[];
}

interface Ended {
  readonly runs: Set<string>;
  readonly incidents: Set<string>;
}

/** Reasons for well-formed messages that break a rule of their table. */
const notAllowed = 'not_allowed';
type Refusal = typeof notAllowed | null;

/** One installation's settlement, message by message. */
interface SettlementFold {
  readonly settlement: Settlement;
  /** Reason of a rejection; null if the message is accepted or does not belong here. */
  hear(message: StoredMessage): Refusal | 'malformed' | 'future_observation';
}

const terminal: readonly string[] = ['confirmed', 'reverted', 'superseded'];

export function foldSettlement(
  messages: readonly StoredMessage[],
  installationId: string,
  genesisMs: number,
  onRejected = ignoreRejected,
): Settlement {
  const { settlement, hear } = startSettlement(installationId, genesisMs);
  for (const message of messages) {
    const reason = hear(message);
    if (reason !== null) onRejected(message, reason);
  }
  return settlement;
}

export function startSettlement(installationId: string, genesisMs: number): SettlementFold {
  const settlement: Settlement = {
    closure: null,
    closedRounds: new Map(),
    oracleBlockedReason: null,
    approvedEpochs: [],
    settlementEnabled: null,
    reporterEnvironmentEnabled: null,
    runUnderWay: null,
    lastRun: null,
    openIncidents: new Set(),
    submissions: [],
  };
  const ended: Ended = { runs: new Set(), incidents: new Set() };
  const accepted = new Set<string>();
  const hear: SettlementFold['hear'] = (message) => {
    const [oracleId] = readSubject(message.subject, 'miner.oracle') ?? [];
    const [reporterId] = readSubject(message.subject, 'miner.reporter') ?? [];
    const isOracle = oracleId === installationId;
    if (!isOracle && reporterId !== installationId) return null;
    const body = parsePayload(message, 256 * 1024);
    if (body === null || !isTime(body.at)) return 'malformed';
    if (isOracle ? !isOracleMessage(body) : !isReporterMessage(body)) return 'malformed';
    if (isFuture(message, listTimes(body, genesisMs))) return 'future_observation';
    const said = `${message.subject} ${JSON.stringify(body)}`;
    if (accepted.has(said)) return notAllowed; // It was stored again.
    const refusal = isOracle ? hearOracle(settlement, body) : hearReporter(settlement, ended, body);
    if (refusal === null) accepted.add(said);
    return refusal;
  };
  return { settlement, hear };
}

/** Times that a message names, and the end of the last round that it closes. */
function listTimes({ at, acceptedAt, lastRound }: Json, genesisMs: number) {
  const atMs = Date.parse(at as string);
  if (lastRound === undefined) return [atMs];
  return [
    atMs,
    Date.parse(acceptedAt as string),
    BigInt(genesisMs) + BigInt(lastRound as string) * BigInt(roundMs),
  ];
}

// Oracle.

interface ClosedRound {
  readonly roundId: string;
  readonly workUnits: string;
}

function isOracleMessage(body: Json): boolean {
  switch (body.type) {
    case 'closure_accepted': {
      const { firstRound, lastRound, rounds, acceptedAt } = body;
      if (!isRound(firstRound) || !isRound(lastRound) || !isTime(acceptedAt) || !Array.isArray(rounds))
        return false;
      return (
        rounds.length > 0 &&
        rounds.length <= 1_008 &&
        BigInt(rounds.length) === BigInt(lastRound) - BigInt(firstRound) + 1n &&
        rounds.every(
          (round: Json, index) =>
            isObject(round) &&
            isDecimal(round.workUnits) &&
            round.roundId === String(BigInt(firstRound) + BigInt(index)),
        )
      );
    }
    case 'blocked':
      return isText(body.reason, 256);
    case 'unblocked':
      return true;
    case 'epoch_approved':
      return isUuid(body.counterEpoch);
    default:
      return false;
  }
}

const isRound = (value: unknown): value is string => isDecimal(value, uint64Max) && value !== '0';

function hearOracle(settlement: Settlement, body: Json): Refusal {
  switch (body.type) {
    case 'closure_accepted': {
      const [firstRound, lastRound] = [BigInt(body.firstRound as string), BigInt(body.lastRound as string)];
      if (settlement.closure !== null && firstRound <= settlement.closure.lastRound) return notAllowed;
      settlement.closure = { firstRound, lastRound, acceptedAtMs: Date.parse(body.acceptedAt as string) };
      for (const { roundId, workUnits } of body.rounds as ClosedRound[])
        settlement.closedRounds.set(BigInt(roundId), BigInt(workUnits));
      return null;
    }
    case 'blocked':
      settlement.oracleBlockedReason = body.reason as string;
      return null;
    case 'unblocked':
      settlement.oracleBlockedReason = null;
      return null;
    default: {
      const epoch = (body.counterEpoch as string).toLowerCase();
      settlement.approvedEpochs = [...settlement.approvedEpochs.filter((one) => one !== epoch), epoch].slice(
        -256,
      );
      return null;
    }
  }
}

// Reporter.

function isReporterMessage(body: Json): boolean {
  const isName = (value: unknown) => isText(value, 128);
  const isHash = (value: unknown) => typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value);
  switch (body.type) {
    case 'settings':
      return (
        typeof body.settlementEnabled === 'boolean' && typeof body.reporterEnvironmentEnabled === 'boolean'
      );
    case 'run_started':
      return isName(body.runId);
    case 'run_finished':
      return isName(body.runId) && isName(body.result);
    case 'incident_opened':
      return isName(body.incidentId) && isText(body.reason, 256);
    case 'incident_closed':
      return isName(body.incidentId);
    case 'submission_prepared':
      return isUuid(body.submissionId) && isBatch(body);
    case 'submission_submitted':
      return isUuid(body.submissionId) && isHash(body.transactionHash);
    case 'submission_retrying':
      return isUuid(body.submissionId) && (body.transactionHash === null || isHash(body.transactionHash));
    case 'submission_confirmed':
    case 'submission_reverted':
    case 'submission_superseded':
      return isUuid(body.submissionId);
    default:
      return false;
  }
}

/** At least one round, at most 16 active ones, and no more active ones than rounds; sums within their bounds. */
function isBatch(body: Json): boolean {
  const {
    previousSettledThroughRound: previous,
    settledThroughRound: through,
    activeRoundCount: active,
    expected,
  } = body;
  if (!isDecimal(previous, uint64Max) || !isDecimal(through, uint64Max) || !isInteger(active, 0, 16))
    return false;
  const roundCount = BigInt(through) - BigInt(previous);
  if (roundCount < 1n || BigInt(active as number) > roundCount || !isObject(expected)) return false;
  const { cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks, completedBlockCount } = expected;
  if (![cumulativeWork, cumulativeBlockUnits, workPerThousandBlocks].every((value) => isDecimal(value)))
    return false;
  if (workPerThousandBlocks === '0' || !isDecimal(completedBlockCount, uint64Max)) return false;
  const sums = readExpected(expected);
  return isWithinBounds(sums) && sums.completedBlockCount <= sums.cumulativeBlockUnits / blockUnitsPerBlock;
}

function readExpected(expected: Json): Submission['expected'] {
  const read = (name: string) => BigInt(expected[name] as string);
  return {
    cumulativeWork: read('cumulativeWork'),
    cumulativeBlockUnits: read('cumulativeBlockUnits'),
    workPerThousandBlocks: read('workPerThousandBlocks'),
    completedBlockCount: read('completedBlockCount'),
  };
}

function hearReporter(settlement: Settlement, ended: Ended, body: Json): Refusal {
  const atMs = Date.parse(body.at as string);
  switch (body.type) {
    case 'settings':
      settlement.settlementEnabled = body.settlementEnabled as boolean;
      settlement.reporterEnvironmentEnabled = body.reporterEnvironmentEnabled as boolean;
      return null;
    case 'run_started': {
      const { runUnderWay } = settlement;
      const runId = body.runId as string;
      if (runUnderWay?.runId === runId || ended.runs.has(runId)) return notAllowed;
      if (runUnderWay !== null) ended.runs.add(runUnderWay.runId);
      settlement.runUnderWay = { runId, startedAtMs: atMs };
      return null;
    }
    case 'run_finished': {
      const { runUnderWay } = settlement;
      if (runUnderWay?.runId !== body.runId || runUnderWay === null) return notAllowed;
      const { runId, startedAtMs } = runUnderWay;
      settlement.lastRun = { startedAtMs, finishedAtMs: atMs, result: body.result as string };
      settlement.runUnderWay = null;
      ended.runs.add(runId);
      return null;
    }
    case 'incident_opened': {
      const id = body.incidentId as string;
      const { openIncidents } = settlement;
      if (openIncidents.has(id) || ended.incidents.has(id) || openIncidents.size >= 64) return notAllowed;
      openIncidents.add(id);
      return null;
    }
    case 'incident_closed':
      if (!settlement.openIncidents.delete(body.incidentId as string)) return notAllowed;
      ended.incidents.add(body.incidentId as string);
      return null;
    case 'submission_prepared':
      return prepare(settlement, body, atMs);
    default:
      return move(settlement, body, atMs);
  }
}

/** The submission before it is terminal, and this one is new. */
function prepare(settlement: Settlement, body: Json, atMs: number): Refusal {
  const submissionId = (body.submissionId as string).toLowerCase();
  const { submissions } = settlement;
  const latest = submissions.at(-1);
  if (latest !== undefined && latest.terminalAtMs === null) return notAllowed;
  if (submissions.some((one) => one.submissionId === submissionId)) return notAllowed;
  submissions.push({
    submissionId,
    lifecycle: 'preparing',
    previousSettledThroughRound: BigInt(body.previousSettledThroughRound as string),
    settledThroughRound: BigInt(body.settledThroughRound as string),
    activeRoundCount: body.activeRoundCount as number,
    expected: readExpected(body.expected as Json),
    transactionHash: null,
    createdAtMs: atMs,
    submittedAtMs: null,
    terminalAtMs: null,
    changedAtMs: atMs,
  });
  return null;
}

/** Whether the latest submission may become what a message says (CONTRACT.md, Submission lifecycle). */
function mayBecome({ lifecycle, submittedAtMs }: Submission, next: Lifecycle): boolean {
  const unsent: Lifecycle[] = ['submitted', 'retrying', 'superseded'];
  const sent: Lifecycle[] = ['confirmed', 'reverted', 'superseded'];
  switch (lifecycle) {
    case 'preparing':
      return unsent.includes(next);
    case 'submitted':
      return next === 'retrying' || sent.includes(next);
    case 'retrying':
      return unsent.includes(next) || (submittedAtMs !== null && sent.includes(next));
    default:
      return false;
  }
}

function move({ submissions }: Settlement, body: Json, atMs: number): Refusal {
  const latest = submissions.at(-1);
  const next = (body.type as string).replace('submission_', '') as Lifecycle;
  if (latest?.submissionId !== (body.submissionId as string).toLowerCase() || latest === undefined)
    return notAllowed;
  if (!mayBecome(latest, next)) return notAllowed;
  submissions[submissions.length - 1] = {
    ...latest,
    lifecycle: next,
    // A known transaction stays known .
    transactionHash:
      (body.transactionHash as string | null | undefined)?.toLowerCase() ?? latest.transactionHash,
    submittedAtMs: next === 'submitted' ? (latest.submittedAtMs ?? atMs) : latest.submittedAtMs,
    terminalAtMs: terminal.includes(next) ? atMs : null,
    changedAtMs: atMs,
  };
  return null;
}
