import { askService } from '../../http/mcp/askService.ts';
import { tools } from '../../http/mcp/tools.ts';
import { writeModelText } from '../../http/routes/documentation/machineTexts.ts';

export interface McpOptions {
  readonly url: string;
}

/** The command line's `mcp`: offers the public routes of a service to a language model as tools, over stdio, until stdin closes. */
export async function runMcp({ url }: McpOptions, version: string): Promise<void> {
  const { McpServer, StdioServerTransport } = await loadSdk();
  const server = new McpServer(
    { name: 'mining-activity', title: 'Mining Activity Read Service', version },
    { instructions: writeModelText() },
  );
  const baseUrl = url.replace(/\/+$/, '');
  for (const { name, description, input, path } of tools) {
    const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
    server.registerTool(name, { description, inputSchema: input, annotations }, async (given) => {
      const { texts, isError } = await askService(baseUrl, path(given));
      return { content: texts.map((text) => ({ type: 'text' as const, text })), isError };
    });
  }
  await server.connect(new StdioServerTransport());
}

/** Loads the optional package, which production does not have. */
async function loadSdk() {
  try {
    const { McpServer } = await import('@modelcontextprotocol/sdk/server/mcp.js');
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    return { McpServer, StdioServerTransport };
  } catch (error) {
    throw new Error('`mcp` needs a package that is not installed: npm install @modelcontextprotocol/sdk', {
      cause: error,
    });
  }
}
