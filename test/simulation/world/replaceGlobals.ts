import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { currentWorld, hasWorld } from './currentWorld.ts';
import { hold } from './held.ts';
import { createRandom } from './random.ts';
import type { Timer } from './virtualTime.ts';

const RealDate = Date;

/** A timer of Node.js. */
class SimulatedTimeout {
  #timer: Timer;
  readonly #start: () => Timer;
  readonly #release = hold('timers');

  constructor(start: (release: () => void) => Timer) {
    this.#start = () => start(this.#release);
    this.#timer = this.#start();
  }
  ref() {
    return this;
  }
  unref() {
    return this;
  }
  refresh() {
    this.#timer.cancel();
    this.#timer = this.#start();
    return this;
  }
  cancel() {
    this.#release();
    this.#timer.cancel();
  }
}

type Callback = (...args: unknown[]) => void;

/** Replaces the clock and the random numbers of this program, also for modules imported later. */
export function replaceGlobals(): void {
  const untilWorld = createRandom('loading');
  const draw = () => (hasWorld() ? currentWorld().random : untilWorld);
  const startTimeout = (run: Callback, ms = 0, ...args: unknown[]) =>
    new SimulatedTimeout((release) =>
      currentWorld().time.startTimer(Math.max(1, ms || 0), () => {
        release();
        run(...args);
      }),
    );
  const startInterval = (run: Callback, ms = 0, ...args: unknown[]) =>
    new SimulatedTimeout(() => {
      const { time } = currentWorld();
      let next: Timer;
      const tick = () => {
        next = time.startTimer(Math.max(1, ms || 0), tick);
        run(...args);
      };
      next = time.startTimer(Math.max(1, ms || 0), tick);
      return { cancel: () => next.cancel() };
    });
  const startImmediate = (run: Callback, ...args: unknown[]) =>
    new SimulatedTimeout((release) =>
      currentWorld().time.schedule(0, () => {
        release();
        run(...args);
      }),
    );
  const stop = (timer: unknown) => {
    if (timer instanceof SimulatedTimeout) timer.cancel();
  };

  class SimulatedDate extends RealDate {
    constructor(...args: ConstructorParameters<DateConstructor> | []) {
      if (args.length === 0) super(SimulatedDate.now());
      else super(...args);
    }
    static override now() {
      return hasWorld() ? Math.floor(currentWorld().time.wallMs()) : 0;
    }
  }

  Object.assign(globalThis, {
    setTimeout: startTimeout,
    setInterval: startInterval,
    setImmediate: startImmediate,
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
    Date: SimulatedDate,
    fetch: answerFetch,
    countEarlierVersions: (stream: InputStreamName) => currentWorld().time.domain.versions[stream] ?? 0,
  });
  Object.defineProperty(process, 'pid', { value: 1 });
  // Work takes no virtual time, and its real duration decides nothing.
  performance.eventLoopUtilization = () => ({ idle: 0, active: 0, utilization: 0 });
  performance.now = () => (hasWorld() ? currentWorld().time.monotonicMs() : 0);
  Math.random = () => draw().next();
  crypto.getRandomValues = (array) => {
    const bytes = new Uint8Array((array as Uint8Array).buffer);
    for (let index = 0; index < bytes.length; index++) bytes[index] = draw().integer(0, 255);
    return array;
  };
}

/** `fetch` reaches only the node. */
function answerFetch(_url: string, { body, signal }: { body: string; signal?: AbortSignal }) {
  return new Promise((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    currentWorld()
      .rpc(body)
      .then(({ status, body: text }) => {
        const type = status === 200 ? 'application/json' : 'text/html';
        resolve({
          ok: status === 200,
          status,
          statusText: '',
          headers: { get: (name: string) => (name.toLowerCase() === 'content-type' ? type : null) },
          body: null,
          text: async () => text,
        });
      }, reject);
  });
}
