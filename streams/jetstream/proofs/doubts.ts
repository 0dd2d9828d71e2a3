import type { StreamPosition } from './streamPosition.ts';
import type { StreamVerifier } from './streamVerifier.ts';

/** A stream position that an answer has contradicted, until it is known whether the stream still has its message. */
export type Doubts = ReturnType<typeof createDoubts>;

/** A busy leader often answers before it has applied what another server has delivered, so doubts are usual and mostly settled by the next answer. */
export function createDoubts(verifier: Pick<StreamVerifier, 'verify'>) {
  let doubted: StreamPosition | null = null;
  return {
    /** Doubts a stream position, unless an earlier one is still doubted. */
    add: (streamPosition: StreamPosition) => {
      doubted ??= streamPosition;
    },
    /**
     * Resolves once nothing is doubted.
     *
     * @throws StreamDiverged when the doubted message is lost, or NotProven.
     */
    settle: async () => {
      if (doubted === null) return;
      await verifier.verify(doubted);
      doubted = null;
    },
  };
}
