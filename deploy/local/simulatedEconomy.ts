import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Address, getContract, type Hex, numberToHex } from 'viem';
import { confirmations } from '../../actors/chain/spans/confirmations.ts';
import { collectionAbi, coreAbi, miningAbi } from '../../actors/chain/spans/contractAbis.ts';
import { retryUntilAvailable } from '../../streams/operators/retryUntilAvailable.ts';
import type { DeployedContracts } from './deployContracts.ts';
import { createEconomyActions } from './economyActions.ts';
import type { LocalAccounts } from './localChainClient.ts';
import { computeSeededFraction, type Draw } from './seeded.ts';
import { createSimulatedReporter, type SimulatedReporterOptions } from './simulatedReporter.ts';

/** Seconds between two blocks, in the simulated past and after it. */
const pastStepSeconds = 900;
export const liveBlockSeconds = 4;
/** People's actions are decided once per this many seconds, in the past and live. */
const actionSeconds = 120;
/** Settled rounds are minted once this many of them wait. */
const checkpointAtRounds = 12;
const mintedMax = 160n;
const simulatedPrice = 20_000_000_000_000_000n;

/** Anvil's request for a block at a time, which viem knows without the time. */
interface MineRequest {
  readonly Parameters: [{ readonly timestamp: Hex }];
  readonly ReturnType: Hex;
}

interface SimulatedEconomyOptions extends Omit<SimulatedReporterOptions, 'core' | 'actions'> {
  readonly contracts: DeployedContracts['contracts'];
  readonly accounts: LocalAccounts;
  readonly logger: Logger;
}

/**
 * Owners who mint, merge, transfer and claim, a reporter who settles the observed rounds, a keeper who mints for them.
 * All of them decide by the chain's own state and time, so a restart continues from the chain's present state.
 */
