// What is published beside the simulation: other installations, every reason to reject a message, and what comes later.
import { createHash } from 'node:crypto';

/** The installation of the simulation, which is the public one. */
export const publicInstallation = 'wheel.local';
export const otherInstallations = ['wheel.two', 'wheel:three'];

const isoString = (ms) => new Date(ms).toISOString();
const token = (id) => id.replaceAll('.', '~');

/** A UUID that is always the same for the same text. */
export function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function reading(installationId, observedAtMs, sequence, members = {}) {
  return {
    telemetryId: uuidOf(`${installationId} reading ${observedAtMs} ${sequence}`),
    installationId,
    bootId: uuidOf(`${installationId} boot`),
    sequence,
    observedAt: isoString(observedAtMs),
    receivedAt: isoString(observedAtMs + 50),
    counterEpoch: uuidOf(`${installationId} epoch`),
    cumulativeWorkUnits: String(sequence * 7),
    provenance: 'hardware',
    softwareVersion: null,
    coreStatus: 'ACTIVE',
    rpmMilli: (sequence * 31) % 60_000,
    speedMmPerSecond: (sequence * 13) % 900,
    distanceMm: sequence * 30,
    ...members,
  };
}

const counter = (installationId, body) => ({
  subject: `miner.counter.${token(installationId)}`,
  body: JSON.stringify(body),
});
const oracle = (installationId, type, atMs, members) => ({
  subject: `miner.oracle.${token(installationId)}`,
  body: JSON.stringify({ type, at: isoString(atMs), ...members }),
});
const reporter = (installationId, type, atMs, members) => ({
  subject: `miner.reporter.${token(installationId)}`,
  body: JSON.stringify({ type, at: isoString(atMs), ...members }),
});

function module(installationId, instanceId, atMs, state, members = {}) {
  const at = isoString(atMs);
  return {
    subject: `miner.module.${token(installationId)}.${token(instanceId)}`,
    body: JSON.stringify({
      instanceId,
      moduleType: 'test',
      driverId: 'none',
      moduleVersion: '1.2.3',
      schemaVersion: 2,
      state,
      observedAt: at,
      provenance: 'derived',
      health: { checkedAt: at, message: state, code: null },
      data: { secret: state },
      ...members,
    }),
  };
}

/** Two hours of two more wheels, one reading a minute, with every reason to reject one. */
function readingsOfOthers(untilMs) {
  const minutes = 120;
  const provenances = ['hardware', 'simulated', 'replay', 'derived'];
  return otherInstallations.flatMap((installationId, which) =>
    Array.from({ length: minutes }, (_, minute) => {
      const atMs = untilMs - (minutes - minute) * 60_000;
      const good = reading(installationId, atMs, minute, {
        provenance: provenances[(minute + which) % provenances.length],
        coreStatus: minute % 50 === 49 ? 'COUNTER_FAULT' : minute % 7 === 0 ? 'IDLE' : 'ACTIVE',
        softwareVersion: which === 0 ? null : `1.0.${minute % 3}`,
        // The second one counts near the end of what fits, and is given a new counter after half of the time.
        ...(which === 1 && {
          cumulativeWorkUnits: String(
            minute < minutes / 2 ? 2n ** 256n - 1_000n + BigInt(minute) : BigInt(minute),
          ),
          counterEpoch: uuidOf(`${installationId} epoch ${minute < minutes / 2}`),
        }),
      });
      switch (minute) {
        case 20:
          return { ...counter(installationId, good), body: '{"telemetryId":' };
        case 21:
          return counter('another', good);
        case 22:
          return counter(installationId, { ...good, observedAt: isoString(atMs + 300_051) });
        case 23:
          return counter(installationId, { ...good, sequence: 5 });
        case 24:
          return counter(installationId, { ...good, observedAt: isoString(atMs - 600_000) });
        case 25:
          return counter(installationId, { ...good, cumulativeWorkUnits: '0' });
        case 26:
          return counter(installationId, { ...good, softwareVersion: 'x'.repeat(17 * 1024) });
        case 27:
          return { ...counter(installationId, good), body: 'ÿþ no JSON \u0000' };
        case 28:
          return counter(installationId, { ...good, rpmMilli: -1, provenance: 'guessed' });
        default:
          return counter(installationId, good);
      }
    }),
  );
}

const expected = {
  cumulativeWork: '1',
  cumulativeBlockUnits: '2500',
  workPerThousandBlocks: '400000',
  completedBlockCount: '0',
};

