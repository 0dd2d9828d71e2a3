import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRecord } from '../../actors/foldRecord.ts';
import { oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { rememberedIdsMax, rememberedIdsMin, rememberedMs } from '../../actors/settlement/rememberedIds.ts';
import { createSettlementActors, type SettlementActors } from '../../actors/settlement/settlementActors.ts';
import { runs } from '../support/propertyRuns.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';

const id = 'wheel.one';
const startMs = Date.UTC(2026, 0, 31, 12);
const hash = (seed: number) => `0x${seed.toString(16).padStart(64, '0')}`;

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

describe('a run that is overtaken by another', () => {
  it('has ended too', () => {
    const { send, state } = startActors();
    const [startA, finishA] = lives.run('a');
    const [startB, finishB] = lives.run('b');
    for (const message of [startA, startB]) expect(send(message)).toHaveProperty('output');
    for (const message of [startA, startB, finishA]) expect(send(message)).toMatchObject(notAllowed);
    expect(send(finishB)).toHaveProperty('output');
    for (const message of [startA, startB]) expect(send({ ...message, ...at(9) })).toMatchObject(notAllowed);
    expect(state().snapshot.context.unfinishedRun).toBeNull();
  });
});

describe('any messages of oracle and reporter', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const body = fc.oneof(
    fc.record({ kind: fc.constantFrom(...kinds), name, isEnd: fc.boolean() }).map(
      ({ kind, name: of, isEnd }) =>
        (ms: number) =>
          lives[kind](of, ms)[isEnd ? 1 : 0],
    ),
    fc
      .record({
        type: fc.constantFrom('submission_submitted', 'submission_retrying'),
        name,
        transactionHash: fc.nat(2).map(hash),
      })
      .map(
        ({ name: of, ...rest }) =>
          (ms: number): Body => ({ ...rest, ...at(ms), submissionId: deriveUuid(of) }),
      ),
    fc
      .record({
        type: fc.constantFrom('submission_confirmed', 'submission_reverted'),
        name,
      })
      .map(
        ({ type, name: of }) =>
          (ms: number): Body => ({ type, ...at(ms), submissionId: deriveUuid(of) }),
      ),
    fc.record({ settlementEnabled: fc.boolean(), reporterEnvironmentEnabled: fc.boolean() }).map(
      (rest) =>
        (ms: number): Body => ({ type: 'settings', ...at(ms), ...rest }),
    ),
    fc.constantFrom('x', 'y').map(
      (reason) =>
        (ms: number): Body => ({ type: 'blocked', ...at(ms), reason }),
    ),
    fc.constant((ms: number): Body => ({ type: 'unblocked', ...at(ms) })),
    name.map(
      (epoch) =>
        (ms: number): Body => ({ type: 'epoch_approved', ...at(ms), counterEpoch: deriveUuid(epoch) }),
    ),
    fc.record({ first: fc.integer({ min: 1, max: 9 }), count: fc.integer({ min: 1, max: 3 }) }).map(
      ({ first, count }) =>
        (ms: number): Body => ({
          type: 'closure_accepted',
          ...at(ms),
          firstRound: String(first),
          lastRound: String(first + count - 1),
          rounds: Array.from({ length: count }, (_, index) => ({
            roundId: String(first + index),
            workUnits: '7',
          })),
          acceptedAt: at(ms).at,
        }),
    ),
  );
  /** A new message, one of the accepted ones again, or a restart. */
  const step = fc.oneof(
    { weight: 6, arbitrary: body.map((make) => ({ do: 'say' as const, make })) },
    { weight: 4, arbitrary: fc.nat().map((index) => ({ do: 'again' as const, index })) },
    { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  );

  it('leave the state that they leave without those that are stored again, at once or late, across restarts', () => {
    let repeated = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        let disturbed = startActors();
        const plain = startActors();
        const accepted: Body[] = [];
        for (const [index, one] of steps.entries()) {
          if (one.do === 'say') {
            const message = one.make(index * 1_000);
            const outcome = plain.send(message);
            assert.deepEqual(disturbed.send(message), outcome);
            if (outcome !== 'unread' && 'output' in outcome) accepted.push(message);
          } else if (one.do === 'again' && accepted.length > 0) {
            repeated++;
            const before = disturbed.state();
            const message = accepted[one.index % accepted.length] as Body;
            expect(disturbed.send(message, startMs + index)).toMatchObject(notAllowed);
            assert.equal(disturbed.state(), before);
          } else if (one.do === 'restart') disturbed = restartActors(disturbed.actors);
        }
        assert.deepEqual([...disturbed.actors.capture().all()], [...plain.actors.capture().all()]);
      }),
      { numRuns: runs(300) },
    );
    expect(repeated).toBeGreaterThan(100);
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
