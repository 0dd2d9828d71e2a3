import { getContract } from 'viem';
import { coreAbi } from '../../actors/chain/spans/contractAbis.ts';
import { countWholeBlocks } from '../../actors/chain/state/blockUnits.ts';
import {
  type Frontier,
  settleBatch,
  splitIntoBatches,
} from '../../actors/chain/state/settlementArithmetic.ts';
import { type InputStreamName, oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { toTransactionHash } from '../../actors/schemas/hex.ts';
import type { OracleMessage } from '../../actors/settlement/oracleMessage.ts';
import type { ReporterMessage } from '../../actors/settlement/reporterMessage.ts';
import { findRoundWork } from '../../actors/wheel/dayHistory.ts';
import { roundSeconds } from '../../actors/wheel/roundFold.ts';
import type { Submission } from '../../machines/submission.ts';
import { pollUntil } from '../../storage/reading/awaitRows.ts';
import type { Service } from '../service/service.ts';
import type { EconomyActions } from './economyActions.ts';
import type { LocalChainClient } from './localChainClient.ts';
import { createSeededUuid, type Draw } from './seeded.ts';

/** Closed rounds are settled once this many of them wait. */
const settleAtRounds = 6;
const foldedPollMs = 5;

/** A message without the time, which `publish` adds. */
type Untimed<Message> = Message extends unknown ? Omit<Message, 'at'> : never;

export interface SimulatedReporterOptions {
  readonly client: LocalChainClient;
  readonly core: `0x${string}`;
  readonly actions: EconomyActions;
  /** In the same process. */
  readonly service: Pick<Service, 'actors' | 'foldedThrough' | 'jetStream'>;
  readonly signal: AbortSignal;
  readonly installationId: string;
  readonly seed: string;
  /** Start of round 1, Unix seconds. */
  readonly genesisSeconds: number;
}

/**
 * Waits until the service has folded a stream through a sequence.
 *
 * @throws Error if the signal is aborted before.
 */
export async function awaitFolded(
  { service, signal }: Pick<SimulatedReporterOptions, 'service' | 'signal'>,
  stream: InputStreamName,
  sequence: number,
): Promise<void> {
  const isFolded = () => service.foldedThrough(stream) >= sequence;
  if (!(await pollUntil(isFolded, { everyMs: foldedPollMs, signal }))) signal.throwIfAborted();
}

/**
 * An oracle and a settlement reporter in miniature: they read the rounds, accept closures, prepare submissions, settle on the
 * local chain, handle reverts and retries, and report each step. They read all their state from the service and the chain, so
 * another process can continue after a kill.
 */
export function createSimulatedReporter(options: SimulatedReporterOptions) {
  const { client, core, actions, service, installationId, seed, genesisSeconds } = options;
  const { read } = getContract({ client, address: core, abi: coreAbi });
  const { MINER_COUNTER: counters, MINER_PIPELINE: settlements } = service.actors;
  /** Sequence of the last published message. */
  let published = 0;

  async function publish(subject: string, seconds: number, body: object) {
    const at = new Date(seconds * 1000).toISOString();
    published = await service.jetStream().publish(subject, JSON.stringify({ at, ...body }));
  }
  const oracle = (seconds: number, message: Untimed<OracleMessage>) =>
    publish(oracleSubject(installationId), seconds, message);
  const report = (seconds: number, message: Untimed<ReporterMessage>) =>
    publish(reporterSubject(installationId), seconds, message);

  async function readSettlement() {
    await awaitFolded(options, 'MINER_PIPELINE', published);
    return settlements.settlement(installationId);
  }

  function findWork(roundId: number): bigint {
    const history = counters.history();
    const startMs = (genesisSeconds + (roundId - 1) * roundSeconds) * 1000;
    // A round that was not observed is closed without work. That is the oracle's decision, not a measurement.
    return (history && findRoundWork(history, startMs)) ?? 0n;
  }

  /** Approves the wheel's epoch, and closes every ended round that the readings cover. */
  async function close(seconds: number) {
    const newest = counters.installation(installationId)?.acceptance.latest;
    if (newest === undefined) return;
    const { counterEpoch, observedAtMs } = newest;
    const { approvedEpochs, closure } = (await readSettlement()).snapshot.context;
    if (!approvedEpochs.includes(counterEpoch)) {
      await oracle(seconds, { type: 'epoch_approved', counterEpoch });
    }
    const knownSeconds = Math.min(seconds, observedAtMs / 1000);
    const ended = Math.floor((knownSeconds - genesisSeconds) / roundSeconds);
    const first = Number(closure?.lastRound ?? 0n) + 1;
    if (ended < first) return;
    const rounds = Array.from({ length: ended - first + 1 }, (_, index) => ({
      roundId: String(first + index),
      workUnits: String(findWork(first + index)),
    }));
    await oracle(seconds, {
      type: 'closure_accepted',
      firstRound: String(first),
      lastRound: String(ended),
      rounds,
      acceptedAt: new Date(seconds * 1000).toISOString(),
    });
  }

  /** One run of the reporter; `mine` mines its transaction. */
  async function run(seconds: number, draw: Draw, mine: () => Promise<void>) {
    const { settlementEnabled } = (await readSettlement()).snapshot.context;
    if (!settlementEnabled) {
      await report(seconds, { type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: true });
    }
    const runId = `run-${seconds}`;
    await report(seconds, { type: 'run_started', runId });
    const result = await settleOnce(seconds, draw, mine);
    await report(seconds, { type: 'run_finished', runId, result });
  }

  async function settleOnce(seconds: number, draw: Draw, mine: () => Promise<void>): Promise<string> {
    const { snapshot, closedRounds } = await readSettlement();
    const { submission } = snapshot.context;
    const { frontier, configuration, nonce, isPaused } = await readCore();
    if (submission !== null && snapshot.matches({ submission: 'underWay' })) {
      await conclude(seconds, submission, frontier);
    }
    if (isPaused) return 'settlement_paused';
    const waiting = closedRounds.filter(({ roundId }) => roundId > frontier.settledThroughRound);
    if (waiting.size < settleAtRounds) return 'nothing_due';
    const [batch] = splitIntoBatches(waiting, configuration.maxRoundsPerBatch);
    if (batch === undefined) return 'nothing_due';

    const submissionId = createSeededUuid(`${seed}/submission/${seconds}`);
    const after = settleBatch(frontier, batch, configuration);
    const completed =
      countWholeBlocks(after.cumulativeBlockUnits) - countWholeBlocks(frontier.cumulativeBlockUnits);
    await report(seconds, {
      type: 'submission_prepared',
      submissionId,
      previousSettledThroughRound: frontier.settledThroughRound.toString(),
      settledThroughRound: after.settledThroughRound.toString(),
      activeRoundCount: batch.active.length,
      expected: {
        cumulativeWork: after.cumulativeWork.toString(),
        cumulativeBlockUnits: after.cumulativeBlockUnits.toString(),
        workPerThousandBlocks: after.workPerThousandBlocks.toString(),
        completedBlockCount: completed.toString(),
      },
    });
    if (draw('superseded') < 0.03) {
      await report(seconds, { type: 'submission_superseded', submissionId });
      return 'superseded';
    }
    if (draw('not sent') < 0.1) {
      await report(seconds, { type: 'submission_retrying', submissionId, transactionHash: null });
    }
    // Occasionally the core expects another nonce: the transaction is reverted, and the next run retries.
    const isStale = draw('reverted') < 0.05;
    const sent = await actions.settle({
      previousSettledThroughRound: frontier.settledThroughRound,
      settledThroughRound: after.settledThroughRound,
      active: batch.active,
      nonce: isStale ? nonce + 1n : nonce,
    });
    const transactionHash = toTransactionHash(sent);
    await report(seconds, { type: 'submission_submitted', submissionId, transactionHash });
    await mine();
    const { status } = await client.getTransactionReceipt({ hash: transactionHash });
    const isConfirmed = status === 'success';
    await report(seconds, {
      type: isConfirmed ? 'submission_confirmed' : 'submission_reverted',
      submissionId,
    });
    return isConfirmed ? 'settled' : 'reverted';
  }

  /** Ends a submission that an earlier process left unfinished. */
  async function conclude(seconds: number, submission: Submission, frontier: Frontier) {
    const { submissionId, submittedAtMs, settledThroughRound } = submission;
    const isSettled = submittedAtMs !== null && frontier.settledThroughRound >= settledThroughRound;
    await report(seconds, {
      type: isSettled ? 'submission_confirmed' : 'submission_superseded',
      submissionId,
    });
  }

  async function readCore() {
    const [
      settledThroughRound,
      cumulativeWork,
      cumulativeBlockUnits,
      workPerThousandBlocks,
      nonce,
      configuration,
      isPaused,
    ] = await Promise.all([
      read.settledThroughRound(),
      read.cumulativeWork(),
      read.cumulativeBlockUnits(),
      read.workPerThousandBlocks(),
      read.authorizationNonce(),
      read.configuration(),
      read.paused(),
    ]);
    const frontier: Frontier = {
      settledThroughRound,
      cumulativeWork,
      cumulativeBlockUnits,
      workPerThousandBlocks,
    };
    return { frontier, configuration, nonce, isPaused };
  }

  return { close, run };
}
