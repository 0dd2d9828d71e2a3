import type { NodeLink } from '../chain/nodeLink.ts';
import type { SimulatedNats } from '../nats/simulatedNats.ts';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtualTime.ts';

/** Calls of a ClickHouse client, and their answers. */
export interface SimulatedDatabaseServer {
  /** Text of the result. */
  query(sql: string, parameters: Readonly<Record<string, unknown>>): Promise<string>;
  command(sql: string, parameters: Readonly<Record<string, unknown>>): Promise<void>;
  insert(table: string, blocks: Buffer): Promise<void>;
}

/** A handler of requests of one process and port, as the substitute of the HTTP engine registers it. */
export interface SimulatedListener {
  handle(request: SimulatedRequest): Promise<SimulatedResponse>;
}

export interface SimulatedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces of a response that is never complete. */
  readonly onPiece?: (text: string) => void;
  /** The client goes away. */
  readonly leaving?: AbortSignal;
}

export interface SimulatedResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** Substitutes for everything outside of the program. */
export interface World {
  readonly time: VirtualTime;
  /** Random numbers of the program itself. */
  readonly random: Random;
  /** Connects the running process to NATS. */
  readonly openJetStream: SimulatedNats['open'];
  /** Database of the running process. */
  database(): SimulatedDatabaseServer;
  /** Sends a JSON-RPC request to the node. */
  readonly rpc: NodeLink;
  /** Listens on a port; 0 chooses one. */
  listen(port: number, listener: SimulatedListener): number;
  unlisten(port: number): void;
}

let world: World | null = null;
let entered = 0;

/** The world, for substitutes of modules, which get no arguments. */
export function currentWorld(): World {
  if (world === null) throw new Error('no simulation runs');
  return world;
}

/** Whether a world exists. Modules read the clock while they are loaded, before any world. */
export function hasWorld(): boolean {
  return world !== null;
}

/** @returns number of worlds so far. */
export function enterWorld(next: World): number {
  world = next;
  return ++entered;
}
