import { type Address, toEventSelector } from 'viem';
import { coreAbi, miningAbi } from '../../../actors/chain/spans/contractAbis.ts';
import { createRandom } from '../../simulation/world/random.ts';
import type { TestEconomy } from './testEconomy.ts';

const transferTopic = toEventSelector('Transfer(address,address,uint256)');

/**
 * Acts on an economy from a seed. Most actions are allowed, some are not. Each call of `step` sends some transactions and
 * mines a block.
 */
export function createRandomEconomy(economy: TestEconomy, seed: number) {
  const { next: random, integer, oneOf, pick } = createRandom(String(seed));
  const { actions, client, deployed, owners, operator, mine, settings } = economy;
  const { core, mining, collection } = deployed.contracts;
  const actors = owners.slice(0, 5);
  const send = async (sending: Promise<unknown>) => void (await sending);
  const read = <Name extends string>(
    address: Address,
    abi: unknown,
    functionName: Name,
    args: unknown[] = [],
  ) => client.readContract({ address, abi, functionName, args } as never) as Promise<never>;

  /** Tokens by owner, from the collection's transfers in one call. */
  async function readTokensByOwner(): Promise<Map<Address, bigint[]>> {
    const logs = (await client.request({
      method: 'eth_getLogs',
      params: [{ address: collection, fromBlock: '0x0', topics: [transferTopic] }],
    } as never)) as { topics: [string, string, string, string] }[];
    const owners: (Address | null)[] = [];
    for (const { topics } of logs) {
      const [, , to, tokenId] = topics;
      // To nobody: burned by a merge.
      owners[Number(tokenId)] = BigInt(to) === 0n ? null : `0x${to.slice(-40)}`;
    }
    const tokensByOwner = new Map<Address, bigint[]>();
    for (const [tokenId, owner] of owners.entries()) {
      if (owner) tokensByOwner.set(owner, [...(tokensByOwner.get(owner) ?? []), BigInt(tokenId)]);
    }
    return tokensByOwner;
  }

  async function settle() {
    const previous = (await read(core, coreAbi, 'settledThroughRound')) as bigint;
    const nonce = (await read(core, coreAbi, 'authorizationNonce')) as bigint;
    const ended = (BigInt(economy.nowSeconds()) - settings.genesisTimestamp) / 600n;
    const count = BigInt(1 + Math.floor(random() ** 0.5 * 60));
    const through = previous + count < ended ? previous + count : ended;
    if (through <= previous) return;
    const active = [];
    for (let roundId = previous + 1n; roundId <= through; roundId++) {
      // Often no work, or too little for a block.
      if (active.length < 16 && oneOf(2))
        active.push({ roundId, workUnits: BigInt(1 + Math.floor(random() ** 3 * 9_000)) });
    }
    const batch = { previousSettledThroughRound: previous, settledThroughRound: through, active, nonce };
    await send(actions.settle(batch));
  }

  async function checkpoint() {
    const processed = (await read(mining, miningAbi, 'processedThroughRound')) as bigint;
    const settled = (await read(core, coreAbi, 'settledThroughRound')) as bigint;
    if (settled <= processed) return;
    const through = processed + 1n + BigInt(Math.floor(random() ** 0.2 * Number(settled - processed)));
    await send(actions.checkpoint(operator, through));
  }

  async function merge() {
    const tokensByOwner = [...(await readTokensByOwner())].filter(([, tokens]) => tokens.length >= 2);
    if (tokensByOwner.length === 0) return;
    const [owner, tokens] = pick(tokensByOwner);
    const levels = new Map<number, bigint[]>();
    const readLevel = async (token: bigint) =>
      ((await read(mining, miningAbi, 'positionOf', [token])) as { level: number }).level;
    for (const [index, level] of (await Promise.all(tokens.map(readLevel))).entries())
      levels.set(level, [...(levels.get(level) ?? []), tokens[index] as bigint]);
    const same = [...levels.values()].filter((of) => of.length >= 2);
    if (same.length === 0) return;
    const [survivor, donor] = pick(same) as [bigint, bigint];
    await send(actions.merge(owner, survivor, donor));
  }

  async function claim() {
    const tokensByOwner = [...(await readTokensByOwner())];
    if (tokensByOwner.length === 0) return;
    const [owner, tokens] = pick(tokensByOwner);
    await send(actions.claim(owner, tokens.slice(0, integer(1, 5))));
  }

  async function transfer() {
    const tokensByOwner = [...(await readTokensByOwner())];
    if (tokensByOwner.length === 0) return;
    const [owner, tokens] = pick(tokensByOwner);
    await send(actions.transfer(owner, pick(actors), pick(tokens)));
  }

  const steps: readonly (readonly [weight: number, act: () => Promise<void>])[] = [
    [6, settle],
    [4, checkpoint],
    [4, () => send(actions.mint(pick(actors), BigInt(integer(1, 3)), 1_000n))],
    [1, () => send(actions.mintReserve(pick(actors), 1n))],
    [8, merge],
    [3, claim],
    [3, transfer],
    [0.2, () => send(actions.pauseSettlement())],
    [1, () => send(actions.resumeSettlement())],
    [0.2, () => send(actions.pauseCollection())],
    [1, () => send(actions.resumeCollection())],
    [0.3, () => send(actions.advanceMetadataEpoch(pick(['', 'https://cards.example/'])))],
    [
      1,
      async () => {
        const tokensByOwner = [...(await readTokensByOwner()).values()].flat();
        if (tokensByOwner.length > 0) await send(actions.publishMetadata(pick(actors), pick(tokensByOwner)));
      },
    ],
    [0.5, () => send(actions.transfer(pick(actors), pick(actors), 9_999n))], // Reverts.
  ];
  const total = steps.reduce((sum, [weight]) => sum + weight, 0);

  return {
    /** Opens the sale. */
    open: async () => {
      const start = settings.genesisTimestamp;
      await actions.configureSale({
        allowlistStart: start,
        allowlistEnd: start + 7_200n,
        publicPrice: 1_000n,
        publicAllocation: 90n,
        protocolReserve: 20n,
      });
      await actions.allow(actors, 4n);
      await mine(1);
    },
    step: async () => {
      for (let count = integer(1, 3); count > 0; count--) {
        let at = random() * total;
        const chosen = steps.find(([weight]) => {
          at -= weight;
          return at < 0;
        });
        await chosen?.[1]();
      }
      // Mostly minutes, now and then hours, so that dates and rounds change.
      await mine(oneOf(20) ? 30_000 : integer(12, 911));
    },
    /** Mints once in each phase of the sale; some phases revert it. */
    mintInEveryPhase: async () => {
      const start = BigInt(economy.nowSeconds());
      const attempt = async () => {
        await send(actions.mint(actors[0] as Address, 1n, 1_000n));
        await mine(12);
      };
      await attempt();
      await actions.configureSale({
        allowlistStart: start + 600n,
        allowlistEnd: start + 1_200n,
        publicPrice: 1_000n,
        publicAllocation: 90n,
        protocolReserve: 20n,
      });
      await actions.allow(actors.slice(0, 1), 1n);
      await mine(12);
      await attempt();
      await mine(600);
      await attempt();
      await mine(600);
      await attempt();
    },
  };
}
