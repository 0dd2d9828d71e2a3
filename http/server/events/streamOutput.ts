import type { HttpResponse } from 'uWebSockets.js';

/**
 * Bytes that one turn of the event loop writes to a client before the next turn goes on. uWebSockets.js gathers 16 KiB of a turn, and the build that
 * runs here loses what no longer fits when the connection has no room at that moment (mended in uWebSockets 20.77).
 */
const portionBytes = 8 * 1024;
/** Of the library, around each text: its length and two line ends. */
const framingBytes = 16;
/** Texts that wait for a client that does not read (clients share them). */
export const waitingMax = 4_096;

/** What a client of the event stream is sent: in order, as fast as it reads, and whole. */
export interface StreamOutput {
  /** Whether a text that is sent now is written now. */
  isFlowing(): boolean;
  /** @returns false where too much waits for the client already. */
  send(text: string): boolean;
  /** Writes in one piece what is sent meanwhile. */
  cork(run: () => void): void;
  /** The client is gone, or its stream ends: nothing more is written. */
  stop(): void;
}

/**
 * @param response of which the headers are written, and nothing else.
 * @param onFlowing called, in one piece with what it sends, whenever the output flows again.
 */
export function createStreamOutput(response: HttpResponse, onFlowing: () => void): StreamOutput {
  const waiting: string[] = [];
  let isBlocked = false;
  let isStopped = false;
  let roomBytes = portionBytes;
  let isTurnScheduled = false;

  const canWrite = () => !isBlocked && roomBytes > 0;

  function write(text: string) {
    isBlocked = !response.write(text);
    roomBytes -= Buffer.byteLength(text) + framingBytes;
    if (roomBytes > 0 || isTurnScheduled) return;
    isTurnScheduled = true;
    setImmediate(() => {
      isTurnScheduled = false;
      if (!isStopped) proceed();
    });
  }

  function cork(run: () => void) {
    roomBytes = portionBytes;
    response.cork(run);
  }

  function proceed() {
    cork(() => {
      while (waiting.length > 0 && canWrite()) write(waiting.shift() as string);
      if (waiting.length === 0 && canWrite()) onFlowing();
    });
  }

  response.onWritable(() => {
    isBlocked = false;
    proceed();
    return true;
  });

  return {
    isFlowing: () => waiting.length === 0 && canWrite(),
    send: (text) => {
      if (waiting.length === 0 && canWrite()) write(text);
      else if (waiting.length < waitingMax) waiting.push(text);
      else return false;
      return true;
    },
    cork,
    stop: () => {
      isStopped = true;
    },
  };
}
