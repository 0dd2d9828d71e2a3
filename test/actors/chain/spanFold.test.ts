import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { ForkBelowStates } from '../../../actors/chain/fold/followLink.ts';
import { toChainSpan } from '../../../actors/chain/spans/chainSpan.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import { buildTransactionHash } from '../../support/chain/hashes.ts';
import { configuredEconomy, minted, transferred } from '../../support/chain/writtenEconomy.ts';
import {
  buildEvent,
  buildHash,
  buildSpan,
  buildSpanMessage,
  type WrittenEvent,
  writtenChainId,
  writtenContracts,
} from '../../support/chain/writtenSpans.ts';
import { runs } from '../../support/propertyRuns.ts';
import { restoreState } from '../../support/restoreState.ts';
import { sortRecords } from '../../support/sortRecords.ts';

const deploymentBlock = 10;
const settings = {
  chainId: writtenChainId,
  contracts: writtenContracts,
  deploymentBlock: BigInt(deploymentBlock),
};
const owner = toAddress(`0x${'a1'.repeat(20)}`);
const other = toAddress(`0x${'a2'.repeat(20)}`);

const configured = configuredEconomy.filter(({ name }) => name === 'MiningConfigured');
const merged = buildEvent('mining', 'PositionsMerged', {
  owner,
  survivorTokenId: 1n,
  donorTokenId: 2n,
  level: 2,
  nextMergeBlock: 0n,
  effectiveRound: 2n,
});
const buildSettlement = (previous: bigint, through: bigint, workAdded: bigint, cumulativeWork: bigint) =>
  buildEvent('core', 'BatchSettled', {
    previousSettledThroughRound: previous,
    settledThroughRound: through,
    activeRoundCount: 1n,
    workAdded,
    cumulativeWork,
    cumulativeBlockUnits: cumulativeWork,
    workPerThousandBlocks: 1_000n,
    nonce: 0n,
  });
const buildRoundMint = (roundId: bigint) =>
  buildEvent('mining', 'RoundMinted', {
    roundId,
    completedBlockCount: 1n,
    eligibleWeight: 100n,
    amount: 50n,
    accumulatedPerWeight: roundId,
  });

const guardianChanged = buildEvent('core', 'GuardianChanged', { guardian: owner });
const claimed = buildEvent('mining', 'RewardsClaimed', { owner, tokenIds: [9n], amount: 1n });

/** Events of an honest chain, by block. All other blocks are empty. */
const honest = new Map<number, readonly WrittenEvent[]>([
  [10, configured],
  [12, [1, 2, 3].map((tokenId) => minted(owner, tokenId))],
  [14, [buildSettlement(0n, 5n, 7n, 7n), transferred(owner, other, 3)]],
  [16, [buildRoundMint(1n), merged]],
  [18, [buildSettlement(5n, 6n, 3n, 10n)]],
]);

/** A chain with other events in some blocks. */
function chainWith(changes: Readonly<Record<number, readonly WrittenEvent[]>>, toBlock = 60) {
  return Array.from({ length: toBlock - deploymentBlock + 1 }, (_, index) => {
    const number = deploymentBlock + index;
    return buildSpanMessage(
      buildSpan({ number, events: changes[number] ?? honest.get(number) ?? [] }),
      index + 1,
    );
  });
}

/** The same blocks in a single span. */
function joinSpans(messages: readonly ReturnType<typeof buildSpanMessage>[]) {
  const spans = messages.map(({ data }) => JSON.parse(Buffer.from(data).toString()));
  const { fromBlock, parentHash } = spans[0];
  return buildSpanMessage(
    { ...spans.at(-1), fromBlock, parentHash, blocks: spans.flatMap(({ blocks }) => blocks) },
    1,
  );
}

/** A value without members that depend on the messages that published the blocks. */
function formatWithoutMessages(of: object) {
  const ofMessages = new Set(['recordedAtMs', 'position', 'run']);
  return JSON.stringify(of, (key, value) =>
    ofMessages.has(key) ? 0 : typeof value === 'bigint' ? String(value) : value,
  );
}

/** The state without the number of forks and older states. */
function describeWithoutMessages(actors: ChainActors) {
  const { forks: _, ...state } = actors.state;
  return formatWithoutMessages({ ...state, safe: actors.newest() });
}

function restart(actors: ChainActors): ChainActors {
  const restarted = createChainActors(settings);
  restoreState(restarted, actors.capture());
  return restarted;
}

