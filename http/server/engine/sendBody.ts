import type { HttpResponse } from 'uWebSockets.js';
import type { Transport } from './uws.ts';

/**
 * Sends as much of a body as the connection takes, and the rest as the client reads, so nothing is buffered here. The engine disconnects a
 * client that sends another request meanwhile, so a connection has at most one response in progress.
 *
 * @param onAborted called when the peer disconnects before everything is sent.
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
