import type { Map as ImmutableMap } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { amount } from '../../schemas/stateScalars.ts';

export const tokenMetadata = z.strictObject({ epoch: amount, uri: z.string() });
export type TokenMetadata = Inferred<typeof tokenMetadata>;

/** Collection state without its keyed lists. */
export const collectionScalars = z.strictObject({
  sale: z
    .strictObject({
      /** Epoch seconds, as in the contract. */
      allowlistStart: amount,
      /** Epoch seconds. */
      allowlistEnd: amount,
      /** In wei. */
      publicPrice: amount,
      publicAllocation: amount,
      protocolReserve: amount,
    })
    .nullable(),
  isClosed: z.boolean(),
  paused: z.boolean(),
  publicMinted: amount,
  reserveMinted: amount,
  metadataEpoch: amount,
});

export interface CollectionState extends Inferred<typeof collectionScalars> {
  readonly metadata: ImmutableMap<number, TokenMetadata>;
}
