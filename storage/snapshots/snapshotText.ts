import { createHash, type Hash } from 'node:crypto';
import { pipeline, Readable, type Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createBrotliCompress, createBrotliDecompress } from 'node:zlib';
import {
  type FoldRecord,
  formatRecord,
  parseRecord,
  RecordRefused,
  refuseOnError,
} from '../../actors/folds/foldRecord.ts';
import { RecordsDamaged } from '../../actors/pages/olderRows.ts';
import { readErrorCode } from '../../actors/readErrorCode.ts';

/** The event loop gets a turn after this time of writing records. The text is the same for any value. */
const sliceMs = 4;
/** The event loop also gets a turn after this amount of text, which is compressed at once. */
const sliceCharacters = 64 * 1024;
/** Size of a payload before base64 adds a third. */
const payloadBytes = 192 * 1024;
/** Brotli this fast takes a third of the time of gzip at its fastest, and the text becomes smaller. */
const compression = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 },
} as const;
/** Bytes that another thread decompresses at once. With less, waking it takes longer than the work. */
const decompressedBytes = 256 * 1024;
/** Bytes decoded in one turn of the event loop. Lines of longer texts take up to twice as long to split and parse. */
const decodedBytes = 64 * 1024;

/** The stored text differs from the saved one. */
export class SnapshotDamaged extends Error {
  override readonly name = 'SnapshotDamaged';
}

/** Whether an error means that a snapshot is unusable, so an older one must be restored. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof SnapshotDamaged || error instanceof RecordRefused || error instanceof RecordsDamaged
  );
}

/** A state as text. */
interface WrittenText {
  /** The compressed text in pieces, in base64. */
  readonly payloads: readonly string[];
  /** SHA-256 of all payloads. */
  readonly checksum: string;
}

/** Writes records as text, without blocking the event loop for long. Other threads compress. */
export async function writePayloads(records: Iterable<FoldRecord>): Promise<WrittenText> {
  const digest = createHash('sha256');
  const payloads: string[] = [];
  let pieces: Buffer[] = [];
  let size = 0;
  const endPayload = () => {
    const payload = Buffer.concat(pieces).toString('base64');
    digest.update(payload);
    payloads.push(payload);
    pieces = [];
    size = 0;
  };
  for await (const piece of transform(writeText(records), createBrotliCompress(compression))) {
    pieces.push(piece);
    size += piece.length;
    if (size >= payloadBytes) endPayload();
  }
  endPayload();
  return { payloads, checksum: digest.digest('hex') };
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
 * Reads the records of payloads.
 *
 * @throws SnapshotDamaged when they differ from the written ones, RecordRefused when a line is not a record.
 */
export async function* readPayloads(
  payloads: AsyncIterable<string>,
  checksum: string,
): AsyncIterable<readonly FoldRecord[]> {
  const decoder = new StringDecoder('utf8');
  const digest = createHash('sha256');
  let rest = '';
  const compressed = decodePayloads(payloads, digest);
  const decompress = createBrotliDecompress({ chunkSize: decompressedBytes });
  for await (const piece of transform(compressed, decompress)) {
    for (let from = 0; from < piece.length; from += decodedBytes) {
      if (from > 0) await nextTurn();
      const lines = (rest + decoder.write(piece.subarray(from, from + decodedBytes))).split('\n');
      rest = lines.pop() ?? '';
      yield readLines(lines);
    }
  }
  if (rest !== '') yield readLines([rest]);
  // A damaged text may also seem to end earlier, so that payloads are left.
  if (digest.digest('hex') !== checksum) throw new SnapshotDamaged('the checksum does not match');
}

function readLines(lines: readonly string[]): readonly FoldRecord[] {
  return refuseOnError(() => lines.map(parseRecord));
}

async function* decodePayloads(payloads: AsyncIterable<string>, digest: Hash): AsyncIterable<Buffer> {
  for await (const payload of payloads) {
    digest.update(payload);
    yield Buffer.from(payload, 'base64');
  }
}

async function* transform(source: AsyncIterable<string | Buffer>, through: Transform): AsyncIterable<Buffer> {
  // The reader below gets the error.
  pipeline(Readable.from(source), through, () => undefined);
  try {
    for await (const piece of through) yield piece;
  } catch (error) {
    if (/^(?:Z_|ERR__ERROR_FORMAT_)/.test(readErrorCode(error) ?? ''))
      throw new SnapshotDamaged('the compressed data is damaged', { cause: error });
    throw error;
  }
}
