import fc from 'fast-check';
import { List, Range } from 'immutable';
import { describe, expect, it } from 'vitest';
import { latestChanges, type ProposerChange, proposersMax } from '../../actors/chain/spans/chainReads.ts';
import { evictOldest, nothingEvicted } from '../../actors/events/eventWindow.ts';
import { listRecords } from '../../actors/folds/foldRecord.ts';
import { oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { dayMs } from '../../actors/schemas/durations.ts';
import { decodeSettlement } from '../../actors/settlement/decodeSettlement.ts';
import { encodeInstallations } from '../../actors/settlement/installationSnapshot.ts';
import { noRememberedIds } from '../../actors/settlement/rememberedIds.ts';
import {
  closedRoundsMax,
  createSettlementActor,
  endedSubmissionsMax,
  initialSettlement,
  type Settlement,
} from '../../actors/settlement/settlementActor.ts';
import { computeStatistics } from '../../actors/statistics/statistics.ts';
import { counterReadingMessage, toCounterReading } from '../../actors/wheel/counterReading.ts';
import {
  type CapturedCounters,
  counterKinds,
  createCounterRestoration,
} from '../../actors/wheel/counterSnapshot.ts';
import { type DayHistory, findDayStart, toHistory, withReading } from '../../actors/wheel/dayHistory.ts';
import { addPublicReading, nothingPublic, type PublicState } from '../../actors/wheel/publicState.ts';
import type { RoundRow } from '../../actors/wheel/roundFold.ts';
import { roundMs } from '../../actors/wheel/roundFold.ts';
import { approvedEpochsMax } from '../../machines/settlementEvents.ts';
import { recordStep } from '../support/chain/feedEvents.ts';
import { genesisMs, storedLateMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { runs } from '../support/propertyRuns.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';
import { preparedBody } from '../support/readings/pipelineBodies.ts';
import { deriveUuid, readingMessage } from '../support/readings/readingMessages.ts';

function acceptedAt(observedAtMs: number, given: { readonly distanceMm?: number } = {}) {
  const observedAt = new Date(observedAtMs).toISOString();
  const message = readingMessage('wheel.one', 0, { observedAt, receivedAt: observedAt, ...given });
  return toCounterReading(counterReadingMessage.parse(message), 1);
}

/** The state that is restored from the records of another one. */
function restore(change: Partial<CapturedCounters>): CapturedCounters {
  const restoration = createCounterRestoration();
  const captured = { installations: [], places: null, ...nothingPublic, ...change };
  for (const record of listRecords(counterKinds, captured)) restoration.add(record);
  return restoration.complete();
}

describe('days with readings', () => {
  const day = fc.record({
    /** Days until the next day with a reading. */
    step: fc.constantFrom(1, 1, 1, 2, 9),
    /** Work of a round that closes in the day; null without one. */
    workUnits: fc.option(fc.bigInt(0n, 5n)),
    distanceMm: fc.nat(1_000),
  });

  it('keep their share of lifetime sums once their details are dropped', () => {
    const startMs = findDayStart(genesisMs);
    fc.assert(
      fc.property(fc.array(day, { minLength: 32, maxLength: 900 }), (days) => {
        let history: DayHistory | null = null;
        let dayStartMs = startMs;
        const plain = { work: 0n, active: 0, rounds: 0, distanceMm: 0n, endMs: 0 };
        for (const { step, workUnits, distanceMm } of days) {
          history = withReading(history, acceptedAt(dayStartMs + 1, { distanceMm }), null);
          const round: RoundRow | null =
            workUnits === null
              ? null
              : { installationId: 'wheel.one', roundId: 1, startMs: dayStartMs, workUnits, position: 1 };
          history = withReading(history, acceptedAt(dayStartMs + roundMs, { distanceMm }), round);
          plain.work += workUnits ?? 0n;
          plain.active += workUnits !== null && workUnits > 0n ? 1 : 0;
          plain.rounds += workUnits === null ? 0 : 1;
          plain.distanceMm += BigInt(distanceMm);
          plain.endMs = dayStartMs + dayMs;
          dayStartMs += step * dayMs;
        }
        expect(history?.past).toHaveLength(days.length - 1);
        const newestDetailed = history?.past.map(({ rounds }) => rounds !== null) ?? [];
        expect(newestDetailed.lastIndexOf(false)).toBe(newestDetailed.length - 31);
        expect(newestDetailed.filter(Boolean)).toHaveLength(30);
        expect(restore({ history }).history).toEqual(history);
        const { lifetime } = computeStatistics('30d', {
          history,
          genesisMs: startMs,
          generatedAtMs: plain.endMs,
        });
        expect(lifetime).toMatchObject({
          acceptedWorkUnits: plain.work,
          activeDayCount: plain.active,
          observedDistanceMm: plain.distanceMm,
          coverageBps: Math.floor((plain.rounds * 10_000) / ((plain.endMs - startMs) / roundMs)),
        });
      }),
      { numRuns: runs(4) },
    );
  });

  it('are the same object after a reading that changes nothing', () => {
    const reading = acceptedAt(genesisMs, { distanceMm: 5 });
    const history = withReading(null, reading, null);
    expect(withReading(history, { ...reading, observedAtMs: genesisMs + 1 }, null)).toBe(history);
    const start = { firstObservedAtMs: genesisMs };
    expect(() => toHistory(start, [])).toThrow('the day of the newest reading');
  });
});

describe('messages of oracle and reporter', () => {
  function start(restored: Partial<Settlement> = {}) {
    const actor = createSettlementActor({ ...initialSettlement, ...restored });
    let number = 0;
    /** Null if the message is folded. */
    const send = (subject: string, body: object) => {
      // Equal statements need different times.
      const at = new Date(genesisMs + ++number).toISOString();
      const decoded = decodeSettlement(jsonMessage(subject, { at, ...body }), storedLateMs, genesisMs);
      if (decoded !== null && 'rejection' in decoded) return decoded.rejection;
      return actor.receive((decoded as { value: never }).value, 0);
    };
    return {
      oracle: (body: object) => send(oracleSubject('wheel.one'), body),
      reporter: (body: object) => send(reporterSubject('wheel.one'), body),
      settlement: actor.settlement,
      /** Keys of a list's first and last records. */
      findEnds: (list: string) => {
        const installation = {
          ...{ installationId: 'one', modules: [], signer: null, acceptedSigners: noRememberedIds },
          ...{ settlement: actor.settlement(), heardAtMs: 0, forgottenThroughMs: null },
        };
        const keys = [...encodeInstallations({ installations: [installation], places: null })]
          .filter(({ kind }) => kind === list)
          .map(({ key }) => key);
        return [keys[0], keys.at(-1)];
      },
    };
  }

  it('approve the newest epochs; a forgotten epoch may be approved again', () => {
    const { oracle, settlement } = start();
    const epochs = Array.from({ length: approvedEpochsMax + 1 }, (_, epoch) => deriveUuid(`epoch ${epoch}`));
    const approved = () => settlement().snapshot.context.approvedEpochs;
    for (const counterEpoch of epochs) expect(oracle({ type: 'epoch_approved', counterEpoch })).toBeNull();
    expect(approved().toSorted()).toEqual(epochs.slice(1).toSorted());
    expect(oracle({ type: 'epoch_approved', counterEpoch: epochs[0] })).toBeNull();
    expect(approved().toSorted()).toEqual(epochs.toSpliced(1, 1).toSorted());
  });

  it('keep the newest closed rounds', () => {
    const closed = Range(1, closedRoundsMax).map((round) => ({ roundId: BigInt(round), workUnits: 1n }));
    const { oracle, settlement, findEnds } = start({ closedRounds: closed.toList() });
    for (const first of [1, 2]) {
      const roundId = String(closedRoundsMax + first - 1);
      const acceptedAt = new Date(genesisMs).toISOString();
      const rounds = [{ roundId, workUnits: '1' }];
      const closure = { type: 'closure_accepted', firstRound: roundId, lastRound: roundId };
      expect(oracle({ ...closure, acceptedAt, rounds })).toBeNull();
      expect(settlement().closedRounds.size).toBe(closedRoundsMax);
      expect(settlement().closedRounds.first()?.roundId).toBe(BigInt(first));
      expect(findEnds('closedRound')).toEqual([`one/${first}`, `one/${roundId}`]);
    }
  });

  it('keep the newest ended submissions, and since when they are complete', () => {
    const ended = Range(1, endedSubmissionsMax).map((createdAtMs) => ({
      ...{ createdAtMs, submittedAtMs: null, terminalAtMs: createdAtMs, outcome: 'superseded' as const },
    }));
    const { reporter, settlement, findEnds } = start({
      endedSubmissions: ended.toList(),
      submissionsSinceMs: 1,
    });
    for (const evictedSubmissions of [0, 1]) {
      const submissionId = deriveUuid(`submission ${evictedSubmissions}`);
      expect(reporter({ ...preparedBody, submissionId })).toBeNull();
      expect(reporter({ type: 'submission_superseded', submissionId })).toBeNull();
      const submissionsSinceMs = 1 + evictedSubmissions;
      expect(settlement()).toMatchObject({ evictedSubmissions, submissionsSinceMs });
      expect(settlement().endedSubmissions.size).toBe(endedSubmissionsMax);
      expect(settlement().endedSubmissions.first()?.createdAtMs).toBe(submissionsSinceMs);
      expect(findEnds('endedSubmission')).toEqual([
        `one/${evictedSubmissions}`,
        `one/${endedSubmissionsMax + evictedSubmissions - 1}`,
      ]);
    }
  });
});

it('a window of events keeps 2,000 and then the newest 1,000', () => {
  const eventAt = (position: number) => ({ position, ordinal: 0 });
  const createWindow = (size: number, throughMs = 0) => ({
    events: List(Array.from({ length: size }, (_, index) => eventAt(index))),
    evicted: { ...nothingEvicted, throughMs },
  });
  // Receipt does not follow arrival: the latest one is within the evicted events.
  const evict = (size: number, throughMs?: number) =>
    evictOldest(createWindow(size, throughMs), {
      recordedAtMs: ({ position }) => (position === 500 ? 9_000 : position),
      canEvict: () => true,
      position: size,
    });
  expect(evict(2_000)).toBeNull();
  const evicted = evict(2_001);
  expect(evicted?.evicted).toEqual(Array.from({ length: 1_001 }, (_, index) => eventAt(index)));
  expect(evicted?.window).toEqual({
    events: createWindow(2_001).events.skip(1_001),
    evicted: { through: eventAt(1_000), throughMs: 9_000, atPosition: 2_001 },
  });
  expect(evict(2_001, 9_001)?.window.evicted.throughMs).toBe(9_001);
});

it('measurement events are evicted by the reading that exceeds their limit', () => {
  const state: PublicState = { ...nothingPublic };
  const evictions: number[] = [];
  for (let position = 1; position <= 1_000; position++) {
    const speedMmPerSecond = 3_000 + position * recordStep;
    const reading = acceptedReading({ position, speedMmPerSecond, distanceMm: position * 50_000_000 });
    const before = state.progress?.events.toArray() ?? [];
    const evicted = addPublicReading(state, { reading, round: null, storedAtMs: 0 });
    if (evicted !== null) {
      evictions.push(before.length);
      const kept = state.progress?.events.toArray() ?? [];
      expect([...evicted, ...kept].slice(0, before.length)).toEqual(before);
    }
    // Nothing changes with a reading that achieves nothing.
    if (position % 100 === 0)
      expect(addPublicReading(state, { reading, round: null, storedAtMs: 0 })).toBeNull();
    expect(state.progress?.events.size).toBeLessThanOrEqual(2_000);
  }
  expect(evictions[0]).toBeGreaterThan(1_900);
});

it('the oldest changes of proposers are forgotten first', () => {
  const changes = Array.from({ length: proposersMax + 1 }, (_, index) => ({
    account: `0x${index.toString(16).padStart(40, '0')}`,
    isGranted: index % 2 === 0,
  })) as ProposerChange[];
  expect(latestChanges(changes)).toEqual(changes.slice(1));
  const [oldest] = changes;
  expect(latestChanges([...changes.slice(1), oldest as ProposerChange])).toHaveLength(proposersMax);
});
