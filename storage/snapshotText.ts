import { createHash } from 'node:crypto';
import { pipeline, Readable, type Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { type FoldRecord, formatRecord } from '../actors/foldRecord.ts';
import { readErrorCode } from '../actors/readErrorCode.ts';

/** The event loop gets a turn after this time of writing records. */
const sliceMs = 4;
/** The event loop also gets a turn after this amount of text, which is compressed at once. */
const sliceCharacters = 64 * 1024;
/** Size of a chunk before base64 adds a third. */
const chunkBytes = 192 * 1024;
/** The fastest level: writing the text takes most of the time, and higher levels save few bytes. */
const compressionLevel = 1;
/** Bytes that another thread decompresses at once. With less, waking it takes longer than the work. */
const decompressedBytes = 256 * 1024;
/** Bytes decoded in one turn of the event loop. Lines of longer texts take up to twice as long to split and parse. */
const decodedBytes = 64 * 1024;

/** The stored text differs from the saved one. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged';
}

/** A piece of a part. The last one carries the digest of the payload of all. */
export interface Chunk {
  readonly payload: string;
  readonly checksum: string | null;
}

/** Writes records as chunks, without blocking the event loop for long. Other threads compress. */
export async function* writeChunks(records: Iterable<FoldRecord>): AsyncIterable<Chunk> {
  const digest = createHash('sha256');
  let pieces: Buffer[] = [];
  let size = 0;
  const take = () => {
    const payload = Buffer.concat(pieces).toString('base64');
    digest.update(payload);
    pieces = [];
    size = 0;
    return payload;
  };
  for await (const piece of transform(writeText(records), createGzip({ level: compressionLevel }))) {
    pieces.push(piece);
    size += piece.length;
    if (size >= chunkBytes) yield { payload: take(), checksum: null };
  }
  yield { payload: take(), checksum: digest.digest('hex') };
}

async function* writeText(records: Iterable<FoldRecord>): AsyncIterable<string> {
  let text = '';
  let sinceMs = performance.now();
  for (const record of records) {
    text += `${formatRecord(record)}\n`;
    if (text.length < sliceCharacters && performance.now() - sinceMs < sliceMs) continue;
    yield text;
    await nextTurn();
    text = '';
    sinceMs = performance.now();
  }
  yield text;
}

/**
 * Reads the lines of text from chunks.
 *
 * @throws SnapshotDamaged when they differ from the written ones.
 */
export async function* readChunks(chunks: AsyncIterable<Chunk>): AsyncIterable<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const piece of transform(decodeChunks(chunks), createGunzip({ chunkSize: decompressedBytes }))) {
    for (let from = 0; from < piece.length; from += decodedBytes) {
      if (from > 0) await nextTurn();
      const lines = (rest + decoder.write(piece.subarray(from, from + decodedBytes))).split('\n');
      rest = lines.pop() ?? '';
      yield lines;
    }
  }
  if (rest !== '') yield [rest];
}

async function* decodeChunks(chunks: AsyncIterable<Chunk>): AsyncIterable<Buffer> {
  const digest = createHash('sha256');
  let expected: string | null = null;
  for await (const { payload, checksum } of chunks) {
    digest.update(payload);
    expected = checksum;
    yield Buffer.from(payload, 'base64');
  }
  if (digest.digest('hex') !== expected) throw new SnapshotDamaged('the checksum does not match');
}

async function* transform(source: AsyncIterable<string | Buffer>, through: Transform): AsyncIterable<Buffer> {
  // The reader below gets the error.
  pipeline(Readable.from(source), through, () => undefined);
  try {
    for await (const piece of through) yield piece;
  } catch (error) {
    if (readErrorCode(error)?.startsWith('Z_'))
      throw new SnapshotDamaged('the compressed data is damaged', { cause: error });
    throw error;
  }
}
