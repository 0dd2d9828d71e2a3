import { getContract } from 'viem';
import { coreAbi } from '../../actors/chain/spans/contractAbis.ts';
import { countWholeBlocks } from '../../actors/chain/state/blockUnits.ts';
import {
  type Frontier,
  settleBatch,
  splitIntoBatches,
} from '../../actors/chain/state/settlementArithmetic.ts';
import { oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { toTransactionHash } from '../../actors/schemas/hex.ts';
import type { OracleMessage } from '../../actors/settlement/oracleMessage.ts';
import type { ReporterMessage } from '../../actors/settlement/reporterMessage.ts';
import { roundSeconds } from '../../actors/wheel/roundFold.ts';
import type { Submission } from '../../machines/submission.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import type { EconomyActions } from './economyActions.ts';
import type { LocalChainClient } from './localChainClient.ts';
import { createSeededUuid, type Draw } from './seeded.ts';
import type { StreamObserver } from './streamObserver.ts';

/** Closed rounds are settled once this many of them wait. */
const settleAtRounds = 6;

/** A message without the time, which `publish` adds. */
type Untimed<Message> = Message extends unknown ? Omit<Message, 'at'> : never;

export interface SimulatedReporterOptions {
  readonly client: LocalChainClient;
  readonly core: `0x${string}`;
  readonly actions: EconomyActions;
  readonly observer: StreamObserver;
  readonly jetStream: Pick<StreamPort, 'publish'>;
  readonly installationId: string;
  readonly seed: string;
  /** Start of round 1, Unix seconds. */
  readonly genesisSeconds: number;
}

/**
 * An oracle and a settlement reporter in miniature: they read the rounds, accept closures, prepare submissions, settle on the
 * local chain, handle reverts and retries, and report each step. They read all their state from the streams and the chain, so
 * another process can continue after a kill.
 */
export function createSimulatedReporter(options: SimulatedReporterOptions) {
  const { client, core, actions, observer, jetStream, installationId, seed, genesisSeconds } = options;
  const { read } = getContract({ client, address: core, abi: coreAbi });

  async function publish(subject: string, seconds: number, body: object) {
    const at = new Date(seconds * 1000).toISOString();
    await observer.folded(await jetStream.publish(subject, JSON.stringify({ at, ...body })));
  }
  const oracle = (seconds: number, message: Untimed<OracleMessage>) =>
    publish(oracleSubject(installationId), seconds, message);
  const report = (seconds: number, message: Untimed<ReporterMessage>) =>
    publish(reporterSubject(installationId), seconds, message);

  /** Approves the wheel's epoch, and closes every ended round that the readings cover. */
  async function close(seconds: number) {
    const { approvedEpochs, closure } = observer.settlement().snapshot.context;
    const counterEpoch = observer.counterEpoch();
    if (counterEpoch !== null && !approvedEpochs.includes(counterEpoch)) {
      await oracle(seconds, { type: 'epoch_approved', counterEpoch });
    }
    const knownSeconds = Math.min(seconds, (observer.newestReadingMs() ?? 0) / 1000);
    const ended = Math.floor((knownSeconds - genesisSeconds) / roundSeconds);
    const first = Number(closure?.lastRound ?? 0n) + 1;
    if (ended < first) return;
    // A round that was not observed is closed without work. That is the oracle's decision, not a measurement.
    const rounds = Array.from({ length: ended - first + 1 }, (_, index) => ({
      roundId: String(first + index),
      workUnits: String(observer.findWork(first + index) ?? 0n),
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
    const { settlementEnabled } = observer.settlement().snapshot.context;
    if (!settlementEnabled) {
      await report(seconds, { type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: true });
    }
    const runId = `run-${seconds}`;
    await report(seconds, { type: 'run_started', runId });
    const result = await settleOnce(seconds, draw, mine);
    await report(seconds, { type: 'run_finished', runId, result });
  }

  async function settleOnce(seconds: number, draw: Draw, mine: () => Promise<void>): Promise<string> {
    const { snapshot, closedRounds } = observer.settlement();
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
