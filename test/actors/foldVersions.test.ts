import { createHash } from 'node:crypto';
import type { Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { chainRecords } from '../../actors/chain/records/chainRecords.ts';
import { contractAbis } from '../../actors/chain/spans/chainEvent.ts';
import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { formatRecord, type StateCapture } from '../../actors/foldRecord.ts';
import type { Outcome } from '../../actors/messages/outcome.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import {
  moduleSubject,
  oracleSubject,
  reporterSubject,
  signerSubject,
} from '../../actors/messages/subjects.ts';
import { installationRecords } from '../../actors/settlement/installationSnapshot.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { settlementRecords } from '../../actors/settlement/settlementSnapshot.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { counterRecords } from '../../actors/wheel/counterRecords.ts';
import {
  buildEconomyEvents,
  type StateEvent,
  stateContracts,
  stateOwner,
} from '../support/chain/economyState.ts';
import { buildSpan, type WrittenEvent, writtenChainId } from '../support/chain/writtenSpans.ts';
import { genesisMs } from '../support/genesis.ts';
import { moduleBody, preparedBody, signerBody } from '../support/readings/pipelineBodies.ts';
import { deriveUuid, mixedPublications, type Publication } from '../support/readings/readingMessages.ts';

const wheel = 'wheel.one';
const startMs = Date.UTC(2026, 0, 31, 12);
const toTime = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString();

function listPipelineMessages(): Publication[] {
  const submissionId = deriveUuid('submission');
  const transactionHash = `0x${'a'.repeat(64)}`;
  const round = { roundId: '5', workUnits: '7' };
  const oracle = [
    { type: 'closure_accepted', firstRound: '5', lastRound: '5', rounds: [round], acceptedAt: toTime(1) },
    { type: 'blocked', reason: 'x' },
    { type: 'epoch_approved', counterEpoch: deriveUuid('epoch') },
  ];
  const reporter = [
    { type: 'settings', settlementEnabled: true, reporterEnvironmentEnabled: true },
    { type: 'run_started', runId: 'run' },
    { type: 'run_finished', runId: 'run', result: 'ok' },
    { type: 'incident_opened', incidentId: 'incident', reason: 'r' },
    { type: 'incident_closed', incidentId: 'incident' },
    { type: 'incident_opened', incidentId: 'open', reason: 'r' },
    { ...preparedBody, submissionId },
    { type: 'submission_submitted', submissionId, transactionHash },
    { type: 'submission_confirmed', submissionId },
    { ...preparedBody, submissionId: deriveUuid('next') },
    { type: 'submission_submitted', submissionId: deriveUuid('next'), transactionHash },
  ];
  const module = { ...moduleBody, health: { checkedAt: toTime(0), code: 'E1' } };
  const signer = {
    ...signerBody,
    kind: 'external-device',
    provenance: 'hardware',
    algorithm: 'ed25519',
    publicIdentifier: 'key',
  };
  return [
    { subject: moduleSubject(wheel, 'sensor'), body: JSON.stringify(module) },
    { subject: signerSubject(wheel), body: JSON.stringify(signer) },
    ...oracle.map((body, index) => ({
      subject: oracleSubject(wheel),
      body: JSON.stringify({ at: toTime(index), ...body }),
    })),
    ...reporter.map((body, index) => ({
      subject: reporterSubject(wheel),
      body: JSON.stringify({ at: toTime(index), ...body }),
    })),
  ];
}

/** Adds arguments that no view shows, with some value of their type. */
function completeArguments({ contract, name, args }: StateEvent): WrittenEvent {
  const abi: Abi = contractAbis[contract];
  const event = abi.find((item) => item.type === 'event' && item.name === name);
  if (event?.type !== 'event') throw new Error(`${contract} has no event ${name}`);
  const some = (type: string) => {
    if (type === 'address') return stateOwner;
    if (type === 'string') return '';
    if (type.startsWith('bytes')) return `0x${'0'.repeat(2 * Number(type.slice('bytes'.length)))}`;
    return 0n;
  };
  const pairs = event.inputs.map((input) => [input.name, args[input.name as string] ?? some(input.type)]);
  return { contract, name, args: Object.fromEntries(pairs) };
}

