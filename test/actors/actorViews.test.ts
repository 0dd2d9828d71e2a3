import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { moduleSubject, signerSubject } from '../../actors/messages/subjects.ts';
import { toProcessBody } from '../../http/responses/process/process.ts';
import { computeStatusTag, toStatusBody } from '../../http/responses/process/status.ts';
import { genesisMs } from '../support/genesis.ts';
import { moduleBody, signerBody } from '../support/readings/pipelineBodies.ts';
import { chainStart, startViews as startWorld, wheelId } from './viewedWorld.ts';

const sources = ['reading', 'oracle', 'reporter', 'incident', 'signer', 'module', 'chain'] as const;

/** One message of every source of the process snapshot; each call sends a new one. */
function startViews() {
  const { clock, world, views, read, say, oracle, reporter } = startWorld();
  let said = 0;
  const messages = {
    reading: () => read(++said),
    oracle: () => oracle({ type: 'blocked', reason: `reason ${++said}` }),
    reporter: () => reporter({ type: 'run_started', runId: `run ${++said}` }),
    incident: () => reporter({ type: 'incident_opened', incidentId: `i${++said}`, reason: 'r' }),
    signer: () => say(signerSubject(wheelId), { ...signerBody, keySlot: String(++said) }),
    module: () => say(moduleSubject(wheelId, 'sensor'), { ...moduleBody, moduleVersion: `1.${++said}.0` }),
    chain: () => {
      const { block } = world.chain ?? chainStart;
      world.chain = { ...chainStart, block: { ...block, number: block.number + 1n } };
    },
  };
  return { clock, views, read, messages };
}

describe('the process snapshot', () => {
  it('is shared for a second, and rebuilt at once after an accepted measurement', () => {
    const { clock, views, read } = startViews();
    const first = views.process();
    expect(first.measurement).toBeNull();
    clock.advance(999);
    expect(views.process()).toBe(first);
    read(0);
    const measured = views.process();
    expect(measured.measurement?.reading.sequence).toBe(0);
    expect(measured.generatedAtMs).toBe(genesisMs + 999);
    expect(read(0)).toHaveProperty('rejection');
    expect(views.process()).toBe(measured);
    clock.advance(1_000);
    expect(views.process()).not.toBe(measured);
  });

  it.each(sources)('is computed again at once after a message of %s, once for all readers', (source) => {
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
  });
});

describe('the tags of the process snapshot and of the status', () => {
  it('change exactly when the body does, apart from generatedAt', () => {
    const step = fc.oneof(
      fc.constantFrom(...sources),
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

  it('name the signer in the revision, and modules outside of it', () => {
    const { views, messages } = startViews();
    const readStatus = () => {
      const body = toStatusBody(views.process());
      return { revision: body.revision, tag: computeStatusTag(body) };
    };
    const before = readStatus();
    messages.signer();
    const signed = readStatus();
    expect(signed.revision).not.toBe(before.revision);
    messages.module();
    const reported = readStatus();
    expect(reported.revision).toBe(signed.revision);
    expect(reported.tag).not.toBe(signed.tag);
    expect(reported.tag.startsWith(reported.revision)).toBe(true);
  });
});
