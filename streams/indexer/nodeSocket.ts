import { RpcRequestError, SocketClosedError, TimeoutError, WebSocketRequestError } from 'viem';
import { WebSocket } from 'ws';
import { z } from 'zod';

interface NodeSocketOptions {
  readonly url: string;
  /** A request without an answer after this time fails. */
  readonly requestMs: number;
  readonly answerBytesMax: number;
}

type RpcRequest = { readonly method: string; readonly params?: unknown };

/** A request that waits for its answer. */
interface Call {
  readonly body: RpcRequest;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

const rpcAnswer = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }).nullish(),
});

/**
 * Sends JSON-RPC requests over a web socket, as a provider of EIP-1193. It connects with the first request. viem's own transport keeps a
 * connection that no longer answers, gives up for good after five failed attempts to connect, and prints errors.
 */
export function createNodeSocket(options: NodeSocketOptions) {
  let connection: Connection | null = null;

  /** Also rejects with viem's errors. */
  async function request(body: RpcRequest): Promise<unknown> {
    if (connection === null || connection.hasEnded()) connection = openConnection(options);
    return connection.request(body);
  }

  return { request };
}

type Connection = ReturnType<typeof openConnection>;

/**
 * Opens a connection. A request that is not answered in time ends it: a half-open connection shows itself in no other way. Without
 * requests it ends after the same time, so a connection that a network has forgotten in the meantime is not used again.
 */
function openConnection({ url, requestMs, answerBytesMax }: NodeSocketOptions) {
  const calls = new Map<number, Call>();
  const socket = new WebSocket(url, { maxPayload: answerBytesMax });
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  let problem: Error | null = null;

  socket.on('open', () => {
    for (const [id, { body }] of calls) send(id, body);
  });
  socket.on('message', (data) => {
    const answer = parseAnswer(String(data));
    if (answer === null) return;
    const call = calls.get(answer.id);
    if (call === undefined) return;
    const { error, result } = answer;
    if (error) call.reject(new RpcRequestError({ body: call.body, error, url }));
    else call.resolve(result);
  });
  socket.on('error', (error) => {
    problem = error;
  });
  // Follows every error.
  socket.on('close', () => {
    for (const { body, reject } of calls.values()) reject(describeEnd(body));
    clearTimeout(idle);
  });

  function describeEnd(body: RpcRequest): Error {
    if (problem === null) return new SocketClosedError({ url });
    return new WebSocketRequestError({ body, cause: problem, details: problem.message, url });
  }

  function send(id: number, { method, params }: RpcRequest) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  function request(body: RpcRequest): Promise<unknown> {
    clearTimeout(idle);
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        call.reject(new TimeoutError({ body, url }));
        socket.terminate();
      }, requestMs);
      const forget = () => {
        clearTimeout(timer);
        calls.delete(id);
        if (calls.size === 0) idle = setTimeout(() => socket.close(), requestMs);
      };
      const call: Call = {
        body,
        resolve: (result) => {
          forget();
          resolve(result);
        },
        reject: (error) => {
          forget();
          reject(error);
        },
      };
      calls.set(id, call);
      if (socket.readyState === WebSocket.OPEN) send(id, body);
    });
  }

  return {
    request,
    hasEnded: () => socket.readyState === WebSocket.CLOSING || socket.readyState === WebSocket.CLOSED,
  };
}

/** Null for a message that is not an answer. */
function parseAnswer(text: string): z.infer<typeof rpcAnswer> | null {
  try {
    return rpcAnswer.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
