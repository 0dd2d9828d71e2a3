import { http, TimeoutError, type Transport } from 'viem';

/**
 * Longest answer that is read. The logs of a block of 60 million gas can hold 7.5 MB, which are twice as many digits. A shorter bound would let
 * one such block stop the indexer.
 */
const answerBytesMax = 64 * 1024 * 1024;

interface NodeTransportOptions {
  readonly url: string;
  /** A request whose whole answer has not arrived after this time fails, and its connection is given up. */
  readonly requestMs: number;
  /** Simultaneous requests are sent together, at most this many. If omitted, they are sent separately. */
  readonly batchSize?: number;
}

/** Reaches an Ethereum node. Each request is sent once, and none waits longer than `requestMs`, even if its connection has died silently. */
export function createNodeTransport({ url, requestMs, batchSize }: NodeTransportOptions): Transport {
  return http(url, {
    retryCount: 0,
    // viem's own timeout ends with the headers of an answer. A body that stops would be awaited for minutes.
    timeout: 0,
    fetchFn: (input, init) => fetchWithin(requestMs, String(input), init),
    maxResponseBodySize: answerBytesMax,
    batch: batchSize === undefined ? false : { batchSize },
  });
}

/** Aborts the request, or the reading of its answer, after `requestMs`. */
function fetchWithin(requestMs: number, url: string, init: RequestInit = {}): Promise<Response> {
  const controller = new AbortController();
  const abort = () => controller.abort(new TimeoutError({ body: JSON.parse(String(init.body)), url }));
  setTimeout(abort, requestMs).unref();
  return fetch(url, { ...init, signal: controller.signal });
}