/** Folds messages, and restarts from a snapshot before one of them. */
function foldMessages(messages: readonly ReturnType<typeof buildSpanMessage>[], restartsAt?: number) {
  let actors = createChainActors(settings);
  const outcomes = messages.map((message, index) => {
    if (index === restartsAt) actors = restart(actors);
    return actors.receive(message);
  });
  return { actors, outcomes };
}

/** Publishes the blocks from one on again, with the same hashes, as a higher fork: only their logs may differ. */
function correct(actors: ChainActors, from: number) {
  for (let number = from; number <= 60; number++) {
    const span = buildSpan({ number, fork: 1, branch: 0, events: honest.get(number) ?? [] });
    expect(actors.receive(buildSpanMessage(span, 100 + number))).not.toHaveProperty('rejection');
  }
  expect(actors.fault).toBeNull();
}

/** Blocks that cannot follow the honest ones, by the reason that the fault names. */
const impossible: readonly (readonly [why: string, block: number, events: readonly WrittenEvent[]])[] = [
  ['token 9 has no position', 14, [transferred(owner, other, 9)]],
  [`token 1 does not belong to ${other}`, 14, [transferred(other, owner, 1)]],
  ['token 1 has a position already', 14, [minted(owner, 1)]],
  ['token 2 has no position', 16, [buildRoundMint(1n), merged, merged]],
  ['level 7 has no configured weight', 16, [{ ...merged, args: { ...merged.args, level: 7 } }]],
  ['settledThroughRound is 5 here, and 4 in the event', 18, [buildSettlement(4n, 6n, 3n, 10n)]],
  ['cumulativeWork is 10 here, and 17 in the event', 18, [buildSettlement(5n, 6n, 3n, 17n)]],
  ['round 77 was minted but never settled', 16, [buildRoundMint(77n)]],
  ['round 1 is minted already, or one after it', 16, [buildRoundMint(1n), buildRoundMint(1n)]],
  ['the core changed its configuration before it had one', 14, [guardianChanged]],
  ['token 9 has no position', 14, [claimed]],
];

describe('a block that cannot be applied', () => {
  it.each(impossible)(
    'stops only the chain, until a span of a higher fork corrects it: %s',
    (why, block, events) => {
      // A good event before the impossible one: a block is applied as a whole or not at all.
      const before = buildEvent('token', 'Transfer', { from: zeroAddress, to: owner, value: 5n });
      const wrong = chainWith({ [block]: [before, ...events] });
      const { actors, outcomes } = foldMessages(wrong);
      expect(outcomes.every((outcome) => typeof outcome === 'object' && !('rejection' in outcome))).toBe(
        true,
      );
      expect(actors.state.head?.number).toBe(60n);
      expect(actors.fault?.block).toMatchObject({ number: BigInt(block), hash: buildHash(block) });
      const { contract, name } = events.at(-1) as WrittenEvent;
      const log = `log ${events.length}, transaction ${buildTransactionHash(events.length + 1)}`;
      expect(actors.fault?.detail).toBe(`${contract}.${name} (${log}): ${why}`);
      const sound = foldMessages(chainWith({}).slice(0, block - deploymentBlock + 11));
      expect(actors.newest()).toEqual(sound.actors.newest());

      // Blocks behind it become safe with it, and are not applied. A span lists only blocks with events.
      const together = foldMessages([joinSpans(wrong)]).actors;
      expect(together.fault).toEqual(actors.fault);
      const applied = [together, actors].map((one) =>
        formatWithoutMessages({ ...one.newest(), block: null, feed: null }),
      );
      expect(applied[0]).toBe(applied[1]);

      // Through a snapshot taken anywhere, and more blocks.
      for (const at of [5, 20, 30]) {
        const restored = restart(foldMessages(wrong.slice(0, at)).actors);
        for (const message of wrong.slice(at)) restored.receive(message);
        expect(restored.fault).toEqual(actors.fault);
        expect([...restored.capture()]).toEqual([...actors.capture()]);
      }

      const expected = foldMessages(chainWith({})).actors;
      for (const from of [block, deploymentBlock]) {
        const corrected = foldMessages(wrong).actors;
        correct(corrected, from);
        expect(describeWithoutMessages(corrected)).toBe(describeWithoutMessages(expected));
      }
    },
  );

  it('may have a log that its contract cannot emit', () => {
    const wrong = chainWith({}).map((message) => {
      const span = JSON.parse(Buffer.from(message.data).toString());
      for (const block of span.fromBlock === '14' ? span.blocks : []) block.logs[0].data = '0x12';
      return { ...message, data: Buffer.from(JSON.stringify(span)) };
    });
    const { actors, outcomes } = foldMessages(wrong);
    expect(outcomes.filter((outcome) => typeof outcome !== 'object' || 'rejection' in outcome)).toEqual([]);
    expect(actors.state.head?.number).toBe(60n);
    expect(actors.fault).toMatchObject({ block: { number: 14n }, detail: expect.stringMatching(/^log 0, /) });
    correct(actors, 14);
  });

  it('is not corrected by a span of the same fork, or by a fork above it', () => {
    const { actors } = foldMessages(chainWith({ 14: [transferred(owner, other, 9)] }));
    const again = buildSpan({ number: 14, events: [] });
    expect(actors.receive(buildSpanMessage(again, 100))).toHaveProperty('rejection.reason', 'unlinked_span');
    for (const [branch, number] of [55, 15].entries()) {
      const forkAbove = buildSpan({ number, fork: branch + 1, branch: branch + 1, parentBranch: 0 });
      expect(actors.receive(buildSpanMessage(forkAbove, 101 + branch))).toMatchObject({
        output: { reorganization: { forkBlock: BigInt(number - 1) } },
      });
      expect(actors.fault?.block.number).toBe(14n);
      expect(actors.state.head?.hash).toBe(buildHash(number, branch + 1));
    }
  });

  it('keeps at most 600 blocks behind it, without their events', () => {
    const wrong = chainWith({ 14: [transferred(owner, other, 9)], 15: configured }, 1_500);
    const { actors } = foldMessages(wrong);
    expect(actors.state.unsafe.length).toBe(600);
    expect(actors.state.unsafe.every(({ events }) => events.length === 0)).toBe(true);
  });
});

