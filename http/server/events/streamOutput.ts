import type { HttpResponse } from 'uWebSockets.js';

/**
 * Bytes that are written to a client in one turn of the event loop. uWebSockets.js gathers 16 KiB per turn. Before version 20.77 it
 * loses the rest if the connection has no room at that moment.
 */
const portionBytes = 8 * 1024;
/** The engine frames each text with its length and two line ends. */
const framingBytes = 16;
/** Texts that may wait for a client that does not read. Clients share the texts. */
export const waitingMax = 4_096;

/** Writes texts to a client of the event stream: in order, complete, and as fast as the client reads. */
export interface StreamOutput {
  /** Whether the next text would be written without waiting. */
  isFlowing(): boolean;
  /** @returns false if too much waits for the client already. */
  send(text: string): boolean;
  /** Writes everything that `run` sends in one piece. */
  cork(run: () => void): void;
  /** Writes nothing more, since the client is gone or its stream ends. */
  stop(): void;
}

/**
 * @param response with its headers written, and nothing else.
 * @param onFlowing called, corked, whenever the output flows again.
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