/** A settlement of another installation, an incident and a block of the public one, and what is not allowed. */
function settlementMessages(untilMs) {
  const [other] = otherInstallations;
  const submissionId = uuidOf('another submission');
  const rounds = [
    { roundId: '1', workUnits: '1' },
    { roundId: '2', workUnits: '0' },
  ];
  const closed = { firstRound: '1', lastRound: '2', rounds, acceptedAt: isoString(untilMs) };
  const prepared = {
    submissionId,
    previousSettledThroughRound: '0',
    settledThroughRound: '2',
    activeRoundCount: 1,
    expected,
  };
  return [
    oracle(other, 'closure_accepted', untilMs, closed),
    oracle(other, 'closure_accepted', untilMs, closed),
    oracle(other, 'closure_accepted', untilMs, { ...closed, lastRound: '3' }),
    reporter(other, 'settings', untilMs, { settlementEnabled: true, reporterEnvironmentEnabled: false }),
    reporter(other, 'run_started', untilMs, { runId: 'run-1' }),
    reporter(other, 'submission_prepared', untilMs, { ...prepared, settledThroughRound: '0' }),
    reporter(other, 'submission_prepared', untilMs, prepared),
    reporter(other, 'submission_confirmed', untilMs, { submissionId }),
    reporter(other, 'submission_retrying', untilMs, { submissionId, transactionHash: null }),
    reporter(other, 'submission_submitted', untilMs, {
      submissionId,
      transactionHash: `0x${'5'.repeat(64)}`,
    }),
    reporter(other, 'submission_reverted', untilMs, { submissionId }),
    reporter(other, 'submission_confirmed', untilMs, { submissionId }),
    reporter(other, 'run_finished', untilMs, { runId: 'run-2', result: 'settled' }),
    reporter(other, 'run_finished', untilMs, { runId: 'run-1', result: 'reverted' }),
    reporter(publicInstallation, 'incident_opened', untilMs, { incidentId: 'incident-1', reason: 'a drill' }),
    reporter(publicInstallation, 'incident_opened', untilMs, { incidentId: 'incident-1', reason: 'again' }),
    reporter(publicInstallation, 'incident_closed', untilMs, { incidentId: 'incident-1' }),
    reporter(publicInstallation, 'incident_closed', untilMs, { incidentId: 'incident-2' }),
    oracle(publicInstallation, 'blocked', untilMs, { reason: 'a drill' }),
    oracle(publicInstallation, 'unblocked', untilMs),
    oracle(publicInstallation, 'unblocked', untilMs),
    oracle(publicInstallation, 'closed_again', untilMs),
  ];
}

function moduleMessages(untilMs) {
  const states = ['disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'];
  return [
    ...states.map((state, index) => module(publicInstallation, `test.${index}`, untilMs, state)),
    module(publicInstallation, 'test.0', untilMs - 60_000, 'ready'),
    module(publicInstallation, 'test.6', untilMs, 'asleep'),
    { ...module(publicInstallation, 'test.0', untilMs, 'ready'), subject: 'miner.module.wheel~local.test~1' },
    module(otherInstallations[0], 'test.0', untilMs, 'ready'),
    { subject: `miner.signer.${token(publicInstallation)}`, body: '{"kind":"unknown"}' },
  ];
}

/** In the order in which they are published. */
export function publicationsBesideSimulation(untilMs) {
  return [...readingsOfOthers(untilMs), ...settlementMessages(untilMs), ...moduleMessages(untilMs)];
}

/** Behind the last span of the chain: what is refused, and another block in the place of the newest one. */
export function spansBehind(span) {
  const subject = `miner.chain.${span.chainId ?? '31337'}.span`;
  const bodies = [
    {},
    { ...span, fromBlock: '900000', toBlock: '900000' },
    { ...span, parentHash: `0x${'6'.repeat(64)}` },
    { ...span, hash: `0x${'7'.repeat(64)}`, blocks: [] },
  ];
  return bodies.map((body) => ({ subject, body: JSON.stringify(body) }));
}

/**
 * What is published to a running service, step by step, each followed by all requests: first everything that blocks is
 * said and the wheel has a counter that nobody has approved, then the counter fails and settlement is disabled.
 */
export function laterPublications(atMs) {
  const sequence = 1_000_000_000;
  const rebooted = {
    bootId: uuidOf('later boot'),
    counterEpoch: uuidOf('later epoch'),
    speedMmPerSecond: 4_000,
  };
  return [
    [
      counter(publicInstallation, reading(publicInstallation, atMs, sequence, rebooted)),
      oracle(publicInstallation, 'blocked', atMs, { reason: 'the evidence differs' }),
      reporter(publicInstallation, 'incident_opened', atMs, { incidentId: 'incident-3', reason: 'later' }),
      module(publicInstallation, 'test.2', atMs, 'faulted'),
    ],
    [
      counter(
        publicInstallation,
        reading(publicInstallation, atMs + 1_000, sequence + 1, { ...rebooted, coreStatus: 'COUNTER_FAULT' }),
      ),
      oracle(publicInstallation, 'unblocked', atMs),
      reporter(publicInstallation, 'incident_closed', atMs, { incidentId: 'incident-3' }),
      reporter(publicInstallation, 'settings', atMs, {
        settlementEnabled: false,
        reporterEnvironmentEnabled: true,
      }),
    ],
  ];
}
