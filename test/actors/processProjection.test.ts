import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import type { CoreConfiguration } from '../../actors/chain/state/coreState.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { counterSubject } from '../../actors/messages/subjects.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import { processResponse, toProcessBody } from '../../http/responses/process/process.ts';
import { statusResponse, toStatusBody } from '../../http/responses/process/status.ts';
import { acceptReadings, type Reading } from '../reference/acceptedReadings.ts';
import { measureProcess, measureStatus } from '../reference/processAndStatus.ts';
import { startSettlement } from '../reference/settlement.ts';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';
import { listDifferences } from '../support/reference/listDifferences.ts';
import { chainStart, wheelId as id, startViews as startWorld } from './viewedWorld.ts';

const account = toAddress(`0x${'a'.repeat(40)}`);
const configuration: CoreConfiguration = {
  streamId: `0x${'5'.repeat(64)}`,
  genesisTimestamp: BigInt(genesisMs / 1000),
  roundDuration: 600n,
  maxWorkPerRound: 5_000n,
  maxRoundsPerBatch: 16n,
  initialWorkPerThousandBlocks: 900_000n,
  targetBlocksPerActiveRound: 2n,
  difficultySmoothingRounds: 24n,
  blockUnitsPerBlock: 1_000_000_000n,
  guardian: account,
  reporter: account,
};

/** A chain at its beginning, with a configured core. */
const chainAtStart: ChainState = {
  ...chainStart,
  core: {
    ...chainStart.core,
    configuration,
    workPerThousandBlocks: configuration.initialWorkPerThousandBlocks,
  },
};

function startViews() {
  const { clock, world, views, messages, read, ...say } = startWorld();
  let readings = 0;
  let accepted: readonly Reading[] | null = [];
  const { settlement, hear } = startSettlement(id, genesisMs);
  const toStored = (message: StreamMessage) => ({
    ...message,
    storedAtMs: Number(message.timestampNanos / 1_000_000n),
  });
  const send = (who: 'oracle' | 'reporter', body: object) => {
    const outcome = say[who](body);
    hear(toStored(messages.at(-1) as StreamMessage));
    return outcome;
  };
  /** Publishes readings of some minutes, one every ten seconds. The clock follows. */
  const run = (minutes: number, given: object = {}) => {
    accepted = null;
    for (let reading = 0; reading < minutes * 6; reading++) {
      read(readings++, given);
      clock.advance(Math.max(0, genesisMs + readings * 10_000 - clock.nowMs()));
    }
  };
  const reporter = (body: object) => send('reporter', body);
  reporter({ type: 'settings', settlementEnabled: false, reporterEnvironmentEnabled: false });
  const closeRounds = (firstRound: bigint, works: readonly bigint[]) =>
    send('oracle', {
      type: 'closure_accepted',
      firstRound: String(firstRound),
      lastRound: String(firstRound + BigInt(works.length - 1)),
      rounds: works.map((work, index) => ({
        roundId: String(firstRound + BigInt(index)),
        workUnits: String(work),
      })),
      acceptedAt: new Date(clock.nowMs()).toISOString(),
    });
  const approve = () => send('oracle', { type: 'epoch_approved', counterEpoch: deriveUuid(`${id} epoch`) });
  /** Compares the quantities of both routes with the reference. */
  const snapshot = () => {
    clock.advance(1_000);
    const view = views.process();
    const [a, b] = [toProcessBody(view), toStatusBody(view)];
    accepted ??= acceptReadings(
      messages.filter(({ subject }) => subject === counterSubject(id)).map(toStored),
    );
    const core = world.chain === null ? null : { ...world.chain.core, batches: [], version: 0n };
    const input = {
      genesisMs,
      readings: accepted,
      settlement,
      core: core as never,
      signer: null,
      modules: [],
      nowMs: clock.nowMs(),
    };
    expect(listDifferences(a, measureProcess(input))).toEqual([]);
    expect(listDifferences(b, measureStatus(input))).toEqual([]);
    return { process: a, ...b };
  };
  return { clock, world, run, reporter, closeRounds, approve, snapshot };
}

it('the open rounds of three days are projected', () => {
  const { world, run, closeRounds, approve, snapshot } = startViews();
  world.chain = chainAtStart;
  run(11);
  approve();
  // The clock of the oracle is ahead: round 2 has not ended.
  closeRounds(1n, [420n, 420n]);
  snapshot();
  run(24 * 60);
  // The next day has other rounds at the same places.
  run(25 * 60, { cumulativeWorkUnits: '65000' });
  expect(snapshot().builder.status).toBe('available');
});

