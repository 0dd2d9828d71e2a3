import type { SimulatedNats } from '../nats/simulatedNats.ts';
import type { Random } from '../world/random.ts';
import { createPublisher } from './publisher.ts';

/** Device agent, oracle and reporter of an installation. Their messages are often late, repeated or not allowed. */
export type SettlementPublishers = ReturnType<typeof createSettlementPublishers>;

interface SettlementPublishersOptions {
  readonly nats: SimulatedNats;
  readonly random: Random;
  readonly wallMs: () => number;
  /** Start of the first round (epoch milliseconds). */
  readonly genesisMs: number;
  /** Counter epoch of the installation's wheel. */
  readonly counterEpoch: () => string;
}

const installation = 'wheel.one';
const token = 'wheel~one';
/** How far a wrong clock is ahead: ten years. */
const aheadMs = 3_650 * 86_400_000;
const moduleStates = ['disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'];

export function createSettlementPublishers({
  nats,
  random,
  wallMs,
  genesisMs,
  counterEpoch,
}: SettlementPublishersOptions) {
  const publisher = createPublisher(nats, 'MINER_PIPELINE', random);
  const at = (lateMs = 0) => new Date(Math.floor(wallMs()) - lateMs).toISOString();
  /** Ended runs and incidents stay ended, so names change over time. */
  const pickNumber = () => Math.floor(said / 50) * 10 + random.integer(0, 9);
  const pickUuid = () => `00000000-0000-4000-8000-${String(pickNumber()).padStart(12, '0')}`;
  /** Mostly the last name. */
  const pickAgain = (last: string, another: () => string) => (random.oneOf(5) ? another() : last);
  const pickHash = () => `0x${String(random.integer(1, 3)).padStart(64, '0')}`;
  let closedThrough = 0;
  let said = 0;
  const last = { run: '', incident: '', submission: '' };

  function drawClosure() {
    // Sometimes a closed round, or one too far ahead.
    const first = Math.max(1, closedThrough + (random.oneOf(6) ? random.integer(-3, 3) : 1));
    const drawn = Array.from({ length: random.integer(1, 6) }, () => Math.max(0, random.integer(-300, 900)));
    // Closes every ended round and sometimes more, because the core settles only closed rounds.
    const ended = Math.floor((wallMs() - genesisMs) / 600_000);
    const last = Math.min(Math.max(ended, first + drawn.length - 1), first + 1_007);
    // Rounds that have not ended are refused.
    if (last <= ended) closedThrough = Math.max(closedThrough, last);
    return {
      type: 'closure_accepted',
      firstRound: String(first),
      lastRound: String(last),
      rounds: Array.from({ length: last - first + 1 }, (_, index) => ({
        roundId: String(first + index),
        workUnits: String(drawn[index % drawn.length]),
      })),
      acceptedAt: at(),
    };
  }

  const begin = (what: keyof typeof last, id: string) => {
    last[what] = id;
    return id;
  };
  const pickName = (of: string) => `${of} ${pickNumber()}`;
  const closeIncident = () => ({
    type: 'incident_closed',
    incidentId: pickAgain(last.incident, () => pickName('i')),
  });

  const oracle = [
    drawClosure,
    drawClosure,
    () => ({ type: 'blocked', reason: random.pick(['clock', 'power']) }),
    () => ({ type: 'unblocked' }),
    () => ({ type: 'unblocked' }),
    () => ({ type: 'epoch_approved', counterEpoch: random.oneOf(4) ? pickUuid() : counterEpoch() }),
    () => ({ type: 'unknown' }),
  ];
  const reporter = [
    () => ({
      type: 'settings',
      settlementEnabled: !random.oneOf(4),
      reporterEnvironmentEnabled: random.oneOf(2),
    }),
    () => ({ type: 'run_started', runId: begin('run', pickName('run')) }),
    () => ({ type: 'run_finished', runId: pickAgain(last.run, () => pickName('run')), result: 'done' }),
    () => ({ type: 'incident_opened', incidentId: begin('incident', pickName('i')), reason: 'late' }),
    closeIncident,
    closeIncident,
    () => ({
      type: 'submission_prepared',
      submissionId: begin('submission', pickUuid()),
      previousSettledThroughRound: '1',
      settledThroughRound: random.pick(['3', '4']),
      activeRoundCount: 2,
      expected: {
        cumulativeWork: '1800',
        cumulativeBlockUnits: '2000000000',
        workPerThousandBlocks: '900000',
        completedBlockCount: random.pick(['1', '2', '3']),
      },
    }),
    () => ({
      type: 'submission_submitted',
      submissionId: pickAgain(last.submission, pickUuid),
      transactionHash: pickHash(),
    }),
    () => ({
      type: 'submission_retrying',
      submissionId: pickAgain(last.submission, pickUuid),
      transactionHash: random.oneOf(2) ? null : pickHash(),
    }),
    () => ({
      type: random.pick(['submission_confirmed', 'submission_reverted', 'submission_superseded']),
      submissionId: pickAgain(last.submission, pickUuid),
    }),
  ];

  function drawModule() {
    const instanceId = `module-${random.integer(1, 3)}`;
    return {
      subject: `miner.module.${token}.${random.oneOf(15) ? 'another' : instanceId}`,
      body: {
        instanceId,
        moduleType: 'counter',
        driverId: 'driver',
        moduleVersion: '1.0',
        schemaVersion: 1,
        state: random.pick(moduleStates),
        observedAt: at(random.oneOf(20) ? -aheadMs : random.oneOf(5) ? random.integer(0, 60_000) : 0),
        provenance: 'simulated',
        health: { checkedAt: at(), message: null, code: null },
        data: {},
      },
    };
  }

  function drawSigner() {
    return {
      subject: `miner.signer.${token}`,
      body: {
        kind: 'software-ecdsa',
        algorithm: 'secp256k1',
        keySlot: `slot ${random.integer(1, 3)}`,
        enrolledAt: at(86_400_000),
        lastVerifiedAt: at(random.oneOf(10) ? -aheadMs : 0),
        lastSignature: Buffer.from(installation).toString('base64'),
      },
    };
  }

  function draw(): { subject: string; body: object } {
    switch (random.integer(0, 9)) {
      case 0:
        return drawModule();
      case 1:
        return drawSigner();
      case 2:
      case 3:
      case 4:
        return {
          subject: `miner.oracle.${token}`,
          body: { at: at(random.integer(0, 3_000)), ...random.pick(oracle)() },
        };
      default:
        return {
          subject: `miner.reporter.${token}`,
          body: {
            at: at(random.oneOf(20) ? -aheadMs : random.integer(0, 3_000)),
            ...random.pick(reporter)(),
          },
        };
    }
  }

  return {
    flush: publisher.flush,
    publishOne: () => {
      said++;
      if (random.oneOf(8)) publisher.sendAgain();
      const { subject, body } = draw();
      publisher.send({ subject, messageId: null, body: Buffer.from(JSON.stringify(body)) });
    },
  };
}
