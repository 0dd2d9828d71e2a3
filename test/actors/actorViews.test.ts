import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChainState, emptyChainState } from '../../actors/chain/state/chainState.ts';
import {
  counterSubject,
  moduleSubject,
  oracleSubject,
  reporterSubject,
  signerSubject,
} from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createActorViews } from '../../actors/views/actorViews.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import type { CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { toProcessBody } from '../../http/responses/process/process.ts';
import { computeStatusTag, toStatusBody } from '../../http/responses/process/status.ts';
import { chainlessViews } from '../support/chain/chainlessViews.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { genesisMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { manualClock } from '../support/manualClock.ts';
import { moduleBody, signerBody } from '../support/readings/pipelineBodies.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { noOlderEvents } from '../support/storage/noOlderEvents.ts';

const id = 'wheel.one';
const chainStart = emptyChainState(
  { number: 100n, hash: buildBlockHash('a'), timestampMs: genesisMs },
  'run',
);

function startViews() {
  const world = { chain: null as ChainState | null };
  const clock = manualClock(genesisMs);
  const counters = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
  const settlements = createSettlementActors();
  const views = createActorViews({
    publicInstallationId: 'wheel.one',
    counters,
    settlements,
    chain: { ...chainlessViews('wheel.one'), safeState: () => world.chain },
    genesisMs,
    isCounterCaughtUp: () => true,
    olderEvents: noOlderEvents,
    clock,
  });
  let seq = 0;
  const receive = (index: number, overrides: Partial<CounterReadingMessage> = {}) =>
    counters.receive(jsonMessage(counterSubject(id), readingMessage(id, index, overrides), { seq: ++seq }));
  const publish = (subject: string, body: object) =>
    settlements.receive(jsonMessage(subject, body, { seq: ++seq }));
  const at = () => new Date(clock.nowMs()).toISOString();
  /** One message of every source of the process snapshot; each call sends a new one. */
  let said = 0;
  const messages = {
    reading: () => receive(++said),
    oracle: () => publish(oracleSubject(id), { type: 'blocked', at: at(), reason: `reason ${++said}` }),
    reporter: () => publish(reporterSubject(id), { type: 'run_started', at: at(), runId: `run ${++said}` }),
    incident: () =>
      publish(reporterSubject(id), {
        type: 'incident_opened',
        at: at(),
        incidentId: `i${++said}`,
        reason: 'r',
      }),
    signer: () =>
      publish(signerSubject(id), { ...signerBody, keySlot: String(++said), lastVerifiedAt: at() }),
    module: () =>
      publish(moduleSubject(id, 'sensor'), {
        ...moduleBody,
        moduleVersion: `1.${++said}.0`,
        observedAt: at(),
        health: { checkedAt: at() },
      }),
    chain: () => {
      const number = (world.chain ?? chainStart).block.number + 1n;
      world.chain = { ...chainStart, block: { ...chainStart.block, number } };
    },
  };
  return { clock, views, receive, messages };
}

describe('the process snapshot', () => {
  it('is shared for a second, and rebuilt at once after an accepted measurement', () => {
    const { clock, views, receive } = startViews();
    const first = views.process();
    expect(first.measurement).toBeNull();
    clock.advance(999);
    expect(views.process()).toBe(first);
    receive(0);
    const measured = views.process();
    expect(measured.measurement?.reading.sequence).toBe(0);
    expect(measured.generatedAtMs).toBe(genesisMs + 999);
    expect(receive(0)).toHaveProperty('rejection');
    expect(views.process()).toBe(measured);
    clock.advance(1_000);
    expect(views.process()).not.toBe(measured);
  });

  it.each(['reading', 'oracle', 'reporter', 'incident', 'signer', 'module', 'chain'] as const)(
    'is computed again at once after a message of %s, once for all readers',
    (source) => {
      const { clock, views, messages } = startViews();
      messages[source]();
      const before = views.process();
      expect(views.process()).toBe(before);
      clock.advance(1);
      messages[source]();
      const after = views.process();
      expect(after).not.toBe(before);
      expect(after.generatedAtMs).toBe(genesisMs + 1);
      clock.advance(998);
      for (let reader = 0; reader < 3; reader++) expect(views.process()).toBe(after);
    },
  );
});

describe('the tags of the process snapshot and of the status', () => {
  it('change exactly when the body does, apart from generatedAt', () => {
    const names = ['reading', 'oracle', 'reporter', 'incident', 'signer', 'module', 'chain'] as const;
    const step = fc.oneof(
      fc.constantFrom(...names),
      fc.constantFrom(0, 1, 999, 1_000, 60_000, 120_001, 600_001, 1_200_001),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        const { clock, views, messages } = startViews();
        const shown: { tags: string[]; bodies: string[] }[] = [];
        for (const one of steps) {
          if (typeof one === 'number') clock.advance(one);
          else messages[one]();
          const view = views.process();
          const [a, b] = [toProcessBody(view), toStatusBody(view)];
          const bodies = [a, b].map((body) => JSON.stringify({ ...body, generatedAt: null }));
          shown.push({ tags: [a.revision, computeStatusTag(b)], bodies });
        }
        for (const [index, { tags, bodies }] of shown.entries()) {
          for (const other of shown.slice(0, index)) {
            for (const route of [0, 1]) {
              expect(tags[route] === other.tags[route]).toBe(bodies[route] === other.bodies[route]);
            }
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('include the signer only for the status, in its revision, and the modules outside the revision', () => {
    const { views, messages } = startViews();
    const before = views.process();
    messages.signer();
    const signed = views.process();
    expect(toProcessBody(signed).revision).toBe(toProcessBody(before).revision);
    expect(toStatusBody(signed).revision).not.toBe(toStatusBody(before).revision);
    messages.module();
    const reported = views.process();
    expect(toStatusBody(reported).revision).toBe(toStatusBody(signed).revision);
    expect(computeStatusTag(toStatusBody(reported))).not.toBe(computeStatusTag(toStatusBody(signed)));
    expect(computeStatusTag(toStatusBody(reported)).startsWith(toStatusBody(reported).revision)).toBe(true);
  });
});
