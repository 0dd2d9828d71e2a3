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

export async function startLyingNode(nodeUrl: string): Promise<LyingNode> {
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
      const honest = await fetch(nodeUrl, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      const answer = (await honest.json()) as Answer | Answer[];
      const answers = [answer].flat();
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