describe('spans of another deployment', () => {
  const foreign = [
    (number: number) => buildSpanMessage(buildSpan({ number, core: toAddress(`0x${'ee'.repeat(20)}`) }), 0),
    (number: number) => buildSpanMessage(buildSpan({ number }), 0, 1n),
  ];

  it('are rejected anywhere and change nothing, also across a snapshot', () => {
    const good = chainWith({});
    for (const restartsAt of [0, 1, 30]) {
      let actors = createChainActors(settings);
      for (const [index, message] of good.entries()) {
        expect(actors.receive(message)).not.toHaveProperty('rejection');
        for (const build of foreign)
          expect(actors.receive(build(deploymentBlock + index + 1))).toHaveProperty(
            'rejection.reason',
            'other_deployment',
          );
        if (index === restartsAt) actors = restart(actors);
        expect(actors.state.isMismatched).toBe(false);
      }
      expect([...actors.capture()]).toEqual([...foldMessages(good).actors.capture()]);
    }
  });

  it('are a mismatch while no span of this deployment has arrived', () => {
    const actors = createChainActors(settings);
    expect(actors.state.isMismatched).toBe(false);
    actors.receive(foreign[0]?.(deploymentBlock) as never);
    expect(actors.state.isMismatched).toBe(true);
    const restored = restart(actors);
    expect(restored.state.isMismatched).toBe(true);
    restored.receive(buildSpanMessage(buildSpan({ number: deploymentBlock }), 2));
    expect(restored.state.isMismatched).toBe(false);
  });
});

