import { dayMs, sum, toDate, toIso } from './messages.ts';
import { type CoreState, isPaused, readVersion } from './readCore.ts';
import { rememberFor } from './remember.ts';
import { type ChainEvent, listEvents, type SafeChain, showChain } from './safeChain.ts';
import { findHeight, max, min } from './workToBlocks.ts';

/** CONTRACT.md, Issuance and collection, Portfolio, Owner activity; `Mining.sol` and `Collection.sol`, step by step. */

const scale = 10n ** 27n;
const nobody = `0x${'0'.repeat(40)}`;

interface Configured {
  readonly rewardPerBlock: bigint;
  readonly supplyCap: bigint;
  readonly claimLimit: bigint;
  readonly weights: readonly bigint[];
  readonly cooldownBlocks: readonly bigint[];
}

/** Rewards are scaled. */
interface Position {
  readonly tokenId: bigint;
  owner: string;
  ownedSinceMs: number;
  level: number;
  activeWeight: bigint;
  targetWeight: bigint;
  pending: { readonly round: bigint; readonly source: 'mint' | 'merge' } | null;
  nextMergeBlock: bigint;
  unclaimed: bigint;
  earned: bigint;
  /** By UTC date. */
  readonly earnedOn: Map<string, bigint>;
}

interface MintedRound {
  readonly roundId: bigint;
  readonly amount: bigint;
}

/** State of the economy's contracts. */
export interface Economy {
  readonly configuration: Configured;
  readonly decimals: number;
  /** Version of the implementation's code. */
  readonly version: bigint;
  readonly positions: Map<bigint, Position>;
  readonly mintedRounds: MintedRound[];
  totalWeight: bigint;
  accumulatedPerWeight: bigint;
  totalMinted: bigint;
  totalPaid: bigint;
  supply: bigint;
  closedThroughBlock: bigint;
  processedThroughRound: bigint;
  lastActivationRound: bigint;
}

/** Null before the contracts are configured. */
export function readEconomy(safe: SafeChain): Economy | null {
  const configuration = listEvents<Configured>(safe, 'mining', 'MiningConfigured').at(-1)?.args;
  const token = listEvents<{ decimals: number }>(safe, 'tokenFactory', 'TokenCreated').at(-1)?.args;
  const version = readVersion(safe, 'mining');
  if (configuration === undefined || token === undefined || version === 0n) return null;
  const economy: Economy = {
    configuration,
    decimals: token.decimals,
    version,
    positions: new Map(),
    mintedRounds: [],
    totalWeight: 0n,
    accumulatedPerWeight: 0n,
    totalMinted: 0n,
    totalPaid: 0n,
    supply: 0n,
    closedThroughBlock: 0n,
    processedThroughRound: 0n,
    lastActivationRound: 0n,
  };
  for (const event of safe.events) applyEvent(economy, event);
  return economy;
}

function applyEvent(economy: Economy, { contract, name, args, place }: ChainEvent): void {
  const given = args as unknown as Readonly<Record<string, bigint>>;
  const read = (argument: string) => given[argument] as bigint;
  const readAddress = (argument: string) => args[argument] as unknown as string;
  const find = (tokenId: bigint) => economy.positions.get(tokenId) as Position;
  switch (`${contract} ${name}`) {
    case 'collection Transfer':
      moveToken(economy, read('tokenId'), readAddress('to'), place.blockTimestampMs);
      break;
    case 'token Transfer':
      if (readAddress('from') === nobody) economy.supply += read('value');
      if (readAddress('to') === nobody) economy.supply -= read('value');
      break;
    case 'mining PositionMinted':
      Object.assign(find(read('tokenId')), {
        level: 1,
        targetWeight: read('weight'),
        pending: { round: read('firstRound'), source: 'mint' },
        nextMergeBlock: read('nextMergeBlock'),
      });
      break;
    case 'mining PositionsMerged': {
      // The donor's token is already burned; its rewards go to the survivor.
      const [survivor, donor] = [find(read('survivorTokenId')), find(read('donorTokenId'))];
      survivor.level = Number(read('level'));
      survivor.activeWeight += donor.activeWeight;
      survivor.unclaimed += donor.unclaimed;
      survivor.earned += donor.earned;
      for (const [date, earned] of donor.earnedOn) addOn(survivor.earnedOn, date, earned);
      survivor.targetWeight = economy.configuration.weights[survivor.level - 1] as bigint;
      survivor.pending = { round: read('effectiveRound'), source: 'merge' };
      survivor.nextMergeBlock = read('nextMergeBlock');
      economy.positions.delete(donor.tokenId);
      break;
    }
    case 'mining WeightActivated':
      economy.lastActivationRound = read('roundId');
      economy.totalWeight = read('totalWeight');
      for (const position of economy.positions.values()) activate(position, read('roundId'));
      break;
    case 'mining RoundMinted': {
      const perWeight = read('accumulatedPerWeight') - economy.accumulatedPerWeight;
      economy.accumulatedPerWeight = read('accumulatedPerWeight');
      economy.totalMinted += read('amount');
      economy.closedThroughBlock += read('completedBlockCount');
      economy.mintedRounds.push({ roundId: read('roundId'), amount: read('amount') });
      for (const position of economy.positions.values()) {
        const earned = position.activeWeight * perWeight;
        position.earned += earned;
        position.unclaimed += earned;
        addOn(position.earnedOn, toDate(place.blockTimestampMs), earned);
      }
      break;
    }
    case 'mining Checkpointed':
      economy.processedThroughRound = read('throughRound');
      break;
    case 'mining RewardsClaimed':
      economy.totalPaid += read('amount');
      // Whole base units are paid; the rest of each position stays.
      for (const tokenId of args.tokenIds as unknown as bigint[]) find(tokenId).unclaimed %= scale;
      break;
  }
}

