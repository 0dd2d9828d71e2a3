import type { HttpResponse } from 'uWebSockets.js';
import type { Transport } from '../engine/uws.ts';

/**
 * Bytes that are written to a client in one turn of the event loop. uWebSockets.js gathers 16 KiB per turn. Before version 20.77 it
 * loses the rest if the connection has no room at that moment.
 */
const portionBytes = 8 * 1024;
/** The engine frames each text with its length and two line ends. */
const framingBytes = 16;
/** A line that clients skip. Without an empty line behind it, it is no message, not even for a parser that reports messages without data. */
export const comment = ':\n';

export type StreamOutput = ReturnType<typeof createStreamOutput>;

/**
 * Writes texts to a client of the event stream: in order, complete, and as fast as the client reads.
 *
 * @param response with its headers written, and nothing else.
 * @param onFlowing called, corked, whenever the output flows again.
 */
export function createStreamOutput({ onRoom }: Transport, response: HttpResponse, onFlowing: () => void) {
  const waiting: string[] = [];
  let isBlocked = false;
  let isStopped = false;
  let roomBytes = portionBytes;
  let isTurnScheduled = false;
  /** Whether the newest chunk has content, and no line end yet. */
  let isChunkOpen = false;

  const canWrite = () => !isBlocked && roomBytes > 0;

  function write(text: string) {
    isBlocked = !response.write(text);
    isChunkOpen = text !== comment;
    roomBytes -= Buffer.byteLength(text) + framingBytes;
    if (roomBytes > 0 || isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(() => {
      isTurnScheduled = false;
      if (!isStopped) proceed();
    });
  }

  /**
   * Ends the newest chunk by beginning another one with a comment. The engine writes a chunk's line end only in front of the next chunk, and some
   * clients, such as Python's urllib3, hand a chunk on once its line end has arrived.
   */
  function completeChunk() {
    if (isChunkOpen && !isBlocked && !isStopped) write(comment);
  }

  /** Writes everything that `run` sends in one piece. */
  function cork(run: () => void) {
    roomBytes = portionBytes;
    response.cork(() => {
      run();
      completeChunk();
    });
  }

  function proceed() {
    cork(() => {
      while (waiting.length > 0 && canWrite()) write(waiting.shift() as string);
      if (waiting.length === 0 && canWrite()) onFlowing();
    });
  }

  onRoom(response, () => {
    isBlocked = false;
    if (!isStopped) proceed();
  });

  return {
    /** Whether the next text would be written without waiting. */
    isFlowing: () => waiting.length === 0 && canWrite(),
    /** Called within `cork`. Without room the text waits, so the caller sends little to an output that does not flow. */
    send: (text: string) => {
      if (waiting.length === 0 && canWrite()) write(text);
      else waiting.push(text);
    },
    cork,
    /** Writes nothing more, since the client is gone or its stream ends. */
    stop: () => {
      isStopped = true;
    },
  };
}
