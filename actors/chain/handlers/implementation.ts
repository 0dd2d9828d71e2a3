import type { EventOf } from '../spans/chainEvent.ts';
import type { Implementation } from '../state/coreState.ts';

/** The code that runs behind a contract's proxy from this event on. */
export function readImplementation({ args }: EventOf<'core' | 'mining', 'VersionActivated'>): Implementation {
  return {
    codeAddress: args.implementation,
    codeVersion: args.version,
    storageLayoutDigest: args.storageLayoutDigest,
    runtimeHash: args.runtimeHash,
  };
}
