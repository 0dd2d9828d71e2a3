import { createServer } from 'node:http';
import { whenFinished } from '../processes/lifetime.ts';

/** A dishonest treatment of one call. */
export type Lie =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: number }
  | 'hang'
  | 'half'
  | null;

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly never[];
}

interface Answer {
  readonly id: number;
  readonly result?: unknown;
}

/** A proxy before a real node that lies, refuses or fails as the test chooses. */
interface LyingNode {
  readonly url: string;
  /** Asked for every call, also of a batch, with the honest result; null passes it on. */
  lie: (method: string, params: readonly never[], result: never) => Lie;
  /** Number of dishonest answers. */
  readonly lies: number;
}

/** Honest answers of a node with an unchanging chain, by request. Several lying nodes can share them. */
export type AnswerMemory = Map<string, Answer>;

async function askNode(url: string, calls: readonly Call[], memory: AnswerMemory | null): Promise<Answer[]> {
  const formatKey = ({ method, params }: Call) => JSON.stringify([method, params]);
  const unknown = calls.filter((call) => memory === null || !memory.has(formatKey(call)));
  const answers: Answer[] = [];
  if (unknown.length > 0) {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(unknown) });
    answers.push(...((await response.json()) as Answer[]));
  }
  return calls.map((call) => {
    const answer = answers.find(({ id }) => id === call.id) ?? memory?.get(formatKey(call));
    if (answer === undefined) throw new Error(`no answer to ${formatKey(call)}`);
    memory?.set(formatKey(call), answer);
    return { ...answer, id: call.id };
  });
}

export async function startLyingNode(
  nodeUrl: string,
  memory: AnswerMemory | null = null,
): Promise<LyingNode> {
  const state = { lies: 0 };
  const node: LyingNode = {
    url: '',
    lie: () => null,
    get lies() {
      return state.lies;
    },
  };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', async () => {
      const body = Buffer.concat(chunks);
      const request = JSON.parse(body.toString('utf8')) as Call | Call[];
      const answers = await askNode(nodeUrl, [request].flat(), memory).catch(() => null);
      // The node behind it closed the connection: the caller's is cut too.
      if (answers === null) {
        response.destroy();
        return;
      }
      const results: unknown[] = [];
      let fault: Lie = null;
      for (const { id, method, params = [] } of [request].flat()) {
        const own = answers.find((one) => one.id === id);
        const lie = node.lie(method, params, own?.result as never);
        if (lie !== null) state.lies++;
        const isAnswer = lie !== null && typeof lie === 'object' && !('status' in lie);
        results.push(isAnswer ? { jsonrpc: '2.0', id, ...lie } : own);
        if (lie !== null && !isAnswer) fault = lie;
      }
      if (fault === 'hang') return;
      if (fault !== null && typeof fault === 'object' && 'status' in fault) {
        response.writeHead(fault.status).end('');
        return;
      }
      const text = JSON.stringify(Array.isArray(request) ? results : results[0]);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      if (fault === 'half') {
        response.write(text.slice(0, text.length / 2));
        response.destroy();
        return;
      }
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(node, { url: `http://127.0.0.1:${(server.address() as { port: number }).port}` });
}
