import type { Random } from '../world/random.ts';
import type { Domain, VirtualTime } from '../world/virtualTime.ts';
import { answerCall, type RpcAnswer, type RpcCall } from './answerCall.ts';
import type { EthereumChain } from './ethereumNode.ts';
import { lie } from './lies.ts';

/**
 * Fate of a request. `gateway`: a gateway before the node refuses it. `error`: the node refuses each call. `lie`: it lies about one call.
 * `shuffled`: it answers the calls of a batch in another order.
 */
export type RequestFate = 'answered' | 'refused' | 'unanswered' | 'gateway' | 'error' | 'lie' | 'shuffled';

interface RpcResponse {
  readonly status: number;
  readonly body: string;
}

interface NodeLinkOptions {
  readonly time: VirtualTime;
  readonly chain: EthereumChain;
  readonly random: Random;
  readonly latencyMs: () => number;
  readonly fateOf: () => RequestFate;
  /** Number of newest blocks that a lagging node does not have yet. */
  readonly lagBlocks: () => number;
  /** Called before a process sends something. */
  readonly onSend: (domain: Domain, what: Buffer) => void;
}

/** Connects processes to the node. */
export type NodeLink = (body: string) => Promise<RpcResponse>;

const errors = [
  { code: -32_000, message: 'header not found' },
  { code: -32_005, message: 'limit exceeded' },
  { code: -32_603, message: 'internal error' },
] as const;

export function createNodeLink(options: NodeLinkOptions): NodeLink {
  const { time, chain, random, latencyMs, fateOf, lagBlocks, onSend } = options;

  function answer(body: string, fate: RequestFate): RpcResponse {
    // The service's client wrote it.
    const request = JSON.parse(body) as RpcCall | readonly RpcCall[];
    const calls: readonly RpcCall[] = 'method' in request ? [request] : request;
    const { blocks } = chain;
    const known = blocks.slice(0, Math.max(1, blocks.length - lagBlocks()));
    const liedAbout = random.integer(0, calls.length - 1);
    const answers = calls.map((call, index) => {
      const honest: RpcAnswer = fate === 'error' ? { error: random.pick(errors) } : answerCall(known, call);
      const told = fate === 'lie' && index === liedAbout ? lie(random, known, call, honest) : null;
      return { jsonrpc: '2.0', id: call.id, ...(told ?? honest) };
    });
    if ('method' in request) return { status: 200, body: JSON.stringify(answers[0]) };
    return { status: 200, body: JSON.stringify(fate === 'shuffled' ? answers.toReversed() : answers) };
  }

  return (body) => {
    const { domain } = time;
    // Only the method: request IDs count on across simulations in one program.
    onSend(domain, Buffer.from(`rpc ${/"method":"(\w+)"/.exec(body)?.[1]}`));
    return new Promise((resolve, reject) => {
      if (domain.isDead) return;
      const later = (settle: () => void) => time.schedule(latencyMs(), settle, domain);
      time.schedule(
        latencyMs(),
        () => {
          const fate = fateOf();
          if (fate === 'unanswered') return;
          if (fate === 'refused') later(() => reject(new TypeError('fetch failed')));
          else if (fate === 'gateway') later(() => resolve({ status: 502, body: 'Bad Gateway' }));
          else {
            const response = answer(body, fate);
            later(() => resolve(response));
          }
        },
        time.outside,
      );
    });
  };
}