/** A block for each event, and enough further blocks to make all of them safe. */
function listSpans(): Publication[] {
  const events = buildEconomyEvents();
  return Array.from({ length: events.length + 20 }, (_, index) => {
    const event = events[index];
    const core = stateContracts.core;
    const written = event === undefined ? [] : [completeArguments(event)];
    const span = buildSpan({ number: index + 1, core, events: written });
    const blocks = span.blocks.map((block) => ({
      ...block,
      logs: block.logs.map((log) => ({ ...log, address: event && stateContracts[event.contract] })),
    }));
    return { subject: `miner.chain.${writtenChainId}.span`, body: JSON.stringify({ ...span, blocks }) };
  });
}

interface Fold {
  readonly identity: FoldIdentity;
  receive(message: StreamMessage): Outcome<unknown>;
  capture(): StateCapture;
}

/** The fold's version, and a digest of the records of fixed messages and of the records' schemas. */
function describeFold(
  fold: Fold,
  messages: readonly Publication[],
  kinds: Readonly<Record<string, { readonly kind: string; readonly schema: z.ZodType }>>,
) {
  const rejections: string[] = [];
  messages.forEach(({ subject, body }, index) => {
    const seq = index + 1;
    const timestampNanos = BigInt(startMs + seq * 1_000) * 1_000_000n;
    const outcome = fold.receive({ seq, subject, data: Buffer.from(body), timestampNanos });
    if (outcome !== 'unread' && 'rejection' in outcome)
      rejections.push(`${outcome.rejection.reason}: ${outcome.rejection.detail}`);
  });
  const records = [...fold.capture().all()];
  const forms = Object.values(kinds).map(({ kind, schema }) => [kind, describeForm(schema)]);
  const digest = createHash('sha256')
    .update([...records.map(formatRecord), JSON.stringify(forms)].join('\n'))
    .digest('hex');
  const found = new Set(records.map(({ kind }) => kind));
  const unseen = Object.values(kinds).flatMap(({ kind }) => (found.has(kind) ? [] : [kind]));
  return { version: fold.identity.foldVersion, digest: digest.slice(0, 16), unseen, rejections };
}

/** The schema as JSON Schema, with zod's types as titles, since JSON Schema lacks some of them. */
function describeForm(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      jsonSchema.title = zodSchema._zod.def.type;
      delete jsonSchema.description;
    },
  });
}

describe('the version of a fold', () => {
  /*
   * If one of these fails, the fold's snapshots or their schemas have changed. Raise the fold's version, so that no older snapshot is
   * restored, and note the new digest. Keep the version only if older snapshots still mean the same.
   */
  it('of readings changes with its records', () => {
    const actors = createCounterActors({ genesisMs, publicInstallationId: wheel });
    expect(describeFold(actors, mixedPublications(2_000, 0, 60_000), counterRecords)).toMatchObject({
      version: 7,
      digest: '2c7b84c9e9ff18dd',
      unseen: [],
    });
  });

  it('of oracle and reporter changes with its records', () => {
    const kinds = { ...installationRecords, ...settlementRecords };
    const described = describeFold(createSettlementActors(), listPipelineMessages(), kinds);
    expect(described).toEqual({ version: 5, digest: '779a71b1bc9b1a93', unseen: [], rejections: [] });
  });

  it('of the chain changes with its records', () => {
    const actors = createChainActors({
      chainId: writtenChainId,
      contracts: stateContracts,
      deploymentBlock: 1n,
    });
    const described = describeFold(actors, listSpans(), chainRecords);
    expect(described).toEqual({
      version: 8,
      digest: '251464b49ca24c2f',
      unseen: ['unprocessedRound', 'pendingWeight', 'activityCount'],
      rejections: [],
    });
    expect(actors.state.fault).toBeNull();
  });
});