export function createSimulatedEconomy(options: SimulatedEconomyOptions) {
  const { client, contracts, accounts, seed, genesisSeconds, logger, signal } = options;
  // A client with more actions than these; viem types each combination as a client of its own.
  const actions = createEconomyActions({ client: client as never, contracts, ...accounts });
  const reporter = createSimulatedReporter({ ...options, core: contracts.core, actions });
  const core = getContract({ client, address: contracts.core, abi: coreAbi });
  const mining = getContract({ client, address: contracts.mining, abi: miningAbi });
  const collection = getContract({ client, address: contracts.collection, abi: collectionAbi });

  /** Mines a block with everything sent, at a given time or as soon after the tip as the chain allows. */
  async function mineAt(seconds: number) {
    const timestamp = BigInt(Math.max(seconds, (await readTipSeconds()) + 1));
    await client.request<MineRequest>({
      method: 'evm_mine',
      params: [{ timestamp: numberToHex(timestamp) }],
    });
  }

  /** Tries again while the chain does not answer, since its process may be paused. */
  function untilAnswered<Result>(step: () => Promise<Result>): Promise<Result> {
    return retryUntilAvailable(step, {
      signal,
      onFirstFailure: (error) =>
        logger.warn({ err: error }, 'the simulated chain does not answer; trying again'),
    });
  }

  async function readTipSeconds(): Promise<number> {
    return Number((await client.getBlock()).timestamp);
  }

  /** Mines past blocks from the chain's tip to `untilSeconds`; calls back with each time reached. */
  async function runPast(untilSeconds: number, onReached: (seconds: number) => void): Promise<void> {
    const end = untilSeconds - Number(confirmations);
    let at = await untilAnswered(readTipSeconds);
    while (at < end && !signal.aborted) {
      at = Math.min(at + pastStepSeconds, end);
      const reached = at;
      await act(reached);
      await untilAnswered(() => mineAt(reached));
      onReached(reached);
    }
    // Now the safe block is recent, so that indexed data is shown at once.
    for (at = end + 1; at <= untilSeconds && !signal.aborted; at++)
      if (at > (await untilAnswered(readTipSeconds))) await untilAnswered(() => mineAt(at));
  }

  /** Blocks in real time, until the signal is aborted. */
  async function runLive(nowSeconds: () => number): Promise<void> {
    let actedAt = Math.floor((await untilAnswered(readTipSeconds)) / actionSeconds);
    const mineNow = async () => {
      const at = Math.max(nowSeconds(), (await readTipSeconds()) + 1);
      if (Math.floor(at / actionSeconds) > actedAt) {
        actedAt = Math.floor(at / actionSeconds);
        await act(at);
      }
      await mineAt(at);
    };
    while (!signal.aborted) {
      await untilAnswered(mineNow);
      await wait(liveBlockSeconds * 1000, undefined, { signal }).catch(() => undefined); // It was aborted.
    }
  }

  /** Everybody's actions at a time. If one fails, the others follow next time, by the chain's state then. */
  async function act(seconds: number): Promise<void> {
    const at = Math.floor(seconds / actionSeconds);
    const draw: Draw = (what) => computeSeededFraction(`${seed}/economy/${what}/${at}`);
    try {
      await openSale();
      await settle(seconds, draw);
      await mintRewards();
      if (draw('owner acts') < 0.45) await ownerActs(draw);
    } catch (error) {
      if (!signal.aborted)
        logger.warn({ err: error }, 'a step of the simulated economy failed; it continues');
    }
  }

  async function openSale(): Promise<void> {
    const sale = await collection.read.sale();
    if (sale.allowlistStart > 0n) return;
    const start = BigInt(genesisSeconds);
    await actions.configureSale({
      allowlistStart: start + 6n * 3_600n,
      allowlistEnd: start + 30n * 3_600n,
      publicPrice: simulatedPrice,
      publicAllocation: mintedMax,
      protocolReserve: 20n,
    });
    await actions.allow(accounts.owners, 5n);
  }

  /** The oracle closes ended rounds, and the reporter settles closed ones. */
  async function settle(seconds: number, draw: Draw): Promise<void> {
    await reporter.close(seconds);
    await reporter.run(seconds, draw, () => mineAt(seconds));
  }

  async function mintRewards(): Promise<void> {
    const [settled, processed] = await Promise.all([
      core.read.settledThroughRound(),
      mining.read.processedThroughRound(),
    ]);
    if (settled - processed >= BigInt(checkpointAtRounds)) await actions.checkpoint(accounts.keeper, settled);
  }

  async function ownerActs(draw: Draw): Promise<void> {
    const owner = accounts.owners[Math.floor(draw('which owner') * accounts.owners.length)] as Address;
    const chance = draw('which act');
    if (chance < 0.45) return mint(owner, BigInt(1 + Math.floor(draw('how many') * 3)));
    const tokenIds = await listTokens(owner);
    if (chance < 0.7) return merge(owner, tokenIds);
    if (chance < 0.88) return claim(owner, tokenIds);
    const to = accounts.owners[Math.floor(draw('to whom') * accounts.owners.length)] as Address;
    const tokenId = tokenIds[Math.floor(draw('which token') * tokenIds.length)];
    if (tokenId !== undefined && to !== owner) await actions.transfer(owner, to, tokenId);
  }

  async function mint(owner: Address, quantity: bigint): Promise<void> {
    const [phase, minted, allowed] = await Promise.all([
      collection.read.phase(),
      collection.read.publicMinted(),
      collection.read.allowance([owner]),
    ]);
    const isAllowed = phase === 3 || (phase === 2 && allowed >= quantity);
    if (isAllowed && minted + quantity <= mintedMax) await actions.mint(owner, quantity, simulatedPrice);
  }

  /** The first two positions of one level that can be merged. */
  async function merge(owner: Address, tokenIds: readonly bigint[]): Promise<void> {
    const [height, ...positions] = await Promise.all([
      core.read.blockHeight(),
      ...tokenIds.map((tokenId) => mining.read.positionOf([tokenId])),
    ]);
    const ready = new Map<number, bigint>();
    for (const [index, position] of positions.entries()) {
      const tokenId = tokenIds[index] as bigint;
      if (position.pendingRound > 0n || height < position.nextMergeBlock || position.level === 10) continue;
      const survivor = ready.get(position.level);
      if (survivor !== undefined) {
        await actions.merge(owner, survivor, tokenId);
        return;
      }
      ready.set(position.level, tokenId);
    }
  }

  async function claim(owner: Address, tokenIds: readonly bigint[]): Promise<void> {
    if (tokenIds.length > 0) await actions.claim(owner, tokenIds.slice(0, 32));
  }

  async function listTokens(owner: Address): Promise<bigint[]> {
    const holders = new Map<bigint, Address | undefined>();
    for (const { args } of await collection.getEvents.Transfer({}, { fromBlock: 0n }))
      if (args.tokenId !== undefined) holders.set(args.tokenId, args.to);
    return [...holders.keys()].filter(
      (tokenId) => holders.get(tokenId)?.toLowerCase() === owner.toLowerCase(),
    );
  }

  return { runPast, runLive, readTipSeconds };
}
