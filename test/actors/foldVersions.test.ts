import { createHash } from 'node:crypto';
import type { Abi } from 'viem';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { chainRecords } from '../../actors/chain/records/chainRecords.ts';
import { contractAbis } from '../../actors/chain/spans/chainEvent.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import { type FoldRecord, formatRecord } from '../../actors/folds/foldRecord.ts';
import type { Outcome } from '../../actors/messages/outcome.ts';
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

/** The fold's version, and a digest of the records of fixed messages and of the records' schemas. */
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
  const records = [...fold.capture()];
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
  it('changes with the records of readings', () => {
    const actors = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
    expect(describeFold(actors, mixedPublications(2_000, 0, 60_000), counterRecords, 60)).toMatchObject({
      version: 8,
      digest: 'a41a690b3f53ec89',
      unseen: [],
    });
  });

  it('changes with the records of oracle and reporter', () => {
    const kinds = { ...installationRecords, ...settlementRecords };
    const described = describeFold(createSettlementActors({ genesisMs }), listPipelineMessages(), kinds, 600);
    expect(described).toEqual({ version: 6, digest: '64504e7e86128e6a', unseen: [], rejections: [] });
  });

  it('changes with the records of the chain', () => {
    const actors = createChainActors({ ...writtenSettings, contracts: stateContracts });
    const described = describeFold(actors, listSpans(), chainRecords);
    expect(described).toEqual({
      version: 8,
      digest: '012ef94873fb6146',
      unseen: ['unprocessedRound', 'pendingWeight'],
      rejections: [],
    });
    expect(actors.state.fault).toBeNull();
  });
});
