import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { describe, expect, it } from 'vitest';
import { routes } from '../../http/routes/routes.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { eventually, startProcess } from '../support/processes/childProcess.ts';
import { shareInFile, whenFinished } from '../support/processes/lifetime.ts';

const program = resolve(import.meta.dirname, '../../dist/deploy/miner.js');

async function connect(url: string) {
  const client = new Client({ name: 'test', version: '1' });
  whenFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program, 'mcp', '--url', url] }),
  );
  const ask = async (name: string, input: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: input });
    return { texts: (content as { text: string }[]).map(({ text }) => text), isError };
  };
  return { client, ask };
}

const shared = shareInFile(async () => {
  const server = await startPublicServer();
  return { server, ...(await connect(server.base)) };
});

describe('the tools of a language model', () => {
  it('are the routes, each resource once, and read the service', async () => {
    const { server, client, ask } = await shared();
    const { tools } = await client.listTools();
    const named = routes.filter(({ path }) => !/^\/v[24]\//.test(path)).map(({ operationId }) => operationId);
    expect(tools.map(({ name }) => name)).toEqual(named);
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(client.getInstructions()).toContain('They do not mean zero');
    const { texts, isError } = await ask('getStatus');
    expect([isError, JSON.parse(texts[0] ?? '')]).toEqual([
      false,
      await (await server.get('/v1/status')).json(),
    ]);
    const history = await ask('getSettlements', { range: '7d' });
    expect(JSON.parse(history.texts[0] ?? '')).toMatchObject({ status: 'unavailable' });
  });

  it('say what is wrong, and what to do', async () => {
    const { server, ask } = await shared();
    const wrong = await ask('getPortfolio', { address: 'a/../b' });
    expect(wrong.isError).toBe(true);
    expect(wrong.texts[0]).toMatch(/^400 invalid_address: The owner is malformed/);
    // A path of dots would be the path of another route, in each of these spellings.
    for (const installationId of ['.', '..'])
      expect(await ask('getInstallationTelemetry', { installationId })).toMatchObject({ isError: true });
    server.hasViews = false;
    expect((await ask('getStatus')).texts[0]).toMatch(
      /^503 database_unavailable: .* Retry after 2 seconds\.$/,
    );
    const elsewhere = await connect('http://127.0.0.1:1');
    expect((await elsewhere.ask('getStatus')).texts[0]).toMatch(/^the service at \S+ cannot be reached/);
  });

  it('are reached by a URL alone, from programs and not from pages', async () => {
    const { server } = await shared();
    server.hasViews = true;
    const served = startProcess(process.execPath, [program, 'mcp', '--url', server.base, '--port', '0']);
    const found = () => /MCP on port (\d+)/.exec(served.output())?.[1];
    const url = `http://127.0.0.1:${await eventually(found, 'the port')}/`;
    const client = new Client({ name: 'test', version: '1' });
    whenFinished(() => client.close());
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Transport);
    expect(
      (await client.listTools()).tools.every(({ outputSchema }) => outputSchema?.type === 'object'),
    ).toBe(true);
    const { structuredContent } = await client.callTool({ name: 'getStatus', arguments: {} });
    expect(structuredContent).toEqual(await (await server.get('/v1/status')).json());
    const wrong = await client.callTool({ name: 'getEvents', arguments: { limit: 'many' } });
    expect([wrong.isError, JSON.stringify(wrong.content)]).toEqual([true, expect.stringContaining('limit')]);
    const post = (headers: Record<string, string>, body = '{}') =>
      fetch(url, { method: 'POST', headers, body });
    expect((await fetch(url)).status).toBe(405);
    expect((await post({ Origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await post({}, 'x'.repeat(70_000))).status).toBe(413);
  });
});
