import { createServer, type Server } from 'node:http';
import { createClient } from 'viem';
import { describe, expect, it, vi } from 'vitest';
import { createChainReader } from '../../streams/indexer/chainReader.ts';
import { createNodeTransport } from '../../streams/indexer/nodeTransport.ts';
import { startEconomy } from '../support/chain/testEconomy.ts';
import { startCuttingProxy } from '../support/processes/cuttingProxy.ts';
import { eventually, shareInFile, whenFinished } from '../support/processes/lifetime.ts';
import { listenHere } from '../support/processes/listenHere.ts';

const node = shareInFile(startEconomy);
const requestMs = 60_000;
const unanswered = 'took too long';

/** A reader behind a proxy that fails on demand. */
async function readThroughProxy() {
  const { url } = await node();
  const proxy = await startCuttingProxy(url);
  const reader = createChainReader({ url: proxy.url, addresses: [], requestMs: 1_000 });
  expect((await reader.tip()).number).toBeGreaterThan(0n);
  return { proxy, reader };
}

/** A node whose answers have the text that `answer` returns. */
async function startAnsweringNode(answer: (id: number) => string) {
  const server = createServer(async (incoming, response) => {
    const { id } = JSON.parse(String(Buffer.concat(await incoming.toArray()))) as { id: number };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(answer(id));
  });
  return createClient({ transport: await listen(server) });
}

/** The transport to a server of this test. */
async function listen(server: Server) {
  const port = await listenHere(server);
  whenFinished(() => server.closeAllConnections());
  return createNodeTransport({ url: `http://127.0.0.1:${port}`, requestMs });
}

describe('a connection to the node', () => {
  it('costs at most one request once it forwards nothing', async () => {
    const { proxy, reader } = await readThroughProxy();
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
    const { proxy, reader } = await readThroughProxy();
    proxy.silenceWithinAnswer();
    await expect(reader.tip()).rejects.toThrow(unanswered);
    expect((await reader.tip()).number).toBeGreaterThan(0n);
  });

  it('is closed again if it is accepted and never answered', async () => {
    const { proxy, reader } = await readThroughProxy();
    proxy.silence();
    proxy.hold(true);
    for (let attempt = 0; attempt < 3; attempt++) await expect(reader.tip()).rejects.toThrow(unanswered);
    await eventually(() => proxy.open === 0, 'the end of all connections');
    proxy.hold(false);
    expect((await reader.tip()).number).toBeGreaterThan(0n);
  });

  it('is made again however often it was refused', async () => {
    const { proxy, reader } = await readThroughProxy();
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
    const { proxy } = await readThroughProxy();
    await eventually(() => proxy.open === 0, 'the end of the idle connection');
  });

  const receipts = { method: 'eth_getBlockReceipts', params: ['latest'] } as const;

  it('carries no answer of many small values, which would stop the process while it is read', async () => {
    const answer = (values: number) => (id: number) =>
      `{"id":${id},"result":[${'{},'.repeat(values / 2)}{}]}`;
    const fits = await startAnsweringNode(answer(400_000));
    expect(await fits.request(receipts as never)).toHaveLength(200_001);
    const bomb = await startAnsweringNode(answer(40_000_000));
    await expect(bomb.request(receipts as never)).rejects.toThrow('more than 4000000 values');
  });

  it('carries an error of the node with its code', async () => {
    const error = { code: -32_601, message: 'the method does not exist' };
    const client = await startAnsweringNode((id) => JSON.stringify({ id, error }));
    await expect(client.request({ method: 'eth_chainId' })).rejects.toMatchObject({
      name: 'MethodNotFoundRpcError',
      details: error.message,
    });
  });

  it('leaves no timer behind once its answer is read', async () => {
    const client = await startAnsweringNode((id) => JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }));
    const [set, cleared] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')];
    whenFinished(() => vi.restoreAllMocks());
    expect(await client.request({ method: 'eth_chainId' })).toBe('0x1');
    const timer = set.mock.results.find((_, index) => set.mock.calls[index]?.[1] === requestMs);
    expect(timer).toBeDefined();
    expect(cleared).toHaveBeenCalledWith(timer?.value);
  });

  it('refuses a redirection, which could lead anywhere', async () => {
    const requests: string[] = [];
    const server = createServer((incoming, response) => {
      requests.push(String(incoming.url));
      response.writeHead(307, { Location: '/elsewhere' }).end();
    });
    const client = createClient({ transport: await listen(server) });
    await expect(client.request({ method: 'eth_chainId' })).rejects.toThrow('redirects');
    expect(requests).toEqual(['/']);
  });

  it.each([
    ['a number', { method: 'eth_chainId' }, 64 * 1024],
    ['a header', { method: 'eth_getBlockByNumber', params: ['latest', false] }, 4 * 1024 * 1024],
    ['the receipts of a block', receipts, 64 * 1024 * 1024],
  ] as const)('reads no answer that is too long for %s', async (_, request, bytesMax) => {
    const answer = (id: number, bytes: number) => {
      const [before, after] = [`{"jsonrpc":"2.0","id":${id},"result":"`, '"}'];
      return before + '0'.repeat(bytes - before.length - after.length) + after;
    };
    const fits = await startAnsweringNode((id) => answer(id, bytesMax));
    expect(String(await fits.request(request as never)).length).toBeGreaterThan(bytesMax - 100);
    const tooLong = await startAnsweringNode((id) => answer(id, bytesMax + 1));
    await expect(tooLong.request(request as never)).rejects.toThrow(`longer than ${bytesMax} bytes`);
  });
});
