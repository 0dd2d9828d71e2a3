import { pad } from 'viem';
import { expect, it } from 'vitest';
import {
  moduleSubject,
  oracleSubject,
  reporterSubject,
  signerSubject,
} from '../../actors/messages/subjects.ts';
import { guardian, operator } from '../simulation/chain/contracts/settings.ts';
import { describeVersion } from '../simulation/chain/contracts/upgrades.ts';
import { onChain } from '../simulation/chain/deployment.ts';
import { genesisMs } from '../support/genesis.ts';
import { moduleBody, preparedBody, signerBody } from '../support/readings/pipelineBodies.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';
import { startComparedProgram } from '../support/reference/comparedProgram.ts';
import { createComparedWorld, worldDeployment } from '../support/reference/comparedWorld.ts';

const id = 'wheel.one';
const { contracts, release } = onChain;
const { implementation, storageLayoutDigest, runtimeHash } = describeVersion(1n);
const transactionHash = pad('0x7', { size: 32 });
const submissionId = deriveUuid('submission');

/** A world in which each text has a value of its own. */
async function startWorld() {
  const program = await startComparedProgram(worldDeployment(), genesisMs);
  const world = await createComparedWorld(program, 1);
  const publish = (subject: string, body: object) =>
    program.store('MINER_PIPELINE', subject, { at: new Date(program.clock.nowMs()).toISOString(), ...body });
  const report = (body: object) => publish(reporterSubject(id), body);
  publish(moduleSubject(id, 'sensor'), { ...moduleBody, state: 'faulted' });
  publish(signerSubject(id), signerBody);
  report({ type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: false });
  report({ type: 'run_started', runId: 'run' });
  report({ type: 'run_finished', runId: 'run', result: 'settled nothing' });
  report({ ...preparedBody, submissionId });
  report({ type: 'submission_submitted', submissionId, transactionHash });
  report({ type: 'incident_opened', incidentId: 'incident', reason: 'stuck' });
  publish(oracleSubject(id), { type: 'epoch_approved', counterEpoch: deriveUuid('first') });
  publish(oracleSubject(id), { type: 'blocked', reason: 'drift' });
  await world.mine([
    ({ emit }) => emit('core', 'GuardianChanged', { guardian: operator }),
    ({ emit }) => emit('core', 'ReporterChanged', { reporter: guardian }),
  ]);
  const live = { do: 'live', minutes: 90, work: 60, actions: 4, isClosing: true, isCaughtUp: true } as const;
  await world.apply({ ...live, coreStatus: 'ACTIVE', epoch: 'first' });
  world.settle();
  const read = async <Body>(path: string) => (await program.fetchBody(path)).body as Body;
  return { program, world, read };
}

interface ShownEvent {
  readonly type: string;
  readonly source: Readonly<Record<string, string>>;
}

interface CoreEvent extends Readonly<Record<string, string>> {
  readonly contractKind: 'core' | 'proxyAdmin' | 'operatorTimelock';
}

