import { expect, it } from 'vitest';
import {
  counterSubject,
  moduleSubject,
  oracleSubject,
  reporterSubject,
  signerSubject,
} from '../../actors/messages/subjects.ts';
import { configureSale } from '../simulation/chain/contracts/collectionContract.ts';
import { settle } from '../simulation/chain/contracts/coreContract.ts';
import { genesisMs } from '../support/genesis.ts';
import { deriveUuid, readingMessage } from '../support/readings/readingMessages.ts';
import { compareChainRoutes } from '../support/reference/compareChainRoutes.ts';
import { type ComparedProgram, startComparedProgram } from '../support/reference/comparedProgram.ts';
import { createComparedWorld, worldDeployment, worldOwners } from '../support/reference/comparedWorld.ts';
import { listUnseenQuantities } from '../support/reference/seenQuantities.ts';

const live = (minutes: number, work: number, actions: number) => ({
  do: 'live' as const,
  minutes,
  work,
  actions,
  isClosing: true,
  isCaughtUp: true,
  coreStatus: 'ACTIVE',
  epoch: 'first',
});

async function compareAll(program: ComparedProgram, limit: number) {
  const { compare } = program;
  for (const path of ['/v1/public/telemetry', '/v1/public/modules', '/v4/public/process', '/v1/status'])
    await compare(path);
  for (const id of ['wheel.one', 'unknown']) {
    await compare(`/v1/public/installations/${id}/telemetry`);
    for (const query of ['limit=90', `limit=100&cursor=${Buffer.from('3').toString('base64url')}`])
      await compare(`/v1/public/installations/${id}/observations?${query}`);
  }
  for (const range of ['7d', '30d'])
    for (const path of ['/v2/public/stats', '/v1/measurement/stats']) await compare(`${path}?range=${range}`);
  await compareChainRoutes(program, worldOwners, limit);
}

/** Nine days of readings without a gap, on a deployment without a chain: the last days of work, and one without. */
async function compareLongMeasurement() {
  const program = await startComparedProgram(worldDeployment(false), genesisMs);
  await compareAll(program, 9);
  let counter = 0;
  for (let index = 0; index <= 9 * 720; index++) {
    if (index > 0) program.clock.advance(120_000);
    const day = Math.floor(index / 720);
    counter += day === 3 ? 0 : 7 + day;
    for (const wheel of ['wheel.one', ...(index < 9 ? ['wheel-two'] : [])]) {
      const now = new Date(program.clock.nowMs()).toISOString();
      program.store(
        'MINER_COUNTER',
        counterSubject(wheel),
        readingMessage(wheel, index, {
          observedAt: now,
          receivedAt: now,
          cumulativeWorkUnits: String(counter),
          distanceMm: (index % 720) * 10_000 + day,
        }),
      );
    }
  }
  await compareAll(program, 9);
  await program.compare('/v1/public/installations/wheel-two/observations?limit=100');
  program.clock.advance(150_000);
  await compareAll(program, 9);
}

/** Quantities with one value per deployment. */
const fixed = new RegExp(
  [
    '\\.configuration\\.|\\.(?:rewardPerBlock|supplyCap|supplyCapBaseUnits|decimals)$',
    '\\.(?:miningImplementationVersion|implementation\\.codeVersion)$',
    // Of the collection's first level, and of the feed's rules.
    '\\.payload\\.(?:weight|minimumDailyDistanceMm)$',
  ].join('|'),
);

/** Quantities that are not computed, or reach one value at most, each with the reason. */
const unreached = new RegExp(
  [
    // Numbers of the deployment's file, and of the asset, which the state of mining has.
    '\\.chain\\.(?:chainId|deploymentBlock|economyDeploymentBlock)$|\\.source\\.chainId$|\\.payload\\.asset\\.decimals$',
    // Logs of the contracts as they are: `test/actors/chain/governance.test.ts`.
    '^/v1/core\\.(?:source|events\\[\\])\\.',
    // A token's text has no numbers of its own.
    '/metadata(?:/\\{tokenId\\})?\\.',
    // An event has one schema, whose members are compared in the feed.
    '^/v1/(?!events\\.).*\\.(?:events?|batches|checkpoints?|settlement)(?:\\[\\])?\\.(?:source|payload)\\.',
    // An action has one schema, whose members are compared in the activity of owners.
    '\\.transfers\\[\\]\\.',
    // Only in the schemas: the contract says they are never returned.
    '\\.payload\\.(?:previousRecordRpmMilli|recordRpmMilli|observedRpmMilli)$',
    // Each world has this time once.
    'stats\\.oracle\\.coverageStartedAt$',
  ].join('|'),
);

