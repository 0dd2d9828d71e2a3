import { zeroAddress } from '../../schemas/hex.ts';
import { type EventHandlers, ignoreEvent } from './eventHandlers.ts';

export const tokenFactoryHandlers: EventHandlers<'tokenFactory'> = {
  TokenCreated: (state, { args }) => ({
    ...state,
    token: { symbol: args.symbol, decimals: args.decimals, supplyBaseUnits: 0n },
  }),
};

export const tokenHandlers: EventHandlers<'token'> = {
  Transfer: (state, { args }) => {
    if (state.token === null) return state;
    const { from, to, value } = args;
    // A transfer from the zero address is a mint, to it a burn; both together change nothing.
    const minted = from === zeroAddress ? value : 0n;
    const burned = to === zeroAddress ? value : 0n;
    const supplyBaseUnits = state.token.supplyBaseUnits + minted - burned;
    return { ...state, token: { ...state.token, supplyBaseUnits } };
  },
  Approval: ignoreEvent,
};
