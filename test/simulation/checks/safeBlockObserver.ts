import type { EconomyState } from '../chain/contracts/contractState.ts';
import type { EthereumChain } from '../chain/ethereumNode.ts';
import type { SealedBlock } from '../chain/sealBlock.ts';
import type { SimulatedResponse } from '../world/currentWorld.ts';
import { SimulationFailure } from './failure.ts';

const confirmations = 12n;

interface Body {
  readonly status?: string;
  readonly chain?: { readonly safeThroughBlock: string; readonly safeBlockHash?: SealedBlock['hash'] };
  readonly core?: Readonly<Record<string, unknown>>;
  readonly issuance?: Readonly<Record<string, unknown>>;
}

/** Checks that answers show a confirmed block, and the contracts' state after it. */
export function observeSafeBlocks(chain: EthereumChain) {
  /** Confirmed blocks of all branches, by number. */
  function listConfirmed(number: bigint): SealedBlock[] {
    return chain.findByNumber(number).filter(({ hash }) => chain.confirmationsOf(hash) >= confirmations);
  }

  return {
    note: (process: string, path: string, response: SimulatedResponse) => {
      if (response.status !== 200) return;
      const { chain: shown, core, issuance } = JSON.parse(response.body.toString('utf8')) as Body;
      if (shown === undefined) return;
      const { safeThroughBlock, safeBlockHash } = shown;
      const confirmed = listConfirmed(BigInt(safeThroughBlock)).filter(
        ({ hash }) => safeBlockHash === undefined || safeBlockHash === hash,
      );
      const fail = (detail: string): never => {
        throw new SimulationFailure(
          'safe block',
          `${process} ${path}, at block ${safeThroughBlock}: ${detail}`,
        );
      };
      if (confirmed.length === 0) fail(`${safeBlockHash ?? 'it'} never had ${confirmations} confirmations`);
      const expected = confirmed.map(({ state }) =>
        JSON.stringify([core && describeCore(state, core), issuance && describeIssuance(state, issuance)]),
      );
      const found = JSON.stringify([core, issuance]);
      if (!expected.includes(found)) fail(`${found}, and the contracts say ${expected.join(' or ')}`);
    },
  };
}

/** The contracts' values for the members of an answer. */
function describeCore({ core }: EconomyState, shown: object): object {
  const unitsPerBlock = 1_000_000_000n;
  const known: Record<string, unknown> = {
    ...core,
    blockHeight: core.cumulativeBlockUnits / unitsPerBlock,
    blockProgress: core.cumulativeBlockUnits % unitsPerBlock,
  };
  return mapMembers(shown, (name) => known[name]);
}

function describeIssuance({ mining }: EconomyState, shown: object): object {
  const known: Record<string, unknown> = {
    ...mining,
    mintedBaseUnits: mining.totalMinted,
    tokenSupplyBaseUnits: mining.totalMinted,
    paidBaseUnits: mining.totalPaid,
    mintedThroughBlock: mining.closedThroughBlock,
    mintedThroughRound: mining.processedThroughRound,
    lastAppliedRound: mining.lastActivationRound,
  };
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, name in known ? toJson(known[name]) : value]),
  );
}

function mapMembers(shown: object, find: (name: string) => unknown): object {
  return Object.fromEntries(Object.keys(shown).map((name) => [name, toJson(find(name))]));
}

const toJson = (value: unknown) => (typeof value === 'bigint' ? String(value) : value);