it('every number and time of every response is compared with at least two values', async () => {
  await compareLongMeasurement();

  const program = await startComparedProgram(worldDeployment(), genesisMs);
  const world = await createComparedWorld(program, 1);
  world.settle();
  await compareAll(program, 9);
  // The safe block precedes the economy's first block.
  await world.apply(live(9, 0, 0));
  world.settle();
  await compareAll(program, 9);
  const pipeline = (subject: string, body: object) =>
    program.store('MINER_PIPELINE', subject, { at: new Date(program.clock.nowMs()).toISOString(), ...body });
  const oracle = (body: object) => pipeline(oracleSubject('wheel.one'), body);
  const reporter = (body: object) => pipeline(reporterSubject('wheel.one'), body);
  const compareNow = async () => {
    world.settle();
    await compareAll(program, 8);
  };
  for (const [index, instanceId] of ['hall.1', 'core'].entries()) {
    pipeline(moduleSubject('wheel.one', instanceId), {
      instanceId,
      ...{ moduleType: 'sensor', driverId: 'driver', moduleVersion: '1.0.0', schemaVersion: index + 1 },
      ...{ state: 'ready', provenance: 'hardware', data: {} },
      observedAt: new Date(genesisMs + index).toISOString(),
      health: { checkedAt: new Date(genesisMs + index).toISOString() },
    });
  }
  oracle({ type: 'epoch_approved', counterEpoch: deriveUuid('first') });
  reporter({ type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: true });
  await world.apply(live(20, 60, 3));
  await compareNow();
  for (const [index, state] of (['submitted', 'retrying', 'confirmed'] as const).entries()) {
    pipeline(signerSubject('wheel.one'), {
      ...{ kind: 'software-ecdsa', algorithm: 'ES256', keySlot: '0' },
      enrolledAt: new Date(genesisMs - index).toISOString(),
      lastVerifiedAt: new Date(genesisMs + index).toISOString(),
      lastSignature: Buffer.from(`signature ${index}`).toString('base64'),
    });
    reporter({ type: 'run_started', runId: `run ${index}` });
    program.clock.advance(1_000);
    reporter({ type: 'run_finished', runId: `run ${index}`, result: `result ${index}` });
    const submissionId = deriveUuid(`submission ${index}`);
    reporter({
      type: 'submission_prepared',
      submissionId,
      previousSettledThroughRound: String(index),
      settledThroughRound: String(index * 3 + 2),
      activeRoundCount: index,
      expected: {
        cumulativeWork: String(1_800 + index),
        cumulativeBlockUnits: String(2_345_678_901 + index * 1_234_567_890),
        workPerThousandBlocks: String(900_001 + index * 1_000),
        completedBlockCount: String(index),
      },
    });
    await compareNow();
    for (const move of (['submitted', 'retrying', 'confirmed'] as const).slice(0, index + 1)) {
      program.clock.advance(1_000);
      reporter({
        type: `submission_${move}`,
        submissionId,
        ...(move !== 'confirmed' && { transactionHash: `0x${String(index).padStart(64, '0')}` }),
      });
    }
    await world.apply(live(12, 60 * (index + 1), 3));
    await compareNow();
    if (state !== 'confirmed')
      reporter({ type: index === 0 ? 'submission_reverted' : 'submission_superseded', submissionId });
    await compareNow();
  }
  // A repeated signer does not become the newest again.
  const firstSigner = program.stored.MINER_PIPELINE.find(
    ({ subject }) => subject === signerSubject('wheel.one'),
  );
  program.store('MINER_PIPELINE', signerSubject('wheel.one'), firstSigner?.data as Uint8Array);
  reporter({ type: 'incident_opened', incidentId: 'i', reason: 'drift' });
  oracle({ type: 'blocked', reason: 'drift' });
  await world.apply({ ...live(30, 900, 5), coreStatus: 'IDLE' });
  await compareNow();
  // Days later.
  for (let day = 0; day < 3; day++) {
    await world.apply({ do: 'wait', seconds: 80_000 });
    // Its closure covers all rounds of these hours.
    await world.apply(live(1, 700, 5));
    await compareNow();
    await world.apply(live(30, 700, 5));
    await compareNow();
  }
  await world.apply({ do: 'reorganize', depth: 20 });
  await compareNow();
  reporter({ type: 'incident_closed', incidentId: 'i' });
  reporter({ type: 'settings', settlementEnabled: false, reporterEnvironmentEnabled: false });
  await world.mine([
    (transaction) =>
      configureSale(transaction, {
        allowlistStart: transaction.timestamp + 900n,
        allowlistEnd: transaction.timestamp + 1_800n,
        publicPrice: 7n,
        publicAllocation: 2_500n,
        protocolReserve: 300n,
      }),
  ]);
  for (const actions of [0, 4]) {
    await world.apply(live(17, 900, actions));
    await compareNow();
  }
  for (const [skipped, workUnits] of [
    [0, '1000001'],
    [1, '7'],
  ] as const) {
    await world.apply({ do: 'close', skipped, rounds: 1, workUnits });
    await world.apply(live(25, 900, 0));
    await compareNow();
  }
  // Blocks of a settled round that no checkpoint has minted for.
  await world.apply(live(12, 900, 0));
  await world.mine([
    (transaction) => {
      const roundId = transaction.state.core.settledThroughRound + 1n;
      settle(transaction, { through: roundId, active: [{ roundId, workUnits: 4_000n }] });
    },
  ]);
  await world.apply(live(14, 900, 0));
  await compareNow();
  await world.apply({ do: 'wait', seconds: 86_400 * 8 });
  await world.apply({ ...live(14, 5, 1), epoch: 'second', coreStatus: 'COUNTER_FAULT' });
  await compareNow();
  const unseen = listUnseenQuantities((member) => fixed.test(member));
  expect(unseen.filter((member) => !unreached.test(member))).toEqual([]);
});
