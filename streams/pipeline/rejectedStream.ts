export type RejectedStream = ReturnType<typeof createRejectedStream>;

/** Turns of the streams of a process in publishing to `MINER_REJECTED`: a message in between would break a chain of messages. */
export function createRejectedStream() {
  let previousTurn: Promise<unknown> = Promise.resolve();
  return {
    /** Runs work once all earlier work has ended. */
    takeTurn: <Result>(work: () => Promise<Result>): Promise<Result> => {
      const turn = previousTurn.then(work);
      previousTurn = turn.catch(() => undefined);
      return turn;
    },
  };
}
