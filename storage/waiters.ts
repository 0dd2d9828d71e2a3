/** Those who wait for a condition of some queue: that it has room again, or that it is empty. */
export interface Waiters {
  /** True when the condition is met; false when it ended before it was. */
  until(isMet: () => boolean): Promise<boolean>;
  /** To be called after every change that may meet a condition. */
  wake(): void;
  /** Nothing will change any more. */
  end(): void;
}

export function createWaiters(): Waiters {
  let waiting: { isMet: () => boolean; resolve: (isMet: boolean) => void }[] = [];
  let isEnded = false;

  function wake() {
    const ready = waiting.filter(({ isMet }) => isEnded || isMet());
    waiting = waiting.filter((waiter) => !ready.includes(waiter));
    for (const { isMet, resolve } of ready) resolve(isMet());
  }

  return {
    until: (isMet) => {
      if (isMet() || isEnded) return Promise.resolve(isMet());
      return new Promise((resolve) => waiting.push({ isMet, resolve }));
    },
    wake,
    end: () => {
      isEnded = true;
      wake();
    },
  };
}
