import { requireValue } from '../../../machines/requireValue.ts';
import type { TokenState } from '../../chain/state/chainState.ts';
import { findPhase } from '../../chain/state/collectionPhase.ts';
import { type ChainUnavailable, listIdentities, type ShownState, type ShownStates } from './shownStates.ts';

export type CoreView = Exclude<ReturnType<typeof buildCoreView>, ChainUnavailable>;
export type IssuanceView = Exclude<ReturnType<typeof buildIssuanceView>, ChainUnavailable>;
/** The newest events of the economy, with the context that they are shown with. */
export type EconomyView = Exclude<ReturnType<typeof buildEconomyView>, ChainUnavailable>;

export function buildCoreView(states: ShownStates) {
  const shown = states.newest();
  if ('status' in shown) return shown;
  const { core, governance, block } = shown.state;
  const { operation, proxyAdminOwner, proxyAdminSlot, operatorProposer } = governance;
  // A timelock or admin older than the deployment block logged its roles before that block, so they may be unknown.
  if (proxyAdminOwner === null || proxyAdminSlot === null || operatorProposer === null)
    return states.unavailable('indexer_unavailable');
  const isReady = operation?.state === 'scheduled' && operation.readyAtMs <= block.timestampMs;
  return {
    ...states.describe(shown),
    contracts: shown.deployment.contracts,
    core,
    governance: { ...governance, proxyAdminOwner, proxyAdminSlot, operatorProposer },
    /** `ready` once a scheduled operation may be executed. */
    operationState: isReady ? 'ready' : (operation?.state ?? null),
  };
}

/** Issuance and collection at the newest safe block. */
export function buildIssuanceView(states: ShownStates) {
  const shown = states.newestOfEconomy();
  if ('status' in shown) return shown;
  const { mining, collection, minerPositions, block, token } = shown.state;
  if (token === null) return states.unavailable('not_yet_safe');
  return {
    ...states.describe(shown),
    identities: listIdentities(shown),
    asset: describeAsset(token, shown),
    supplyCap: requireValue(mining.configuration, 'the configuration of a shown economy').supplyCap,
    mintedBaseUnits: mining.mintedBaseUnits,
    tokenSupplyBaseUnits: token.supplyBaseUnits,
    paidBaseUnits: mining.paidBaseUnits,
    closedThroughBlock: mining.closedThroughBlock,
    processedThroughRound: mining.processedThroughRound,
    lastActivationRound: mining.lastActivationRound,
    livePositionCount: BigInt(minerPositions.size),
    collection: { ...collection, phase: findPhase(collection, block.timestampMs) },
  };
}

export function buildEconomyView(states: ShownStates) {
  const shown = states.newestOfEconomy();
  if ('status' in shown) return shown;
  const { feed, token } = shown.state;
  if (token === null) return states.unavailable('not_yet_safe');
  return {
    ...states.describe(shown),
    identities: listIdentities(shown),
    asset: describeAsset(token, shown),
    feed,
  };
}

/** The reward token. Its creation may be safe later than the rest of the economy. */
function describeAsset({ symbol, decimals }: TokenState, { deployment }: ShownState) {
  return { address: deployment.contracts.token, symbol, decimals };
}
