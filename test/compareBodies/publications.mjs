// What is published in addition to the simulation: other installations, every reason to reject a message, and the messages
// that arrive during a record.
import { createHash } from 'node:crypto';

/** The installation of the simulation, which is the public one. */
export const publicInstallation = 'wheel.local';
/** Of anvil's chain. */
export const spanSubject = 'miner.chain.31337.span';
export const otherInstallations = ['wheel.two', 'wheel:three'];

const isoString = (ms) => new Date(ms).toISOString();
const token = (id) => id.replaceAll('.', '~');

/** A UUID that is always the same for the same text. */
function deriveUuid(text) {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function createReading(installationId, observedAtMs, sequence, members = {}) {
  return {
    telemetryId: deriveUuid(`${installationId} reading ${observedAtMs} ${sequence}`),
    installationId,
    bootId: deriveUuid(`${installationId} boot`),
    sequence,
    observedAt: isoString(observedAtMs),
    receivedAt: isoString(observedAtMs + 50),
    counterEpoch: deriveUuid(`${installationId} epoch`),
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

const toCounterMessage = (installationId, body) => ({
  subject: `miner.counter.${token(installationId)}`,
  body: JSON.stringify(body),
});
const toOracleMessage = (installationId, type, atMs, members) => ({
  subject: `miner.oracle.${token(installationId)}`,
  body: JSON.stringify({ type, at: isoString(atMs), ...members }),
});
const toReporterMessage = (installationId, type, atMs, members) => ({
  subject: `miner.reporter.${token(installationId)}`,
  body: JSON.stringify({ type, at: isoString(atMs), ...members }),
});

function toModuleMessage(installationId, instanceId, atMs, state, members = {}) {
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
function createOtherReadings(untilMs) {
  const minutes = 120;
  const provenances = ['hardware', 'simulated', 'replay', 'derived'];
  return otherInstallations.flatMap((installationId, which) =>
    Array.from({ length: minutes }, (_, minute) => {
      const atMs = untilMs - (minutes - minute) * 60_000;
      const good = createReading(installationId, atMs, minute, {
        provenance: provenances[(minute + which) % provenances.length],
        coreStatus: minute % 50 === 49 ? 'COUNTER_FAULT' : minute % 7 === 0 ? 'IDLE' : 'ACTIVE',
        softwareVersion: which === 0 ? null : `1.0.${minute % 3}`,
        // The second one counts close to the largest uint256, and gets a new counter after half of the time.
        ...(which === 1 && {
          cumulativeWorkUnits: String(
            minute < minutes / 2 ? 2n ** 256n - 1_000n + BigInt(minute) : BigInt(minute),
          ),
          counterEpoch: deriveUuid(`${installationId} epoch ${minute < minutes / 2}`),
        }),
      });
      switch (minute) {
        case 20:
          return { ...toCounterMessage(installationId, good), body: '{"telemetryId":' };
        case 21:
          return toCounterMessage('another', good);
        case 22:
          return toCounterMessage(installationId, { ...good, observedAt: isoString(atMs + 300_051) });
        case 23:
          return toCounterMessage(installationId, { ...good, sequence: 5 });
        case 24:
          return toCounterMessage(installationId, { ...good, observedAt: isoString(atMs - 600_000) });
        case 25:
          return toCounterMessage(installationId, { ...good, cumulativeWorkUnits: '0' });
        case 26:
          return toCounterMessage(installationId, { ...good, softwareVersion: 'x'.repeat(17 * 1024) });
        case 27:
          return { ...toCounterMessage(installationId, good), body: 'ÿþ no JSON \u0000' };
        case 28:
          return toCounterMessage(installationId, { ...good, rpmMilli: -1, provenance: 'guessed' });
        default:
          return toCounterMessage(installationId, good);
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
function createSettlementMessages(untilMs) {
  const [other] = otherInstallations;
  const submissionId = deriveUuid('another submission');
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
    toOracleMessage(other, 'closure_accepted', untilMs, closed),
    toOracleMessage(other, 'closure_accepted', untilMs, closed),
    toOracleMessage(other, 'closure_accepted', untilMs, { ...closed, lastRound: '3' }),
    toReporterMessage(other, 'settings', untilMs, {
      settlementEnabled: true,
      reporterEnvironmentEnabled: false,
    }),
    toReporterMessage(other, 'run_started', untilMs, { runId: 'run-1' }),
    toReporterMessage(other, 'submission_prepared', untilMs, { ...prepared, settledThroughRound: '0' }),
    toReporterMessage(other, 'submission_prepared', untilMs, prepared),
    toReporterMessage(other, 'submission_confirmed', untilMs, { submissionId }),
    toReporterMessage(other, 'submission_retrying', untilMs, { submissionId, transactionHash: null }),
    toReporterMessage(other, 'submission_submitted', untilMs, {
      submissionId,
      transactionHash: `0x${'5'.repeat(64)}`,
    }),
    toReporterMessage(other, 'submission_reverted', untilMs, { submissionId }),
    toReporterMessage(other, 'submission_confirmed', untilMs, { submissionId }),
    toReporterMessage(other, 'run_finished', untilMs, { runId: 'run-2', result: 'settled' }),
    toReporterMessage(other, 'run_finished', untilMs, { runId: 'run-1', result: 'reverted' }),
    toReporterMessage(publicInstallation, 'incident_opened', untilMs, {
      incidentId: 'incident-1',
      reason: 'a drill',
    }),
    toReporterMessage(publicInstallation, 'incident_opened', untilMs, {
      incidentId: 'incident-1',
      reason: 'again',
    }),
    toReporterMessage(publicInstallation, 'incident_closed', untilMs, { incidentId: 'incident-1' }),
    toReporterMessage(publicInstallation, 'incident_closed', untilMs, { incidentId: 'incident-2' }),
    toOracleMessage(publicInstallation, 'blocked', untilMs, { reason: 'a drill' }),
    toOracleMessage(publicInstallation, 'unblocked', untilMs),
    toOracleMessage(publicInstallation, 'unblocked', untilMs),
    toOracleMessage(publicInstallation, 'closed_again', untilMs),
  ];
}

function createModuleMessages(untilMs) {
  const states = ['disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'];
  return [
    ...states.map((state, index) => toModuleMessage(publicInstallation, `test.${index}`, untilMs, state)),
    toModuleMessage(publicInstallation, 'test.0', untilMs - 60_000, 'ready'),
    toModuleMessage(publicInstallation, 'test.6', untilMs, 'asleep'),
    {
      ...toModuleMessage(publicInstallation, 'test.0', untilMs, 'ready'),
      subject: 'miner.module.wheel~local.test~1',
    },
    toModuleMessage(otherInstallations[0], 'test.0', untilMs, 'ready'),
    { subject: `miner.signer.${token(publicInstallation)}`, body: '{"kind":"unknown"}' },
  ];
}

/** In the order in which they are published. */
export function createSupplements(untilMs) {
  return [
    ...createOtherReadings(untilMs),
    ...createSettlementMessages(untilMs),
    ...createModuleMessages(untilMs),
  ];
}

/** After the last span of the chain: spans that are rejected, the last one since it has no fork number of its own. */
export function createFollowingSpans(span) {
  const bodies = [
    {},
    { ...span, fromBlock: '900000', toBlock: '900000' },
    { ...span, parentHash: `0x${'6'.repeat(64)}` },
    { ...span, hash: `0x${'7'.repeat(64)}`, blocks: [] },
  ];
  return bodies.map((body) => ({ subject: spanSubject, body: JSON.stringify(body) }));
}

/** A reading of the public wheel after another restart of the device. */
function createReadingAfterReboot(atMs, sequence, members) {
  const rebooted = { bootId: deriveUuid('later boot'), counterEpoch: deriveUuid('later epoch') };
  return toCounterMessage(
    publicInstallation,
    createReading(publicInstallation, atMs, sequence, { ...rebooted, speedMmPerSecond: 4_000, ...members }),
  );
}

/** Everything that blocks is published, and the wheel has a counter that nobody has approved. */
export function createBlockingMessages(atMs) {
  return [
    createReadingAfterReboot(atMs, 1),
    toOracleMessage(publicInstallation, 'blocked', atMs, { reason: 'the evidence differs' }),
    toReporterMessage(publicInstallation, 'incident_opened', atMs, {
      incidentId: 'incident-3',
      reason: 'later',
    }),
    toModuleMessage(publicInstallation, 'test.2', atMs, 'faulted'),
  ];
}

/** Nothing blocks any more; the counter fails, and settlement is disabled. */
export function createFaultMessages(atMs) {
  const settings = { settlementEnabled: false, reporterEnvironmentEnabled: true };
  return [
    createReadingAfterReboot(atMs + 1_000, 2, { coreStatus: 'COUNTER_FAULT' }),
    toOracleMessage(publicInstallation, 'unblocked', atMs),
    toReporterMessage(publicInstallation, 'incident_closed', atMs, { incidentId: 'incident-3' }),
    toReporterMessage(publicInstallation, 'settings', atMs, settings),
  ];
}
