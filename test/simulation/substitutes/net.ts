import { EventEmitter } from 'node:events';
import { currentWorld, type ServerSide } from '../world/currentWorld.ts';

export * from 'node:net';

/** A socket of the simulation, as far as a client of NATS uses one. */
class SimulatedSocket extends EventEmitter {
  destroyed = false;
  #server: ServerSide | null = null;
  readonly #domain = currentWorld().time.domain;

  constructor(port: number, onConnected: () => void) {
    super();
    const { time, random } = currentWorld();
    time.schedule(1 + random.next(), () => {
      if (this.destroyed) return;
      this.#server = currentWorld().connect(port, {
        receive: (bytes) => {
          if (!this.destroyed) this.emit('data', bytes);
        },
        cut: () => this.#close(),
      });
      if (this.#server !== null) return onConnected();
      this.emit('error', Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' }));
      this.#close();
    });
  }

  setNoDelay() {
    return this;
  }

  write(frame: Uint8Array, done?: (error?: Error) => void): boolean {
    // A copy: the client uses its buffer again.
    if (!this.destroyed && !this.#domain.isDead && frame.length > 0)
      this.#server?.receive(Buffer.from(frame));
    if (done !== undefined) queueMicrotask(() => done());
    return true;
  }

  end() {
    this.destroy();
  }

  destroy() {
    if (this.destroyed) return this;
    this.#server?.closed();
    this.#close();
    return this;
  }

  #close() {
    if (this.destroyed) return;
    this.destroyed = true;
    currentWorld().time.schedule(0, () => this.emit('close'), this.#domain);
  }
}

export function createConnection(port: number, _host: string, onConnected: () => void): SimulatedSocket {
  return new SimulatedSocket(Number(port), onConnected);
}
