import { expect, it } from 'vitest';
import {
  counterSubject,
  moduleSubject,
  oracleSubject,
  reporterSubject,
  signerSubject,
} from '../../actors/messages/subjects.ts';
import {
  advanceMetadataEpoch,
  configureSale,
  pauseCollection,
  publishMetadata,
} from '../simulation/chain/contracts/collectionContract.ts';
import { pauseCore, unpauseCore } from '../simulation/chain/contracts/coreContract.ts';
import type { Transaction } from '../simulation/chain/contracts/economyState.ts';
import { guardian, operator } from '../simulation/chain/contracts/settings.ts';
import { genesisMs } from '../support/genesis.ts';
import { deriveUuid, readingMessage } from '../support/readings/readingMessages.ts';
import { compareChainRoutes } from '../support/reference/chainRoutes.ts';
import { listUnseenMembers } from '../support/reference/compareBodies.ts';
import { type ComparedProgram, startComparedProgram } from '../support/reference/comparedProgram.ts';
import { createComparedWorld, worldDeployment, worldOwners } from '../support/reference/comparedWorld.ts';

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
    for (const query of [
      'limit=2',
      'limit=0',
      'limit=1.5',
      'limit=',
      `cursor=${Buffer.from('3').toString('base64url')}`,
    ])
      await compare(`/v1/public/installations/${id}/observations?${query}`);
  }
  for (const range of ['7d', '30d'])
    for (const path of ['/v2/public/stats', '/v1/measurement/stats']) await compare(`${path}?range=${range}`);
  await compareChainRoutes(program, worldOwners, limit);
}

const publishAll = (transaction: Transaction) => {
  for (const tokenId of transaction.state.collection.owners.keys()) publishMetadata(transaction, tokenId);
};

