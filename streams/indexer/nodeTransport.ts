import { http, TimeoutError, type Transport } from 'viem';

/**
 * Longest answer that is read. The logs of a block of 60 million gas can hold 7.5 MB, which are twice as many digits. A shorter bound would let
 * one such block stop the indexer.
 */
const answerBytesMax = 64 * 1024 * 1024;
/** Longest answer that is a number, and longest header with the hashes of its transactions. */
const [numberBytesMax, headerBytesMax] = [64 * 1024, 4 * 1024 * 1024];
/** Values in one answer: the 160,000 logs that fit into such a block have half as many. Reading twenty million takes minutes and gigabytes. */
const answerValuesMax = 4_000_000;

/** The node to read, and a second node that must agree with it, if any: addresses separated by a comma. */
export function splitNodeUrls(urls: string): [node: string, witness: string | null] {
  const [node = '', witness = null] = urls.split(',').map((url) => url.trim());
  return [node, witness];
}

interface NodeTransportOptions {
  readonly url: string;
  /** A request whose whole answer has not arrived after this time fails, and its connection is given up. */
  readonly requestMs: number;
  /** Simultaneous requests are sent together, at most this many. If omitted, they are sent separately. */
  readonly batchSize?: number;
}

/** Reaches an Ethereum node. Each request is sent once, and none waits longer than `requestMs`, even if its connection has died silently. */
export function createNodeTransport({ url, requestMs, batchSize }: NodeTransportOptions): Transport {
  const { origin, username, password } = new URL(url);
  const address = new URL(url);
  address.username = '';
  address.password = '';
  const login = btoa(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  // The client names its address in errors. A path or query may be a key of the operator's, so it knows only the origin.
  return http(origin, {
    fetchOptions: { headers: username === '' ? {} : { Authorization: `Basic ${login}` } },
    retryCount: 0,
    // viem's own timeout ends with the headers of an answer. A body that stops would be awaited for minutes.
    timeout: 0,
    fetchFn: (_, init) => fetchWithin(requestMs, address, init),
    maxResponseBodySize: false,
    batch: batchSize === undefined ? false : { batchSize },
  });
}

/**
 * Aborts the request, or the reading of its answer, after `requestMs`. A redirection is an error: it could lead to any address, inside the operator's
 * network too.
 */
async function fetchWithin(requestMs: number, address: URL, init: RequestInit = {}): Promise<Response> {
  const controller = new AbortController();
  const body: Record<string, unknown> = JSON.parse(String(init.body));
  const abort = () => controller.abort(new TimeoutError({ body, url: address.origin }));
  const timer = setTimeout(abort, requestMs).unref();
  const response = await fetch(address, { ...init, signal: controller.signal, redirect: 'manual' });
  const target = response.headers.get('Location');
  if (target !== null) throw new Error('the node redirects to another address, which is not followed');
  // Until it fires, the timer holds request and answer in memory.
  return limitBody(response, boundAnswer(body), () => clearTimeout(timer));
}

/** Longest answer to a request. A batch has no method. */
function boundAnswer({ method, params }: Record<string, unknown>): number {
  if (method === 'eth_chainId' || method === 'eth_blockNumber') return numberBytesMax;
  const isHeader = method === 'eth_getBlockByNumber' && Array.isArray(params) && params[1] === false;
  return isHeader ? headerBytesMax : answerBytesMax;
}

function limitBody(response: Response, bytesMax: number, onRead: () => void): Response {
  if (response.body === null) return response;
  let bytes = 0;
  let values = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      values += countValues(chunk);
      if (bytes > bytesMax) controller.error(new Error(`the answer is longer than ${bytesMax} bytes`));
      else if (values > answerValuesMax)
        controller.error(new Error(`the answer has more than ${answerValuesMax} values`));
      else controller.enqueue(chunk);
    },
    flush: onRead,
  });
  return new Response(response.body.pipeThrough(limit), response);
}

/** Values that begin in a part of JSON. Texts of nodes, which are hexadecimal, contain none of these characters. */
function countValues(json: Uint8Array): number {
  const [comma, brace, bracket] = [0x2c, 0x7b, 0x5b];
  let count = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === comma || byte === brace || byte === bracket) count++;
  }
  return count;
}
