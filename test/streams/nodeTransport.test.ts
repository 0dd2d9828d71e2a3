import { createServer } from 'node:http';
import { createClient } from 'viem';
import { describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { createNodeTransport } from '../../streams/indexer/nodeTransport.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { shareInFile, whenFinished } from '../support/processes/lifetime.ts';

const node = shareInFile(startEconomy);
const unanswered = 'took too long';

/** A reader behind a proxy that fails on demand. */
async function readThroughProxy(protocol: string) {
  const { url } = await node();
  const proxy = await startCuttingProxy(url.replace('http:', protocol));
  const reader = createChainReader({ url: proxy.url, addresses: [], requestMs: 1_000 });
  expect((await reader.tip()).number).toBeGreaterThan(0n);
  return { proxy, reader };
}

/** A node that answers over HTTP and web sockets. `answer` returns the text of an answer. */
async function startAnsweringNode(protocol: string, answer: (id: number) => string) {
  const readId = (body: unknown) => (JSON.parse(String(body)) as { id: number }).id;
  const server = createServer(async (incoming, response) => {
    const chunks = await incoming.toArray();
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(answer(readId(Buffer.concat(chunks))));
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) =>
    socket.on('message', (message) => socket.send(answer(readId(message)))),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  whenFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const transport = createNodeTransport({ url: `${protocol}//127.0.0.1:${port}`, requestMs: 60_000 });
  return createClient({ transport });
}

describe.each(['http:', 'ws:'])('a connection to the node over %s', (protocol) => {
  it('costs at most one request once it forwards nothing', async () => {
    const { proxy, reader } = await readThroughProxy(protocol);
    const silenced = proxy.open;
    proxy.silence();
    const problems: string[] = [];
    // The HTTP client may open a second connection first, and use the silent one later.
    for (let request = 0; request < 4; request++)
      await reader.tip().catch((error) => problems.push(String(error)));
    expect(problems.every((problem) => problem.includes(unanswered))).toBe(true);
    expect(problems.length).toBeLessThanOrEqual(silenced);
  });

  it('is given up if it falls silent within an answer', async () => {
    const { proxy, reader } = await readThroughProxy(protocol);
    proxy.silenceWithinAnswer();
    await expect(reader.tip()).rejects.toThrow(unanswered);
    expect((await reader.tip()).number).toBeGreaterThan(0n);
  });

  it('is closed again if it is accepted and never answered', async () => {
    const { proxy, reader } = await readThroughProxy(protocol);
    proxy.silence();
    proxy.hold(true);
    for (let attempt = 0; attempt < 3; attempt++) await expect(reader.tip()).rejects.toThrow(unanswered);
    await eventually(() => proxy.open === 0, 'the end of all connections');
    proxy.hold(false);
    expect((await reader.tip()).number).toBeGreaterThan(0n);
  });

  it('is made again however often it was refused', async () => {
    const { proxy, reader } = await readThroughProxy(protocol);
    proxy.refuse(true);
    const before = proxy.accepted;
    await eventually(async () => {
      await expect(reader.tip()).rejects.toThrow();
      return proxy.accepted - before > 8;
    }, 'many attempts');
    proxy.refuse(false);
    expect((await reader.tip()).number).toBeGreaterThan(0n);
  });

  it('ends without requests, so that no forgotten one is used', async () => {
    const { proxy } = await readThroughProxy(protocol);
    await eventually(() => proxy.open === 0, 'the end of the idle connection');
  });

  it('carries the receipts of a full block', async () => {
    const digits = 'a'.repeat(20_000_000);
    const client = await startAnsweringNode(protocol, (id) => JSON.stringify({ id, result: digits }));
    expect(await client.request({ method: 'eth_chainId' })).toBe(digits);
  });

  it('carries no answer without bounds', async () => {
    const digits = 'a'.repeat(70_000_000);
    const client = await startAnsweringNode(protocol, (id) => JSON.stringify({ id, result: digits }));
    await expect(client.request({ method: 'eth_chainId' })).rejects.toThrow(
      /exceeded the size limit|Max payload size exceeded/,
    );
  });

  it('carries an error of the node with its code', async () => {
    const error = { code: -32_601, message: 'the method does not exist' };
    const client = await startAnsweringNode(protocol, (id) => JSON.stringify({ id, error }));
    await expect(client.request({ method: 'eth_chainId' })).rejects.toMatchObject({
      name: 'MethodNotFoundRpcError',
      details: error.message,
    });
  });
});

it('a web socket survives messages that are no answers', async () => {
  const client = await startAnsweringNode('ws:', (id) =>
    id === 1 ? 'not JSON' : JSON.stringify({ id, result: '0x1' }),
  );
  const first = client.request({ method: 'eth_chainId' }).catch(() => null);
  expect(await client.request({ method: 'eth_chainId' })).toBe('0x1');
  void first;
});
