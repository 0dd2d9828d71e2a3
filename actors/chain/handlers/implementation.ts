import { toAddress } from '../../schemas/hex.ts';
import type { EventOf } from '../chainEvent.ts';
import type { Implementation } from '../coreState.ts';

/** Which code runs behind the proxy of a contract from this event on. */
export function readImplementation({ args }: EventOf<'core' | 'mining', 'VersionActivated'>): Implementation {
  return {
    codeAddress: toAddress(args.implementation),
    codeVersion: args.version,
    storageLayoutDigest: args.storageLayoutDigest,
    runtimeHash: args.runtimeHash,
  };
}
