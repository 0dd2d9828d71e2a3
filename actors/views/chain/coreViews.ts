import { requireValue } from '../../../machines/requireValue.ts';
import type { TokenState } from '../../chain/state/chainState.ts';
import { findPhase } from '../../chain/state/collectionPhase.ts';
import type { ChainUnavailable, CoreView, EconomyView, IssuanceView } from './chainViewTypes.ts';
import { listIdentities, type ShownState, type ShownStates } from './shownStates.ts';

export function buildCoreView(states: ShownStates): CoreView | ChainUnavailable {
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
    operationState: isReady ? 'ready' : (operation?.state ?? null),
  };
}

/** Issuance and collection at the newest safe block. */
export function buildIssuanceView(states: ShownStates): IssuanceView | ChainUnavailable {
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

export function buildEconomyView(states: ShownStates): EconomyView | ChainUnavailable {
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
function describeAsset({ symbol, decimals }: TokenState, { deployment }: ShownState): IssuanceView['asset'] {
  return { address: deployment.contracts.token, symbol, decimals };
}
