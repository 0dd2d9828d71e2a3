import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import { formatRecord } from '../../actors/foldRecord.ts';
import { oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { rememberedIdsMax, rememberedIdsMin, rememberedMs } from '../../actors/settlement/rememberedIds.ts';
import { createSettlementActors, type SettlementActors } from '../../actors/settlement/settlementActors.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';

const id = 'wheel.one';
const startMs = Date.UTC(2026, 0, 31, 12);

type Body = Record<string, unknown> & { readonly type: string };

const oracleTypes = ['closure_accepted', 'blocked', 'unblocked', 'epoch_approved'];

function sender(actors: SettlementActors) {
  let seq = 0;
  return (body: Body, storedAtMs = startMs) =>
    actors.receive({
      seq: ++seq,
      subject: (oracleTypes.includes(body.type) ? oracleSubject : reporterSubject)(id),
      data: Buffer.from(JSON.stringify(body)),
      timestampNanos: BigInt(storedAtMs) * 1_000_000n,
    });
}

function startActors() {
  const actors = createSettlementActors();
  return { actors, send: sender(actors), state: () => actors.settlement(id) };
}

/** Where a fold continues after a restart. */
function restartActors(actors: SettlementActors) {
  const restored = createSettlementActors();
  restoreState(restored, actors.capture().all());
  return { actors: restored, send: sender(restored), state: () => restored.settlement(id) };
}

const at = (ms: number) => ({ at: new Date(startMs + ms).toISOString() });

/** The first message of something with an ID, and the messages that end it. */
const lives: Record<'submission' | 'run' | 'incident', (name: string, ms?: number) => readonly [Body, Body]> =
  {
    submission: (name, ms = 0) => {
      const submissionId = deriveUuid(name);
      return [
        {
          type: 'submission_prepared',
          ...at(ms),
          submissionId,
          previousSettledThroughRound: '1',
          settledThroughRound: '3',
          activeRoundCount: 2,
          expected: {
            cumulativeWork: '1800',
            cumulativeBlockUnits: '2000000000',
            workPerThousandBlocks: '900000',
            completedBlockCount: '1',
          },
        },
        { type: 'submission_superseded', ...at(ms + 1), submissionId },
      ];
    },
    run: (name, ms = 0) => [
      { type: 'run_started', ...at(ms), runId: name },
      { type: 'run_finished', ...at(ms + 1), runId: name, result: 'ok' },
    ],
    incident: (name, ms = 0) => [
      { type: 'incident_opened', ...at(ms), incidentId: name, reason: 'r' },
      { type: 'incident_closed', ...at(ms + 1), incidentId: name },
    ],
  };
const kinds = Object.keys(lives) as (keyof typeof lives)[];

const notAllowed = { rejection: { reason: 'not_allowed' } };

describe.each(kinds)('a %s that has ended', (kind) => {
  const life = lives[kind];

  it('does not start again, with the same message or another one, before and after a restart', () => {
    const first = startActors();
    for (const message of life('a')) expect(first.send(message)).toHaveProperty('output');
    for (const { actors, send, state } of [first, restartActors(first.actors)]) {
      const before = state();
      for (const message of [...life('a'), ...life('a', 5_000)])
        expect(send(message)).toMatchObject(notAllowed);
      assert.equal(state(), before);
      const next = restartActors(actors);
      for (const message of life('b')) expect(next.send(message)).toHaveProperty('output');
    }
  });

  it(`stays ended for 90 days while fewer than ${rememberedIdsMax} others have ended, and longer among the newest ${rememberedIdsMin}`, () => {
    const { actors, send } = startActors();
    const others = rememberedIdsMin + 500;
    const end = (name: string, ms: number) => {
      for (const message of life(name, ms)) expect(send(message, startMs + ms)).toHaveProperty('output');
    };
    end('a', 0);
    for (let index = 1; index <= others; index++)
      end(`other ${index}`, Math.floor((index / others) * rememberedMs));
    const again = (name: string) => life(name, 1e10)[0];
    expect(restartActors(actors).send(again('a'))).toMatchObject(notAllowed);
    expect(send(again('a'))).toMatchObject(notAllowed);

    // Long after all of them another one ends: with it the newest are as many as are remembered however old they are.
    end('much later', rememberedMs * 3);
    const [oldest, forgotten] = [others - rememberedIdsMin + 2, others - rememberedIdsMin + 1];
    for (const { send: sendAgain } of [restartActors(actors), { send }]) {
      expect(sendAgain(again(`other ${oldest}`))).toMatchObject(notAllowed);
      expect(sendAgain(again(`other ${forgotten}`))).toHaveProperty('output');
    }
  });
});

describe('what is remembered', () => {
  it('takes some thirty bytes per ID in a snapshot', () => {
    const { actors, send } = startActors();
    const count = 3_000;
    for (let index = 0; index < count; index++)
      for (const message of lives.run(`${index} `.padEnd(128, 'x'), index)) send(message, startMs + index);
    // Of each run the ID, and both its messages.
    expect([...actors.capture().all()].map(formatRecord).join('\n').length).toBeLessThan(count * 3 * 30);
  });
});