/** Nine days of readings without a gap, on a deployment without a chain: the last days of work, and one without. */
async function compareLongMeasurement() {
  const program = await startComparedProgram(worldDeployment(false), genesisMs);
  await compareAll(program, 9);
  let counter = 0;
  for (let index = 0; index <= 9 * 720; index++) {
    if (index > 0) program.clock.advance(120_000);
    const day = Math.floor(index / 720);
    counter += day === 3 ? 0 : 7 + day;
    for (const [number, wheel] of ['wheel.one', ...(index < 9 ? ['wheel-two'] : [])].entries()) {
      const now = new Date(program.clock.nowMs()).toISOString();
      program.store(
        'MINER_COUNTER',
        counterSubject(wheel),
        readingMessage(wheel, index, {
          observedAt: now,
          receivedAt: now,
          cumulativeWorkUnits: String(counter),
          provenance: number === 0 ? 'hardware' : 'replay',
          softwareVersion: index === 1 ? null : '1.2.3',
          bootId: deriveUuid(`boot ${Math.floor(index / 2)}`),
          counterEpoch: deriveUuid(`epoch ${number} ${index < 3}`),
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

/** Members with one value per deployment. */
const fixed = new RegExp(
  [
    '\\.installationId$|\\.chain\\.(?:target|chainId|deploymentBlock|economyDeploymentBlock)$|\\.release\\.|\\.identities\\.',
    '\\.asset\\.|\\.economy\\.|\\.source\\.(?:chainId|target|releaseId|policyVersion)$',
    '\\.configuration\\.(?!guardian|reporter)|\\.(?:rewardPerBlock|supplyCap|supplyCapBaseUnits)$|\\.implementation\\.storageLayoutDigest$',
    // Members of the collection's first level, of each token's text, and of the feed's rules.
    '\\.payload\\.(?:weight|minimumDailyDistanceMm)$|metadata(?:/\\{tokenId\\})?\\.(?:description|collection)$',
  ].join('|'),
);

/** Members with one value at most, each with the reason. */
const unreached = new RegExp(
  [
    // An event has one schema, whose members are compared in the feed.
    '^/v1/(?!events\\.).*\\.(?:events?|batches|checkpoints?|settlement)(?:\\[\\])?\\.(?:eventVersion|type|source|payload)\\b',
    // A transfer of a miner has no other members, and these records need a chain to be named.
    '\\.transfers\\[\\]\\.(?:kind|amountBaseUnits|level|effectiveRound|nextMergeBlock)$|\\{(?:eventId|transactionHash|tokenId)\\}\\.reason$',
    // Only in the schemas: the contract says they are never returned.
    '\\.payload\\.(?:previousRecordRpmMilli|recordRpmMilli|observedRpmMilli)$|v1/miners/\\{tokenId\\}/metadata\\.cardImageUrl$',
    // The schemas list further reasons, which no route gives.
    'stats\\.(?:blocks|oracle)\\.reason$',
    // Each world has this time once, and all its rounds are observed.
    'stats\\.oracle\\.coverageStartedAt$|\\.longestActiveWindowMinutes\\.coverage$',
    // `not_configured` needs a deployment whose economy names other contracts.
    'settlements\\.mining\\.reason$',
  ].join('|'),
);

it('compare every member of every response with at least two values', async () => {
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
      moduleType: `type-${index}`,
      driverId: `driver-${index}`,
      moduleVersion: `1.${index}.0`,
      schemaVersion: index + 1,
      state: index === 0 ? 'ready' : 'faulted',
      observedAt: new Date(genesisMs + index).toISOString(),
      provenance: index === 0 ? 'hardware' : 'simulated',
      health: {
        checkedAt: new Date(genesisMs + index).toISOString(),
        message: index === 0 ? null : 'stuck',
        code: index === 0 ? null : 'E1',
      },
      data: { secret: index },
    });
  }
  oracle({ type: 'epoch_approved', counterEpoch: deriveUuid('first') });
  reporter({ type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: true });
  await world.apply(live(20, 60, 3));
  await compareNow();
  for (const [index, state] of (['submitted', 'retrying', 'confirmed'] as const).entries()) {
    pipeline(signerSubject('wheel.one'), {
      kind: index === 0 ? 'ed25519' : 'software-ecdsa',
      algorithm: index === 0 ? 'Ed25519' : 'ES256',
      keySlot: String(index),
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
    await compareNow();
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
    pauseCore,
    pauseCollection,
    ({ emit }) => emit('core', 'GuardianChanged', { guardian: operator }),
    ({ emit }) => emit('core', 'ReporterChanged', { reporter: guardian }),
    (transaction) => advanceMetadataEpoch(transaction, 'https://cards.example/'),
    publishAll,
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
  const call = { id: `0x${'1'.repeat(64)}`, target: worldDeployment().onChain?.contracts.core };
  await world.mine([
    unpauseCore,
    (transaction) => advanceMetadataEpoch(transaction, 'https://others.example/'),
    publishAll,
    ({ emit }) =>
      emit('operatorTimelock', 'CallScheduled', {
        ...call,
        ...{ index: 0n, value: 0n, data: '0x1234', predecessor: `0x${'0'.repeat(64)}`, delay: 60n },
      }),
  ]);
  await world.apply(live(14, 900, 0));
  await compareNow();
  for (const [skipped, workUnits] of [
    [0, '1000001'],
    [1, '7'],
  ] as const) {
    await world.apply({ do: 'close', skipped, rounds: 1, workUnits });
    await world.apply(live(25, 900, 0));
    await compareNow();
  }
  await world.mine([({ emit }) => emit('collection', 'SaleClosed', {})]);
  await world.apply({ do: 'wait', seconds: 86_400 * 8 });
  await world.apply({ ...live(14, 5, 1), epoch: 'second', coreStatus: 'COUNTER_FAULT' });
  await compareNow();
  expect(
    listUnseenMembers((member) => fixed.test(member)).filter((member) => !unreached.test(member)),
  ).toEqual([]);
});
