import type { Hash } from 'viem';
import { toAddress } from '../../../actors/schemas/hex.ts';
import {
  copyState,
  createEconomyState,
  type EconomyState,
  runAction,
} from '../../simulation/chain/contracts/contractState.ts';
import { type Call, drawCall, type Senders, toAction } from '../../simulation/chain/drawAction.ts';
import { createRandom } from '../../simulation/world/random.ts';
import type { TestEconomy } from './testEconomy.ts';
import type { WrittenEvent } from './writtenSpans.ts';

/** A sent call, with the logs of the simulated contracts for it: none if they refused it. */
interface SentCall {
  readonly name: Call[0];
  readonly hash: Hash;
  readonly events: readonly WrittenEvent[];
}

const price = 1_000n;

/** Acts on an economy from a seed. The simulated contracts run the same calls, and each call is drawn from their state. */
export function createRandomEconomy(economy: TestEconomy, seed: number) {
  const random = createRandom(String(seed));
  const { actions, client, operator, mine } = economy;
  const accounts = economy.owners.slice(0, 5).map(toAddress);
  const { genesisTimestamp } = economy.settings;
  /** States after the blocks, by number: a reorganization returns to an earlier one. */
  const states = new Map<bigint, EconomyState>();
  const sent: SentCall[] = [];

  /** Sends calls one after another, and mines them in one block. */
  async function mineCalls(
    afterSeconds: number,
    drawCalls: (state: EconomyState, timestamp: bigint) => Iterable<Call>,
  ) {
    const tip = await client.getBlockNumber({ cacheTime: 0 });
    const state = copyState(states.get(tip) ?? createEconomyState(genesisTimestamp));
    const timestamp = BigInt(economy.nowSeconds() + afterSeconds);
    const senders: Senders<Promise<Hash>> = {
      ...actions,
      settle: ({ through, active }) =>
        actions.settle({
          previousSettledThroughRound: state.core.settledThroughRound,
          settledThroughRound: through,
          active,
          nonce: state.core.authorizationNonce,
        }),
      checkpoint: (through) => actions.checkpoint(operator, through),
      mint: (owner, quantity) => actions.mint(owner, quantity, price),
    };
    for (const call of drawCalls(state, timestamp)) {
      const [name, ...given] = call;
      const send = senders[name] as ((...given: unknown[]) => Promise<Hash>) | undefined;
      // Upgrades are not sent.
      if (send === undefined) continue;
      const hash = await send(...given);
      sent.push({ name, hash, events: runAction(toAction(call), state, timestamp) ?? [] });
    }
    await mine(afterSeconds);
    states.set(tip + 1n, state);
  }

  return {
    sent,
    /** Opens the sale. */
    open: () => {
      const start = genesisTimestamp;
      const sale = { allowlistStart: start, allowlistEnd: start, publicPrice: price };
      const configured = { ...sale, publicAllocation: 90n, protocolReserve: 20n };
      return mineCalls(1, () => [['configureSale', configured]]);
    },
    /** Mines a block with some calls: mostly minutes after the last one, now and then hours, so that dates and rounds change. */
    step: () =>
      mineCalls(random.oneOf(20) ? 30_000 : random.integer(12, 911), function* (state, timestamp) {
        for (let count = random.integer(1, 3); count > 0; count--)
          yield drawCall(random, state, timestamp, accounts);
      }),
  };
}