it('any numbers of the core, the oracle, the reporter and the wheel give a process snapshot and a status that fit their schemas', () => {
  const upTo = (bits: bigint, least = 0n) => {
    const max = 2n ** bits - 1n;
    const besidePower = fc
      .tuple(fc.bigInt(1n, bits - 1n), fc.bigInt(-1n, 1n))
      .map(([exponent, by]) => 2n ** exponent + by);
    return fc.oneof(fc.bigInt(least, max), fc.bigInt(max - 3n, max), besidePower, fc.bigInt(least, 10_000n));
  };
  /** The sums after a batch of one round. */
  const plausible = {
    previousSettledThroughRound: 0n,
    rounds: 1n,
    activeRoundCount: 1,
    cumulativeWork: 420n,
    cumulativeBlockUnits: 466_666_666n,
    workPerThousandBlocks: 900_000n,
    completedBlockCount: 0n,
  };
  const submission = fc.record({
    previousSettledThroughRound: upTo(64n),
    rounds: upTo(6n, 1n),
    activeRoundCount: fc.nat(16),
    cumulativeWork: upTo(256n),
    cumulativeBlockUnits: upTo(256n),
    workPerThousandBlocks: upTo(256n, 1n),
    completedBlockCount: upTo(64n),
  });
  const world = fc.record({
    core: fc.record({
      cumulativeWork: upTo(256n),
      cumulativeBlockUnits: upTo(256n),
      workPerThousandBlocks: upTo(256n, 1n),
      settledThroughRound: fc.oneof(fc.bigInt(0n, 4n), upTo(64n)),
    }),
    limits: fc.record({
      maxWorkPerRound: upTo(256n, 1n),
      maxRoundsPerBatch: fc.bigInt(1n, 16n),
      targetBlocksPerActiveRound: upTo(64n, 1n),
      difficultySmoothingRounds: upTo(64n, 1n),
    }),
    closures: fc.array(
      fc.record({
        firstRound: fc.oneof(fc.bigInt(1n, 5n), upTo(64n, 1n)),
        works: fc.array(upTo(256n), { minLength: 1, maxLength: 4 }),
      }),
      { maxLength: 3 },
    ),
    submissions: fc.array(fc.oneof(submission, fc.constant(plausible)), { maxLength: 3 }),
    counters: fc.array(upTo(256n), { maxLength: 30 }),
    clockMs: fc.constantFrom(-4_000_000, -600_000, -1, 0, 300_000, 2_000_000_000),
  });
  /** Fixed examples, so that every outcome is seen with any seed. */
  const { core } = chainAtStart;
  const [huge, height] = [2n ** 256n - 1n, 2n ** 64n];
  const begun = {
    core,
    limits: configuration,
    closures: [{ firstRound: 1n, works: [420n] }],
    submissions: [plausible, { ...plausible, activeRoundCount: 2 }],
    counters: [] as bigint[],
    clockMs: 0 as const,
  };
  // As much as the counter of a process snapshot holds, and more.
  const counted = [height - 1n, height].map((counter) => ({ ...begun, counters: [counter] }));
  const ahead = { ...begun, core: { ...core, settledThroughRound: 4n } };
  // As much work as the core's configuration allows, and more.
  const worked = [0n, 1n].map((by) => ({
    ...begun,
    closures: [{ firstRound: 1n, works: [configuration.maxWorkPerRound + by] }],
  }));
  // Sums that the closed round, or the open ones, take to a bound of the core or beyond it.
  const unlimited = { ...configuration, maxWorkPerRound: huge };
  const atBounds = [
    ...[0n, 419n, 420n, 500n, 10_000n].map((left) => ({ cumulativeWork: huge - left })),
    ...[-1n, 0n, 1n].map((by) => ({ cumulativeBlockUnits: height * 1_000_000_000n + by })),
    ...[-1n, 0n].map((by) => ({ cumulativeBlockUnits: height * 1_000_000_000n - 466_666_666n + by })),
    ...[-1n, 0n].map((by) => ({ workPerThousandBlocks: (height - 1n) * 1_000n + by + 1n })),
  ].map((sums) => ({ ...begun, core: { ...core, ...sums }, limits: unlimited }));
  const seen = new Set<string>();
  fc.assert(
    fc.property(world, ({ core: sums, limits: given, closures: closed, submissions, counters, clockMs }) => {
      const { world: state, run, closeRounds, reporter, approve, snapshot, clock } = startViews();
      const chain = chainAtStart;
      state.chain = {
        ...chain,
        core: { ...chain.core, ...sums, configuration: { ...configuration, ...given } },
      };
      run(31);
      for (const cumulativeWorkUnits of counters)
        run(1 / 6, { cumulativeWorkUnits: cumulativeWorkUnits.toString() });
      approve();
      for (const { firstRound, works } of closed) {
        closeRounds(firstRound, works);
        seen.add(snapshot().builder.status);
      }
      for (const [index, { rounds, previousSettledThroughRound, ...sums }] of submissions.entries()) {
        const submissionId = deriveUuid(`s${index}`);
        const { activeRoundCount, ...expected } = sums;
        const outcome = reporter({
          type: 'submission_prepared',
          submissionId,
          previousSettledThroughRound: String(previousSettledThroughRound),
          settledThroughRound: String(previousSettledThroughRound + rounds),
          activeRoundCount,
          expected: Object.fromEntries(Object.entries(expected).map(([name, sum]) => [name, String(sum)])),
        });
        seen.add(outcome !== 'unread' && 'output' in outcome ? 'prepared' : 'refused');
        snapshot();
        reporter({ type: 'submission_superseded', submissionId });
      }
      clock.advance(clockMs);
      const { process, ...status } = snapshot();
      expect([processResponse.parse(process), statusResponse.parse(status)]).toEqual([process, status]);
      seen.add(status.settlementQueue.status);
    }),
    {
      numRuns: runs(60),
      examples: [begun, ahead, ...counted, ...worked, ...atBounds].map((one): [typeof one] => [one]),
    },
  );
  expect([...seen].sort()).toEqual(['available', 'prepared', 'refused', 'unavailable']);
});
