/** Rate-limited requests that are answered in one turn of the event loop; the connections of further ones are closed. */
export const refusalsPerTurn = 64;

/** Connections that a trusted proxy shares between its clients send `X-Forwarded-For`, and are never closed for this. */
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
