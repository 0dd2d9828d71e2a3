import type { HeaderBlock, LeadingHeaders } from '../../../http/server/engine/headerBlock.ts';
import type { Transport } from '../../../http/server/engine/uws.ts';
import { currentWorld, type SimulatedRequest, type SimulatedResponse } from '../world/currentWorld.ts';

type Handler = (response: AnsweredResponse, request: AskedRequest) => void;

interface Route {
  readonly rank: number;
  readonly pattern: RegExp;
  readonly method: 'any' | 'get';
  readonly handler: Handler;
}

/** A request of the HTTP engine. */
class AskedRequest {
  readonly request: SimulatedRequest;
  readonly #parameters: readonly string[];

  constructor(request: SimulatedRequest, parameters: readonly string[]) {
    this.request = request;
    this.#parameters = parameters;
  }
  getMethod = () => this.request.method.toLowerCase();
  getUrl = () => this.request.path;
  getHeader = (name: string) => this.request.headers[name] ?? '';
  getParameter = (index: number) => this.#parameters[index];
}

/** A response of the HTTP engine. */
class AnsweredResponse {
  readonly #headers = new Map<string, string>();
  #status = '200 OK';
  #isOver = false;
  #aborted = () => {};
  readonly #onEnd: (response: SimulatedResponse) => void;
  readonly #onPiece: (text: string) => void;

  constructor(onEnd: (response: SimulatedResponse) => void, onPiece: (text: string) => void) {
    this.#onEnd = onEnd;
    this.#onPiece = onPiece;
  }
  cork(write: () => void) {
    write();
    return this;
  }
  writeStatus(status: string) {
    this.#status = status;
    return this;
  }
  writeHeader(name: string, value: string) {
    this.#headers.set(name.toLowerCase(), value);
    return this;
  }
  write(text: string | Buffer) {
    this.#onPiece(text.toString());
    return true;
  }
  end(body: Buffer | string = Buffer.alloc(0)) {
    if (this.#isOver) throw new Error('a response ended twice');
    this.#isOver = true;
    this.#onEnd({
      status: Number(this.#status.slice(0, 3)),
      headers: this.#headers,
      body: Buffer.from(body),
    });
  }
  close() {
    if (!this.#isOver) this.end();
  }
  onAborted(run: () => void) {
    this.#aborted = run;
    return this;
  }
  abort() {
    this.#isOver = true;
    this.#aborted();
  }
}

/** The part of the HTTP engine that the service uses. */
export function App() {
  const routes: Route[] = [];
  const add = (method: Route['method']) => (path: string, handler: Handler) => {
    const pattern = path.replace(/\/:\w+/g, '/([^/]+)').replace(/\*$/, '.*');
    // The engine prefers names to parameters, and parameters to the rest of a path.
    const rank = path.includes('*') ? 2 : path.includes(':') ? 1 : 0;
    routes.push({ method, rank, pattern: new RegExp(`^${pattern}$`), handler });
    routes.sort((a, b) => a.rank - b.rank);
  };

  function handle(request: SimulatedRequest): Promise<SimulatedResponse> {
    return new Promise((resolve, reject) => {
      for (const { pattern, method, handler } of routes) {
        const found = pattern.exec(request.path);
        if (found === null || (method === 'get' && request.method !== 'GET')) continue;
        const response = new AnsweredResponse(resolve, request.onPiece ?? (() => undefined));
        const { time } = currentWorld();
        const { domain } = time;
        request.leaving?.addEventListener('abort', () => time.schedule(0, () => response.abort(), domain));
        handler(response, new AskedRequest(request, found.slice(1)));
        return;
      }
      reject(new Error(`no route for ${request.path}`));
    });
  }

  return {
    any: add('any'),
    get: add('get'),
    listen: (_host: string, port: number, _options: number, opened: (token: number | false) => void) =>
      opened(currentWorld().listen(port, { handle })),
  };
}

export const closeListenSocket = (port: number) => currentWorld().unlisten(port);
export const portOfSocket = (port: number) => port;
export const uwsPackage = 'simulated';
export const isOldEngine = false;
export const detectImplementation = () => 'native' as const;

const localhost = new Uint8Array([127, 0, 0, 1]).buffer;

const simulated = {
  path: ({ request }: AskedRequest) => request.path,
  query: ({ request }: AskedRequest) => request.query,
  forEachHeader: ({ request }: AskedRequest, note: (name: string, value: string) => void) => {
    for (const [name, value] of Object.entries(request.headers)) note(name, value);
  },
  remoteAddress: () => '127.0.0.1',
  remoteAddressBytes: () => localhost,
  writeLastHeader: (
    response: AnsweredResponse,
    { headers, lastName }: LeadingHeaders,
    value: string,
    behind: HeaderBlock | null,
  ) => {
    for (const [one, text] of [...headers, [lastName, value] as const, ...(behind?.headers ?? [])])
      response.writeHeader(one, text);
  },
  end: (response: AnsweredResponse, body: Buffer) => response.end(body),
  // A simulated connection always has room.
  onRoom: () => undefined,
  endWithoutBody: (response: AnsweredResponse) => response.end(),
} satisfies Record<keyof Transport, unknown>;

export const selectTransport = () => simulated;
