import { Subject } from 'rxjs';
import type { ConnectionChange, StreamPort } from '../../../streams/nats/streamPort.ts';
import { hold } from '../world/held.ts';
import type { Domain, VirtualTime } from '../world/virtualTime.ts';
import { createMemoryPort, type Wire } from './memoryPort.ts';
import { createMemoryStore, type MemoryStoreOptions } from './memoryStore.ts';

/** Fate of a request. `unanswered`: done without an answer. `lost`: not received. `cut`: done, and the connection cut. */
export type Fate = 'answered' | 'unanswered' | 'lost' | 'cut';

interface SimulatedNatsOptions extends Omit<MemoryStoreOptions, 'nowMs' | 'schedule'> {
  readonly time: VirtualTime;
  /** Latency of one direction. */
  readonly latencyMs: () => number;
  readonly fateOf: () => Fate;
  /** Called before a process sends something. */
  readonly onSend: (domain: Domain, what: Buffer) => void;
}

/** Settings of a connection that the client of NATS reads. */
interface ConnectionSettings {
  /** How long it waits before it tries the server again. */
  readonly reconnectDelayHandler?: () => number;
}

/** The client gives up a request after this. */
const timeoutMs = 5_000;
const address = { server: 'memory' };

/** NATS as processes reach it: requests, answers and connections fail by the weather. */
export type SimulatedNats = ReturnType<typeof createSimulatedNats>;

export function createSimulatedNats({ time, latencyMs, fateOf, onSend, ...options }: SimulatedNatsOptions) {
  const outside = (delayMs: number, run: () => void) => time.schedule(delayMs, run, time.outside);
  const store = createMemoryStore({ ...options, nowMs: time.nowMs, schedule: outside });
  const cuts = new Set<() => void>();
  let isUp = true;

  /** Carries what is sent at the same time together, and keeps the order. */
  function createPipe(domain: Domain) {
    let sent: (() => void)[] = [];
    return (run: () => void) => {
      sent.push(run);
      if (sent.length > 1) return;
      time.schedule(
        latencyMs(),
        () => {
          const arrived = sent;
          sent = [];
          for (const one of arrived) one();
        },
        domain,
      );
    };
  }

  /** A connection from its beginning to its cut. */
  function connect(domain: Domain, onCut: () => void) {
    const release = hold('connections to NATS');
    const [toServer, toClient] = [createPipe(time.outside), createPipe(domain)];
    let isOpen = true;
    const whileOpen = (run: () => void) => () => {
      if (isOpen) run();
    };
    const end = () => {
      if (!isOpen) return false;
      isOpen = false;
      cuts.delete(cut);
      release();
      return true;
    };
    const cut = () => {
      if (end()) time.schedule(0, onCut, domain);
    };
    cuts.add(cut);
    return {
      request: (run: () => void) => toServer(whileOpen(run)),
      tell: (run: () => void) => toClient(whileOpen(run)),
      cut,
      end,
    };
  }

  /** The client of one process. */
  function createWire({ reconnectDelayHandler = () => 2_000 }: ConnectionSettings): Wire {
    const { domain } = time;
    const changes$ = new Subject<ConnectionChange>();
    let connection: ReturnType<typeof connect> | null = null;
    let triedAtMs = 0;
    let isClosed = false;
    /** What is sent while there is no connection. */
    let unsent: (() => void)[] = [];

    function open() {
      connection = connect(domain, () => {
        connection = null;
        changes$.next({ type: 'disconnect', ...address });
        reconnect();
      });
    }

    /** The client goes by the wall clock of its process. */
    function reconnect() {
      const waitMs = reconnectDelayHandler();
      if (isClosed) return;
      const nowMs = Date.now();
      if (triedAtMs + waitMs > nowMs) {
        setTimeout(reconnect, Math.min(waitMs, triedAtMs + waitMs - nowMs));
        return;
      }
      triedAtMs = nowMs;
      setTimeout(() => {
        if (isClosed) return;
        if (!isUp) return reconnect();
        open();
        const waiting = unsent;
        unsent = [];
        for (const send of waiting) send();
        changes$.next({ type: 'reconnect', ...address });
      }, 1);
    }

    function send(what: string, run: (fate: Fate) => void) {
      if (isClosed) return;
      const current = connection;
      if (current === null) {
        unsent.push(() => send(what, run));
        return;
      }
      onSend(domain, Buffer.from(what));
      if (domain.isDead) return;
      current.request(() => {
        const fate = fateOf();
        if (fate === 'lost') return;
        run(fate);
        if (fate === 'cut') current.cut();
      });
    }

    triedAtMs = Date.now();
    open();
    return {
      ask: (what, run, answerMs = timeoutMs) =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error('timeout')), answerMs);
          send(what, (fate) => {
            let settle: () => void;
            try {
              const answer = run();
              settle = () => resolve(answer);
            } catch (error) {
              settle = () => reject(error);
            }
            if (fate === 'answered')
              connection?.tell(() => {
                clearTimeout(timer);
                settle();
              });
          });
        }),
      send: (what, run) => send(what, run),
      tell: (run) => connection?.tell(run),
      changes$,
      close: () => {
        isClosed = true;
        connection?.end();
        changes$.complete();
      },
    };
  }

  return {
    store,
    /** Connects the running process. Rejects while the server is down. */
    open: (settings: ConnectionSettings): Promise<StreamPort> =>
      new Promise((resolve, reject) => {
        setTimeout(() => {
          if (isUp) resolve(createMemoryPort(store, createWire(settings)));
          else reject(new Error('connection refused'));
        }, 1);
      }),
    /** Ends all connections and deliveries; the streams stay. */
    stop: () => {
      isUp = false;
      for (const cut of [...cuts]) cut();
      store.endDeliveries();
    },
    start: () => {
      isUp = true;
    },
    get isUp(): boolean {
      return isUp;
    },
    /** Cuts only the connections. */
    cutConnections: () => {
      for (const cut of [...cuts]) cut();
    },
  };
}
