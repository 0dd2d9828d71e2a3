/** Rate-limited requests that are answered in one turn of the event loop. Connections of further ones are closed. */
export const refusalsPerTurn = 64;

/** Counts refusals in the current turn of the event loop. */
export function createRefusalCount(): { isFlooded(): boolean } {
  let count = 0;
  return {
    isFlooded: () => {
      if (count === 0) {
        setImmediate(() => {
          count = 0;
        });
      }
      count++;
      return count > refusalsPerTurn;
    },
  };
}
