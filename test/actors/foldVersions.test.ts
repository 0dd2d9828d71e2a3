import { createHash } from 'node:crypto';
import type { Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { chainRecords } from '../../actors/chain/records/chainRecords.ts';
import { contractAbis } from '../../actors/chain/spans/chainEvent.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import { type FoldRecord, formatRecord } from '../../actors/folds/foldRecord.ts';
import type { Outcome } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
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
import {
  buildSpan,
  type WrittenEvent,
  writtenChainId,
  writtenSettings,
} from '../support/chain/writtenSpans.ts';
import { genesisMs } from '../support/genesis.ts';
import { messageExamples } from '../support/messageExamples.ts';
import { mixedPublications, type Publication } from '../support/readings/readingMessages.ts';

const startMs = Date.UTC(2026, 0, 31, 12);

/** Modules, signers, oracle and reporter; at the end, an incident and a submission are open. */
function listPipelineMessages(): Publication[] {
  const messages = messageExamples.filter(({ subject }) => !/^miner\.(?:counter|chain)/.test(subject));
  const again = ['incident_opened', 'run_started', 'blocked', 'submission_prepared'].map((type) => {
    const { subject, text } = messages.find((one) =>
      one.text.includes(`"${type}"`),
    ) as (typeof messages)[number];
    return { subject, text: text.replace(/incident-1|run-1|sensor replaced|3f2c1d0e/, '99999999') };
  });
  return [...messages, ...again].map(({ subject, text }) => ({ subject, body: text }));
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
  capture(): Iterable<FoldRecord>;
}

/**
 * The fold's version, and for each kind of its records their number for fixed messages, a digest of these, and one of their schema. So a change names
 * the kinds that it changes.
 */
function describeFold(
  fold: Fold,
  messages: readonly Publication[],
  kinds: Readonly<Record<string, { readonly kind: string; readonly schema: z.ZodType }>>,
  secondsBetween = 1,
) {
  const rejections: string[] = [];
  messages.forEach(({ subject, body }, index) => {
    const seq = index + 1;
    const timestampNanos = BigInt(startMs + seq * secondsBetween * 1_000) * 1_000_000n;
    const outcome = fold.receive({ seq, subject, data: Buffer.from(body), timestampNanos });
    if (outcome !== 'unread' && 'rejection' in outcome)
      rejections.push(`${outcome.rejection.reason}: ${outcome.rejection.detail}`);
  });
  const captured = [...fold.capture()];
  const records = Object.values(kinds).map(({ kind, schema }) => {
    const ofKind = captured.filter((record) => record.kind === kind).map(formatRecord);
    return `${kind}: ${ofKind.length} ${digest(ofKind.join('\n'))}, form ${digest(JSON.stringify(describeForm(schema)))}`;
  });
  return { version: fold.identity.foldVersion, records, rejections };
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12);

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
   * If one of these fails, the fold's snapshots or their schemas have changed: for the same messages, the records of each kind that the failure names. Raise the
   * fold's version, so that no older snapshot is restored, and note the new digests. Keep the version only if older snapshots still mean the same.
   */
  it('changes with the records of readings', () => {
    const actors = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
    expect(describeFold(actors, mixedPublications(2_000, 0, 60_000), counterRecords, 60)).toMatchObject({
      version: 8,
      records: [
        'installation: 3 1c8ed7495cc8, form 5ddfa5be4a80',
        'places: 1 0857918a6119, form 978060d8cce1',
        'recentRounds: 1 c683cb8ee9cb, form 70142dfb26dd',
        'history: 1 062739538342, form 2a142d78d736',
        'day: 1 86e4b37654a9, form 5467093e6d4d',
        'progress: 1 40f3e786bd63, form 9d3dccbb6dd9',
        'measurementEvent: 11 9631e41d44a8, form 9cb3f36383ea',
      ],
    });
  });

  it('changes with the records of oracle and reporter', () => {
    const kinds = { ...installationRecords, ...settlementRecords };
    expect(describeFold(createSettlementActors({ genesisMs }), listPipelineMessages(), kinds, 600)).toEqual({
      version: 6,
      records: [
        'places: 1 97b9643f06ee, form 978060d8cce1',
        'heard: 1 831b38f96457, form 283f3fcdede2',
        'signer: 1 a148596461c4, form 8fad5d22fe36',
        'module: 1 d522a0b428e1, form e8dceeb3b0c0',
        'settlement: 1 60adaef1b882, form ae8cad68c911',
        'closedRound: 2 d5f227474e82, form a1453b77cfd6',
        'endedSubmission: 3 49da3004190d, form d1dbd87398b1',
        'rememberedIds: 5 e5cf39dd1e73, form 331b0ba3ba59',
      ],
      rejections: [],
    });
  });

  it('changes with the records of the chain', () => {
    const actors = createChainActors({ ...writtenSettings, contracts: stateContracts });
    expect(describeFold(actors, listSpans(), chainRecords)).toEqual({
      version: 8,
      records: [
        'fold: 1 f1e0e7b523b4, form 515531d8dcf1',
        'state: 1 5bce436c34de, form dba477bea14c',
        'settlement: 1 c5521f18a217, form d2202c165726',
        'unprocessedRound: 0 e3b0c44298fc, form 5908296c7e61',
        'checkpoint: 1 760421c88ced, form 5eb2a8ff2ceb',
        'perWeight: 1 dba3553c1c93, form 65824071d9b2',
        'activationPerWeight: 1 6238fa69d750, form 65824071d9b2',
        'pendingWeight: 0 e3b0c44298fc, form 65824071d9b2',
        'metadata: 1 d3d60e5e6dfc, form 16e393ff8f67',
        'position: 1 4958f9e1bdd2, form 741d4c534749',
        'feedEvent: 3 028e48d51f33, form d47ca6a5167b',
        'owner: 1 30a0aac2de13, form ba8473d7f116',
      ],
      rejections: [],
    });
    expect(actors.state.fault).toBeNull();
  });
});
