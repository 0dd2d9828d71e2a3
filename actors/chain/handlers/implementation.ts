import type { EventOf } from '../spans/chainEvent.ts';
import type { Implementation } from '../state/coreState.ts';

/** Which code runs behind the proxy of a contract from this event on. */
export function readImplementation({ args }: EventOf<'core' | 'mining', 'VersionActivated'>): Implementation {
  return {
    codeAddress: args.implementation,
    codeVersion: args.version,
    storageLayoutDigest: args.storageLayoutDigest,
    runtimeHash: args.runtimeHash,
  };
}