function moveToken({ positions }: Economy, tokenId: bigint, to: string, atMs: number): void {
  const known = positions.get(tokenId);
  if (known !== undefined) {
    // A transfer to oneself does not restart ownership.
    if (known.owner === to) return;
    known.owner = to;
    known.ownedSinceMs = atMs;
    return;
  }
  positions.set(tokenId, {
    tokenId,
    owner: to,
    ownedSinceMs: atMs,
    level: 0,
    activeWeight: 0n,
    targetWeight: 0n,
    pending: null,
    nextMergeBlock: 0n,
    unclaimed: 0n,
    earned: 0n,
    earnedOn: new Map(),
  });
}

function activate(position: Position, roundId: bigint): void {
  if (position.pending === null || position.pending.round > roundId) return;
  position.activeWeight = position.targetWeight;
  position.pending = null;
}

const addOn = (amounts: Map<string, bigint>, date: string, amount: bigint) =>
  amounts.set(date, (amounts.get(date) ?? 0n) + amount);

/** Amounts that a checkpoint through all settled rounds would mint (CONTRACT.md, Next mint round). */
export function projectCheckpoint(safe: SafeChain, economy: Economy, core: CoreState) {
  const { rewardPerBlock, supplyCap } = economy.configuration;
  const waiting = [...economy.positions.values()].filter(({ pending }) => pending !== null);
  const findWeight = (throughRound: bigint) =>
    economy.totalWeight +
    sum(
      waiting.map(({ pending, targetWeight, activeWeight }) =>
        (pending?.round as bigint) <= throughRound ? targetWeight - activeWeight : 0n,
      ),
    );
  type Settled = { readonly roundId: bigint; readonly cumulativeBlockUnits: bigint };
  const rounds = listEvents<Settled>(safe, 'core', 'RoundSettled').map(({ args }) => args);
  let [closed, minted] = [economy.closedThroughBlock, economy.totalMinted];
  for (const { roundId, cumulativeBlockUnits } of rounds) {
    const height = cumulativeBlockUnits / 1_000_000_000n;
    if (roundId <= economy.processedThroughRound || height === closed) continue;
    if (findWeight(roundId) > 0n) minted += min((height - closed) * rewardPerBlock, supplyCap - minted);
    closed = height;
  }
  const processed = rounds.findLast(({ roundId }) => roundId <= economy.processedThroughRound);
  return {
    completedBlockCount: closed - economy.closedThroughBlock,
    amountBaseUnits: minted - economy.totalMinted,
    // The weight of the round itself, while none beyond it is settled.
    eligibleWeight: findWeight(max(core.settledThroughRound, economy.processedThroughRound + 1n)),
    previousCumulativeBlockUnits: processed?.cumulativeBlockUnits ?? 0n,
  };
}

// Issuance and collection.

export interface EconomyInput {
  readonly safe: SafeChain;
  readonly core: CoreState;
  readonly economy: Economy;
  readonly nowMs: number;
}