it('forks within forks, and returns to earlier ones, leave nothing of the blocks that they replace', () => {
  const branches = [owner, other, toAddress(`0x${'a3'.repeat(20)}`)];
  const fork = fc.record({ back: fc.nat(20), blocks: fc.nat(20), branch: fc.nat(2), skipped: fc.nat(1) });
  fc.assert(
    fc.property(fc.array(fork, { maxLength: 5 }), fc.nat(), (forks, restart) => {
      let chain: { readonly branch: number; readonly message: ReturnType<typeof buildSpanMessage> }[] = [];
      const told: (typeof chain)[number]['message'][] = [];
      let [forkNumber, followed, longest] = [0, 0, 0];
      const add = (blocks: number, branch: number) => {
        for (let block = 0; block < blocks; block++) {
          const number = deploymentBlock + chain.length;
          const events = [
            ...(chain.length === 0 ? configured : []),
            minted(branches[branch] ?? owner, number),
          ];
          const parentBranch = chain.at(-1)?.branch ?? branch;
          const span = buildSpan({ number, fork: forkNumber, branch, parentBranch, events });
          const message = buildSpanMessage(span, told.length + 1);
          told.push(message);
          chain.push({ branch, message });
        }
        longest = Math.max(longest, chain.length);
      };
      add(25, 0);
      for (const { back, blocks, branch, skipped } of forks) {
        forkNumber += 1 + skipped;
        // A fork of which nothing is told, or which follows the head, is none.
        if (blocks > 0 && back > 0 && chain.length > 1) followed = forkNumber;
        // The first block is final.
        if (blocks > 0) chain = chain.slice(0, Math.max(1, chain.length - back));
        add(blocks, branch);
      }
      add(longest + 14 - chain.length, 2);
      const { actors, outcomes } = foldMessages(told);
      expect(outcomes.filter((outcome) => outcome === 'unread' || 'rejection' in outcome)).toEqual([]);
      expect(actors.state.forks).toBe(followed);
      try {
        const restarted = foldMessages(told, restart % told.length).actors;
        expect(sortRecords(restarted.capture())).toEqual(sortRecords(actors.capture()));
        expect(restarted.newestSpanAtMs).toBe(actors.newestSpanAtMs);
      } catch (error) {
        // A fork below the restored states needs an older snapshot.
        if (!(error instanceof ForkBelowStates)) throw error;
      }
      const plain = foldMessages(chain.map(({ message }) => message));
      expect(describeWithoutMessages(actors)).toBe(describeWithoutMessages(plain.actors));
    }),
    { numRuns: runs(20) },
  );
});

describe('the beginning of a chain', () => {
  it('takes back what the replaced blocks had added', () => {
    // Two rounds are minted on one date.
    const second = { 18: [buildSettlement(5n, 6n, 3n, 10n), buildRoundMint(6n)] };
    const { actors } = foldMessages(chainWith(second));
    expect(actors.newest()?.mining.perWeightByDate.toArray()).toEqual([{ date: '2026-01-01', atEnd: 6n }]);
    for (let number = 16; number <= 60; number++)
      actors.receive(
        buildSpanMessage(buildSpan({ number, fork: 1, parentBranch: number === 16 ? 0 : 1 }), 100 + number),
      );
    expect(actors.newest()?.mining.perWeightByDate.size).toBe(0);
  });

  it('is replaced only by a higher fork from the deployment block', () => {
    const { actors } = foldMessages(chainWith({}));
    const before = [...actors.capture()];
    for (const block of [{ number: 10 }, { number: 10, fork: 0, branch: 3 }, { number: 9, fork: 1 }]) {
      const outcome = actors.receive(buildSpanMessage(buildSpan(block), 100));
      expect(outcome).toHaveProperty('rejection.reason', 'unlinked_span');
    }
    expect([...actors.capture()]).toEqual(before);
    const { add, liesWithin } = actors.beginRestore();
    for (const record of before) add(record);
    expect([48n, 49n].map(liesWithin)).toEqual([false, true]);
    expect(actors.receive(buildSpanMessage(buildSpan({ number: 10, fork: 1 }), 101))).toMatchObject({
      output: { reorganization: { forkBlock: 9n, safeDepth: 40 } },
    });
    expect(actors.state).toMatchObject({ head: { hash: buildHash(10, 1) }, safe: [], forks: 1 });
  });

  it('rejects a fork inside a span if its state would have been retained', () => {
    const span = buildSpan({ number: deploymentBlock });
    const wide = { ...span, toBlock: '40', hash: buildHash(40) };
    const fork = buildSpan({ number: 25, fork: 1 });
    const actors = createChainActors(settings);
    actors.receive(buildSpanMessage(wide, 1));
    expect(() => actors.receive(buildSpanMessage(fork, 2))).toThrow(new ForkBelowStates(24n, 40n));
    restoreState(actors, []);
    actors.retainAt(new Set([24n]));
    actors.receive(buildSpanMessage(wide, 1));
    expect(actors.receive(buildSpanMessage(fork, 2))).toHaveProperty('rejection.reason', 'unlinked_span');
  });
});

