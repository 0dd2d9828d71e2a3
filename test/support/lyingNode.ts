import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

/** What a node does with one call in place of answering it honestly. */
export type Lie =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: number }
  | 'hang'
  | 'half'
  | null;

/** A proxy before a real node that lies, refuses or stumbles as the test tells it to. */
export interface LyingNode {
  readonly url: string;
  /** Asked for every call with the honest result; null passes it on. */
  lie: (method: string, params: readonly never[], result: never) => Lie;
  /** Times that it did not answer honestly. */
  readonly lies: number;
}

export async function startLyingNode(nodeUrl: string): Promise<LyingNode> {
  const state = { lies: 0 };
  const node: LyingNode = {
    url: '',
    lie: () => null,
    get lies() {
      return state.lies;
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      const { id, method, params = [] } = JSON.parse(body.toString('utf8'));
      const honest = await fetch(nodeUrl, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
      });
      const answer = (await honest.json()) as { result?: never };
      const lie = node.lie(method, params, answer.result as never);
      if (lie !== null) state.lies++;
      if (lie === 'hang') return;
      if (lie !== null && typeof lie === 'object' && 'status' in lie) {
        response.writeHead(lie.status).end('');
        return;
      }
      const given = lie === null || lie === 'half' ? answer : { jsonrpc: '2.0', id, ...lie };
      const text = JSON.stringify(given);
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
      if (lie === 'half') {
        response.write(text.slice(0, text.length / 2));
        response.destroy();
        return;
      }
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(node, { url: `http://127.0.0.1:${(server.address() as { port: number }).port}` });
}