/** First members of every available answer of the economy. */
export const showAvailable = ({ safe, economy, nowMs }: EconomyInput) => ({
  status: 'available',
  generatedAt: toIso(nowMs),
  chain: { ...showChain(safe), safeBlockTimestamp: toIso(safe.block.timestampMs) },
  identities: { miningImplementationVersion: economy.version },
});

/** Whether the numbers agree as the public route promises (CONTRACT.md, Unavailable reasons). */
export const isMintingConsistent = (economy: Economy) =>
  economy.totalMinted === economy.supply && economy.processedThroughRound >= economy.lastActivationRound;

export function measureMining(input: EconomyInput) {
  const { economy } = input;
  const { closedThroughBlock, processedThroughRound, lastActivationRound, configuration } = economy;
  return {
    ...showAvailable(input),
    asset: { decimals: economy.decimals },
    issuance: {
      ...{ closedThroughBlock, processedThroughRound, lastActivationRound },
      // Their public names.
      mintedThroughBlock: closedThroughBlock,
      mintedThroughRound: processedThroughRound,
      lastAppliedRound: lastActivationRound,
      mintedBaseUnits: economy.totalMinted,
      tokenSupplyBaseUnits: economy.supply,
      paidBaseUnits: economy.totalPaid,
      supplyCapBaseUnits: configuration.supplyCap,
      unmintedCapacityBaseUnits: configuration.supplyCap - economy.totalMinted,
    },
    livePositionCount: String(economy.positions.size),
    collection: measureCollection(input.safe),
  };
}

interface Sale {
  readonly allowlistStart: bigint;
  readonly allowlistEnd: bigint;
  readonly publicPrice: bigint;
  readonly publicAllocation: bigint;
  readonly protocolReserve: bigint;
}

function measureCollection(safe: SafeChain) {
  const sale = listEvents<Sale>(safe, 'collection', 'SaleConfigured').at(-1)?.args;
  const countLast = (event: 'PublicMinted' | 'ReserveMinted', count: string) =>
    listEvents<Record<string, bigint>>(safe, 'collection', event).at(-1)?.args[count] ?? 0n;
  const publicMinted = countLast('PublicMinted', 'publicMinted');
  const isClosed = listEvents(safe, 'collection', 'SaleClosed').length > 0;
  const toTime = (seconds: bigint | undefined) =>
    seconds === undefined ? null : toIso(Number(seconds) * 1000);
  return {
    phase: findPhase(sale, isClosed, publicMinted, BigInt(safe.block.timestampMs / 1000)),
    paused: isPaused(safe, 'collection'),
    publicMinted,
    publicAllocation: sale?.publicAllocation ?? 0n,
    reserveMinted: countLast('ReserveMinted', 'reserveMinted'),
    protocolReserve: sale?.protocolReserve ?? 0n,
    publicPriceBaseUnits: sale?.publicPrice ?? 0n,
    allowlistStart: toTime(sale?.allowlistStart),
    allowlistEnd: toTime(sale?.allowlistEnd),
  };
}

/** CONTRACT.md, Collection phase. */
function findPhase(sale: Sale | undefined, isClosed: boolean, publicMinted: bigint, nowSeconds: bigint) {
  if (isClosed) return 'closed';
  if (sale === undefined) return 'unconfigured';
  if (publicMinted >= sale.publicAllocation) return 'closed';
  if (nowSeconds < sale.allowlistStart) return 'pending';
  return nowSeconds < sale.allowlistEnd ? 'allowlist' : 'public';
}

// Owners.