it('each text of a message or contract stands at its member', async () => {
  const { program, world, read } = await startWorld();
  const reading = JSON.parse(String(program.stored.MINER_COUNTER.at(-1)?.data));
  const { counterEpoch, provenance, coreStatus, softwareVersion, bootId, telemetryId } = reading;
  const { data: _, ...module } = { ...moduleBody, state: 'faulted' };
  const queue = {
    ...{ settlementEnabled: true, reporterEnvironmentEnabled: false },
    ...{ state: 'blocked', blockedReason: 'incident_open', incidentOpen: true },
    lastRun: { result: 'settled nothing' },
    latestSubmission: { submissionId, transactionHash, outcomeCode: null, lifecycle: 'submitted' },
  };
  const { batches } = await read<{ batches: ShownEvent[] }>('/v1/batches');
  const process = {
    builder: { anchor: { transactionHash: batches[0]?.source.transactionHash } },
    measurement: { counterEpoch, provenance, coreStatus, staleAfterSeconds: 120 },
    oracle: { state: 'blocked', reason: 'drift' },
    settlementQueue: queue,
  };
  const { core, tokenFactory, mining, token, collection, proxyAdmin, operatorTimelock } = contracts;
  const economy = {
    release,
    chain: { target: 'anvil', chainId: '31337', deploymentBlock: '3', economyDeploymentBlock: '4' },
    identities: { core, tokenFactory, mining, token, collection },
  };
  const asset = { address: token, symbol: 'SQK', decimals: 18 };
  const { miners } = await read<{ miners: Record<string, string>[] }>('/v1/miners');
  const { tokenId, owner } = miners[0] as { tokenId: string; owner: string };
  const metadata = { ...economy, tokenId, collection, name: `Miner #${tokenId}` };
  const rows: readonly (readonly [path: string, texts: object])[] = [
    ['/v1/public/telemetry', { softwareVersion, measurement: { counterEpoch, provenance, coreStatus } }],
    ['/v1/public/modules', { installationId: id, modules: [{ ...module, data: {} }] }],
    ['/v1/status', { ...process, signer: signerBody, modules: [module] }],
    ['/v4/public/process', process],
    ['/v4/public/settlements?queue=1', { settlementQueue: queue }],
    ['/v1/mining/state', { ...economy, asset }],
    ['/v1/settlements', { mining: { economy: { releaseId: release.id, mining, token, symbol: 'SQK' } } }],
    [`/v1/owners/${owner}/miners`, { owner, configuration: { tokenSymbol: 'SQK' } }],
    [`/v1/miners/${tokenId}`, { owner, position: { tokenId, metadataStatus: 'available' } }],
    [`/v1/miners/${tokenId}/metadata`, metadata],
    [`/v2/public/miners/metadata/${tokenId}`, { ...metadata, attributes: [{ traitType: 'Level' }, {}] }],
    [
      '/v1/core',
      {
        identities: {
          ...{ core, proxyAdmin, operatorTimelock, proxyAdminOwner: operatorTimelock },
          ...{ operatorProposer: operator, proxyImplementation: implementation, proxyAdminSlot: proxyAdmin },
        },
        configuration: { streamId: pad('0x5', { size: 32 }), guardian: operator, reporter: guardian },
        implementation: { codeAddress: implementation, storageLayoutDigest, runtimeHash },
      },
    ],
  ];
  for (const [path, texts] of rows) expect([path, await read(path)]).toMatchObject([path, texts]);
  const { items } = await read<{ items: object[] }>(`/v1/public/installations/${id}/observations?limit=100`);
  expect(items.at(-1)).toMatchObject({ installationId: id, telemetryId, bootId, counterEpoch, provenance });

  const blockOf = ({ blockNumber }: Readonly<Record<string, string>>) => {
    const { hash, timestamp } = world.chain.blocks[Number(blockNumber)] ?? {};
    return { blockHash: hash, blockTimestamp: String(timestamp) };
  };
  const { events } = await read<{ events: ShownEvent[] }>('/v1/events?limit=100');
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(4);
  for (const { type, source } of events)
    expect(source).toMatchObject(
      source.kind === 'measurement'
        ? { installationId: id, policyVersion: 'measurement-v1', disposition: 'accepted' }
        : {
            ...{ target: 'anvil', chainId: '31337', releaseId: release.id, confirmationStatus: 'safe' },
            contractAddress: type === 'system.settlement_completed' ? core : mining,
            blockHash: blockOf(source).blockHash,
          },
    );
  const shown = await read<{ events: CoreEvent[]; source: CoreEvent }>('/v1/core');
  expect(shown.events).toHaveLength(25);
  expect(shown.source).toMatchObject(blockOf(shown.source));
  for (const { id: eventId, contractKind, contractAddress, eventName, ...place } of shown.events) {
    expect(contractAddress).toBe(contracts[contractKind]);
    expect(eventId).toBe(
      `chain:31337:${contractAddress}:${place.transactionHash}:${place.logIndex}:${eventName}`,
    );
    expect(place).toMatchObject(blockOf(place));
  }
  const { activity } = await read<{ activity: Record<string, string>[] }>(`/v1/owners/${owner}/activity`);
  for (const { kind, from, to } of activity)
    expect([kind, from === owner || to === owner]).toEqual([kind, kind !== 'merge']);
});
