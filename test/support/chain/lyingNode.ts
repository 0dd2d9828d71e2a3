import { createServer } from 'node:http';
import { whenFinished } from '../processes/lifetime.ts';

/** What a node does with one call in place of answering it honestly. */
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

/** A proxy before a real node that lies, refuses or stumbles as the test tells it to. */
export interface LyingNode {
  readonly url: string;
  /** Asked for every call, also of a batch, with the honest result; null passes it on. */
  lie: (method: string, params: readonly never[], result: never) => Lie;
  /** Asked for every batch with the number of its calls; null passes it on. */
  batchLie: (calls: number) => Lie;
  /** Times that it did not answer honestly. */
  readonly lies: number;
}

/** Honest answers of a node whose chain stands still, by what was asked: nodes that lie about the same chain ask for each once. */
export type AnswerMemory = Map<string, Answer>;

async function askNode(url: string, calls: readonly Call[], memory: AnswerMemory | null): Promise<Answer[]> {
  const keyOf = ({ method, params }: Call) => JSON.stringify([method, params]);
  const unknown = calls.filter((call) => memory === null || !memory.has(keyOf(call)));
  const answers: Answer[] = [];
  if (unknown.length > 0) {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(unknown) });
    answers.push(...((await response.json()) as Answer[]));
  }
  return calls.map((call) => {
    const answer = answers.find(({ id }) => id === call.id) ?? memory?.get(keyOf(call));
    if (answer === undefined) throw new Error(`no answer to ${keyOf(call)}`);
    memory?.set(keyOf(call), answer);
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
    batchLie: () => null,
    get lies() {
      return state.lies;
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      const asked = JSON.parse(body.toString('utf8')) as Call | Call[];
      const answers = await askNode(nodeUrl, [asked].flat(), memory);
      const given: unknown[] = [];
      let manner: Lie = null;
      if (Array.isArray(asked)) manner = node.batchLie(asked.length);
      for (const { id, method, params = [] } of [asked].flat()) {
        const own = answers.find((one) => one.id === id);
        const lie = node.lie(method, params, own?.result as never);
        if (lie !== null) state.lies++;
        const isAnswer = lie !== null && typeof lie === 'object' && !('status' in lie);
        given.push(isAnswer ? { jsonrpc: '2.0', id, ...lie } : own);
        if (lie !== null && !isAnswer) manner = lie;
      }
      if (manner === 'hang') return;
      if (manner !== null && typeof manner === 'object' && 'status' in manner) {
        response.writeHead(manner.status).end('');
        return;
      }
      const whole =
        manner !== null && typeof manner === 'object' ? { jsonrpc: '2.0', id: null, ...manner } : given;
      const text = JSON.stringify(Array.isArray(asked) ? whole : given[0]);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      if (manner === 'half') {
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
