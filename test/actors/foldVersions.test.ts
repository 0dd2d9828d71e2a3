import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { chainKinds } from '../../actors/chain/records/chainSnapshot.ts';
import { type FoldRecord, formatRecord } from '../../actors/folds/foldRecord.ts';
import type { Outcome } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { installationKinds } from '../../actors/settlement/installationSnapshot.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { foldVersions } from '../../actors/versions.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { counterKinds } from '../../actors/wheel/counterSnapshot.ts';
import { buildEconomyEvents } from '../support/chain/economyState.ts';
import { buildSpan, writtenChainId, writtenSettings } from '../support/chain/writtenSpans.ts';
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

/** A block for each event, and enough further blocks to make all of them safe. */
function listSpans(): Publication[] {
  const events = buildEconomyEvents();
  return Array.from({ length: events.length + 20 }, (_, index) => {
    const span = buildSpan({ number: index + 1, events: events.slice(index, index + 1) });
    return { subject: `miner.chain.${writtenChainId}.span`, body: JSON.stringify(span) };
  });
}

interface Fold {
  receive(message: StreamMessage): Outcome<unknown>;
  capture(): Iterable<FoldRecord>;
}

/**
 * For each kind of a fold's records their number for fixed messages, a digest of these, and one of their schema. So a change names the
 * kinds that it changes.
 */
function describeFold(
  fold: Fold,
  messages: readonly Publication[],
  kinds: readonly { readonly kind: string; readonly schema: z.ZodType }[],
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
  const records = kinds.map(({ kind, schema }) => {
    const ofKind = captured.filter((record) => record.kind === kind).map(formatRecord);
    return `${kind}: ${ofKind.length} ${digest(ofKind.join('\n'))}, form ${digest(JSON.stringify(describeForm(schema)))}`;
  });
  return { records, rejections };
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

// If one of these fails, the fold's snapshots or their schemas have changed, in the kinds of records that the failure names: see actors/versions.ts.
describe('the version of a fold', () => {
  it('changes with the records of readings', () => {
    const actors = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
    const { records } = describeFold(actors, mixedPublications(2_000, 0, 60_000), counterKinds, 60);
    expect(records).toEqual(foldVersions.MINER_COUNTER.records);
  });

  it('changes with the records of oracle and reporter', () => {
    const actors = createSettlementActors({ genesisMs });
    expect(describeFold(actors, listPipelineMessages(), installationKinds, 600)).toEqual({
      records: foldVersions.MINER_PIPELINE.records,
      rejections: [],
    });
  });

  it('changes with the records of the chain', () => {
    const actors = createChainActors(writtenSettings);
    expect(describeFold(actors, listSpans(), chainKinds)).toEqual({
      records: foldVersions.MINER_CHAIN.records,
      rejections: [],
    });
    expect(actors.state.fault).toBeNull();
  });
});
