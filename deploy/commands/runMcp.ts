import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { ZodError, z } from 'zod';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { askService } from '../../http/mcp/askService.ts';
import { createTools } from '../../http/mcp/tools.ts';
import { writeModelText } from '../../http/routes/documentation/machineTexts.ts';

export interface McpOptions {
  readonly url: string;
  /** Port for clients that know only a URL. Undefined: one client over stdio. */
  readonly port?: number;
  /** Address that the port listens on. */
  readonly host: string;
}

/** Longest message of a client, in bytes. */
const messageBytesMax = 64 * 1024;
/** How long a client may take to send a message. */
const messageTimeoutMs = 10_000;

/**
 * The command line's `mcp`: offers the public routes of a service to language models as tools (Model Context Protocol): over stdio until stdin closes, or
 * as streamable HTTP, without sessions. No web page may ask it, so a request with an `Origin` is refused.
 */
export async function runMcp({ url, port, host }: McpOptions, version: string): Promise<void> {
  const sdk = await loadSdk();
  const tools = createTools();
  const listed = tools.map(({ path: _path, ...tool }) => ({
    ...tool,
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  }));
  const baseUrl = url.replace(/\/+$/, '');

  async function callTool(name: string, given: unknown) {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) return toResult([`there is no tool ${name}`], true);
    let path: string;
    try {
      path = tool.path(given);
    } catch (error) {
      if (error instanceof ZodError) return toResult([z.prettifyError(error)], true);
      throw error;
    }
    const { texts, isError, body } = await askService(baseUrl, path);
    return { ...toResult(texts, isError), ...(body !== undefined && { structuredContent: body }) };
  }

  function createServer() {
    const server = new sdk.Server(
      { name: 'mining-activity', title: 'Mining Activity Read Service', version },
      { instructions: writeModelText(), capabilities: { tools: {} } },
    );
    server.setRequestHandler(sdk.ListToolsRequestSchema, () => ({ tools: listed }));
    server.setRequestHandler(sdk.CallToolRequestSchema, ({ params }) =>
      callTool(params.name, params.arguments ?? {}),
    );
    return server;
  }

  if (port === undefined) return createServer().connect(new sdk.StdioServerTransport());

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const refused = findRefusal(request);
    if (refused !== null) {
      response.writeHead(refused, { Allow: 'POST', Connection: 'close' }).end();
      return;
    }
    const transport = new sdk.StreamableHTTPServerTransport({ enableJsonResponse: true });
    const server = createServer();
    response.on('close', () => server.close());
    await server.connect(transport as Parameters<typeof server.connect>[0]);
    await transport.handleRequest(request, response);
  }

  const http = createHttpServer({ requestTimeout: messageTimeoutMs }, (request, response) => {
    // One request ends nothing else.
    answer(request, response).catch((error: unknown) => {
      process.stderr.write(`a request failed: ${readErrorMessage(error)}\n`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host, () => resolve());
  });
  const address = http.address();
  process.stdout.write(`MCP on port ${typeof address === 'object' ? address?.port : port}\n`);
}

/** @returns the status of a request that is no message of a program; null if it may be one. */
function findRefusal({ method, headers }: IncomingMessage): number | null {
  if (method !== 'POST') return 405;
  if (headers.origin !== undefined) return 403;
  const length = headers['content-length'];
  if (length === undefined) return 411;
  return Number(length) > messageBytesMax ? 413 : null;
}

function toResult(texts: readonly string[], isError: boolean) {
  return { content: texts.map((text) => ({ type: 'text' as const, text })), isError };
}

/** Loads the optional package, which production does not have. */
async function loadSdk() {
  try {
    const { Server } = await import('@modelcontextprotocol/sdk/server/index.js');
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const { StreamableHTTPServerTransport } = await import(
      '@modelcontextprotocol/sdk/server/streamableHttp.js'
    );
    const { CallToolRequestSchema, ListToolsRequestSchema } = await import(
      '@modelcontextprotocol/sdk/types.js'
    );
    return {
      Server,
      StdioServerTransport,
      StreamableHTTPServerTransport,
      CallToolRequestSchema,
      ListToolsRequestSchema,
    };
  } catch (error) {
    throw new Error('`mcp` needs a package that is not installed: npm install @modelcontextprotocol/sdk', {
      cause: error,
    });
  }
}