export function measurePortfolio(input: EconomyInput, owner: string) {
  const { safe, core, economy } = input;
  const { configuration } = economy;
  const held = [...economy.positions.values()]
    .filter((position) => position.owner === owner)
    .sort((a, b) => (a.tokenId < b.tokenId ? -1 : 1));
  const lastDay = Math.floor(safe.block.timestampMs / dayMs);
  const dates = Array.from({ length: 7 }, (_, index) => toDate((lastDay - 6 + index) * dayMs));
  const earnedIn = (positions: readonly Position[], days: readonly string[]) =>
    sum(positions.flatMap(({ earnedOn }) => days.map((date) => earnedOn.get(date) ?? 0n)));
  // Every amount is summed scaled, and truncated once.
  const measureRewards = (positions: readonly Position[]) => ({
    claimableBaseUnits: sum(positions.map(({ unclaimed }) => unclaimed)) / scale,
    earnedBaseUnits: sum(positions.map(({ earned }) => earned)) / scale,
    earnedSevenDayBaseUnits: earnedIn(positions, dates) / scale,
  });
  const paid = listEvents<{ owner: string; amount: bigint }>(safe, 'mining', 'RewardsClaimed').flatMap(
    ({ args }) => (args.owner === owner ? args.amount : []),
  );
  const height = findHeight(core);
  const { genesisTimestamp, roundDuration } = core.configuration;
  const seconds = BigInt(safe.block.timestampMs / 1000);
  return {
    ...showAvailable(input),
    configuration: {
      ...core.configuration,
      ...configuration,
      maximumLevel: configuration.weights.length,
      tokenDecimals: economy.decimals,
      levels: configuration.weights.map((weight, index) => ({
        level: index + 1,
        weight,
        cooldownBlocks: configuration.cooldownBlocks[index],
      })),
    },
    mining: {
      settledThroughRound: core.settledThroughRound,
      currentRound: seconds < genesisTimestamp ? 0n : (seconds - genesisTimestamp) / roundDuration + 1n,
      completedBlockHeight: height,
      lastAppliedRound: economy.lastActivationRound,
      totalWeight: economy.totalWeight,
    },
    summary: {
      positionCount: String(held.length),
      activeWeight: sum(held.map(({ activeWeight }) => activeWeight)),
      targetWeight: sum(held.map(({ targetWeight }) => targetWeight)),
      ...measureRewards(held),
      paidBaseUnits: sum(paid),
    },
    earnings: dates.map((date) => ({ date, earnedBaseUnits: earnedIn(held, [date]) / scale })),
    positions: held.map((position) => ({
      ...position,
      pendingRound: position.pending?.round ?? null,
      pendingActivationSource: position.pending?.source ?? null,
      mergeState: findMergeState(position, height, configuration.weights.length),
      blocksUntilMerge: max(position.nextMergeBlock - height, 0n),
      ...measureRewards([position]),
      ownershipStartedAt: toIso(position.ownedSinceMs),
    })),
  };
}

/** CONTRACT.md, Merge state. */
function findMergeState({ level, pending, nextMergeBlock }: Position, height: bigint, highest: number) {
  if (level === highest) return 'terminal';
  if (pending !== null) return 'pending';
  return height < nextMergeBlock ? 'cooldown' : 'ready';
}

export function measureActivity(input: EconomyInput, owner: string) {
  const activity = listActivity(input.safe, owner);
  return { ...showAvailable(input), activity, total: String(activity.length) };
}

/** Newest first. */
const listActivity = rememberFor((safe: SafeChain, owner: string) =>
  safe.events
    .flatMap((event) =>
      describeActivity(event, owner).map((activity) => ({
        id: `chain:${safe.deployment.chain.chainId}:${event.address}:${event.place.transactionHash}:${event.place.logIndex}:${activity.kind}`,
        ...{ amountBaseUnits: null, level: null, effectiveRound: null, nextMergeBlock: null },
        ...activity,
        source: event.place,
      })),
    )
    .reverse(),
);

/** An event of the chain in the list of one of its owners, if it belongs there. */
export function describeActivity(
  { contract, name, args }: Readonly<{ contract: string; name: string; args: object }>,
  of: string,
) {
  const given = args as Readonly<Record<string, bigint>>;
  const read = (argument: string) => String(given[argument]);
  const { owner, from, to } = args as Readonly<Record<string, string | undefined>>;
  const show = (kind: string, tokenIds: string[], members: object) =>
    kind === 'transfer' || owner === of ? [{ ...given, kind, tokenIds, ...members }] : [];
  switch (`${contract} ${name}`) {
    case 'mining PositionMinted':
      return show('mint', [read('tokenId')], { level: 1, effectiveRound: given.firstRound });
    case 'mining PositionsMerged':
      return show('merge', [read('survivorTokenId'), read('donorTokenId')], {});
    case 'mining RewardsClaimed': {
      const { tokenIds } = args as { readonly tokenIds: readonly bigint[] };
      return show('claim', tokenIds.map(String), { amountBaseUnits: given.amount });
    }
    case 'collection Transfer':
      // Mints and burns are not transfers.
      if (from === nobody || to === nobody) return [];
      return from === of || to === of ? show('transfer', [read('tokenId')], {}) : [];
    default:
      return [];
  }
}
