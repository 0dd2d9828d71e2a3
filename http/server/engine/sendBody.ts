import type { HttpResponse } from 'uWebSockets.js';
import type { Transport } from './uws.ts';

/**
 * Sends a body as far as the connection takes it, and the rest once it does: nothing that a client does not read is buffered here. A client that
 * sends further requests meanwhile is disconnected, so a connection has at most one response under way.
 *
 * @param onAborted called when the peer disconnects before all is sent.
 */
export function sendBody(
  transport: Transport,
  response: HttpResponse,
  body: Buffer,
  onAborted: () => void,
): void {
  if (transport.tryEnd(response, body, body.length)) return;
  response.onAborted(onAborted);
  response.onWritable((offset) => transport.tryEnd(response, body.subarray(offset), body.length));
}