describe('a span', () => {
  it('is reported as refused until a later one is accepted', () => {
    const actors = createChainActors(settings);
    const receive = (span: object, sequence: number) =>
      actors.receive(buildSpanMessage(span as never, sequence));
    receive(buildSpan({ number: 10 }), 1);
    receive(buildSpan({ number: 11 }), 2);
    receive(buildSpan({ number: 11, branch: 7 }), 3);
    receive({ ...buildSpan({ number: 12 }), core: writtenContracts.mining }, 4);
    actors.receive({ ...buildSpanMessage({} as never, 5), subject: 'miner.chain.1.span' });
    expect(actors.refusedSpan).toBeNull();
    receive({ ...buildSpan({ number: 12 }), hash: 'x' }, 6);
    receive(buildSpan({ number: 13 }), 7);
    const { timestampNanos } = buildSpanMessage({} as never, 6);
    expect(actors.refusedSpan).toMatchObject({
      sequence: 6,
      storedAtMs: Number(timestampNanos / 1_000_000n),
      rejection: { reason: 'malformed' },
    });
    receive(buildSpan({ number: 12 }), 8);
    expect(actors.refusedSpan).toBeNull();
    receive(buildSpan({ number: 14 }), 9);
    restoreState(actors, actors.capture());
    expect(actors.refusedSpan).toBeNull();
  });

  it.each<[string, readonly number[]]>([
    ['twice', [0, 1, 1, 2]],
    ['out of order', [0, 2, 1]],
  ])('is malformed if it has a log %s', (_what, indexes) => {
    const span = buildSpan({ number: 10, events: indexes.flatMap(() => configured) });
    const [block] = span.blocks;
    const logs = block?.logs.map((log, at) => ({ ...log, logIndex: indexes[at] as number })) ?? [];
    const changed = { ...span, blocks: [{ ...block, logs }] };
    expect(createChainActors(settings).receive(buildSpanMessage(changed, 1))).toHaveProperty(
      'rejection.reason',
      'malformed',
    );
    expect(toChainSpan(writtenChainId, changed as never)).toBeNull();
  });

  it.each([
    [[10, 11, 12], true],
    [[10, 12], true],
    [[11, 10, 12], false],
    [[10, 10, 12], false],
    [[9, 12], false],
    [[10, 12, 13], false],
  ])('has valid blocks %j from block 10 through 12: %s', (numbers, isValid) => {
    const blocks = numbers.map((number) => buildSpan({ number, events: configured }).blocks[0]);
    const span = { ...buildSpan({ number: 12 }), fromBlock: '10', blocks };
    expect(toChainSpan(writtenChainId, span as never) !== null).toBe(isValid);
    expect(toChainSpan(writtenChainId, { ...span, hash: buildHash(12, 5) } as never)).toBeNull();
  });

  it('is one block if it is in parts', () => {
    const toPart = (index: number, fromBlock = '10') =>
      toChainSpan(writtenChainId, {
        ...buildSpan({ number: 10 }),
        fromBlock,
        part: { index, count: 2 },
      } as never);
    expect(toPart(1)).not.toBeNull();
    expect([toPart(2), toPart(1, '9')]).toEqual([null, null]);
  });

  it('continues the logs of the previous part, even after a restart', () => {
    const span = buildSpan({ number: 10, events: [...configured, minted(owner, 1), minted(owner, 2)] });
    const [block] = span.blocks;
    const logs = block?.logs ?? [];
    const buildPart = (index: number, ofPart: readonly object[]) =>
      buildSpanMessage(
        { ...span, blocks: [{ ...block, logs: ofPart }], part: { index, count: 2 } },
        index + 1,
      );
    const begin = (first: readonly object[]) => {
      const actors = createChainActors(settings);
      actors.receive(buildPart(0, first));
      return actors;
    };
    expect(begin(logs.slice(0, 2)).receive(buildPart(1, logs.slice(1)))).toHaveProperty(
      'rejection.reason',
      'malformed',
    );
    const sound = begin(logs.slice(0, 2));
    // Another indexer begins the block again.
    sound.receive(buildPart(0, logs.slice(0, 2)));
    sound.receive(buildPart(1, logs.slice(2)));
    expect(sound.state.unsafe[0]?.events).toHaveLength(3);
    expect(sound.state.parts).toBeNull();
    const truncated = { ...logs[0], truncated: { byteLength: 1_000, digest: buildHash(1) } };
    expect(restart(begin([truncated])).receive(buildPart(1, logs.slice(1)))).toHaveProperty('output');
  });
});
