import { Transform } from 'node:stream';
import { type BrotliOptions, brotliCompressSync, brotliDecompressSync } from 'node:zlib';

export { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Compresses in this thread. Node.js compresses in another one, and finishes at a time that no seed decides. */
export function createBrotliCompress(options: BrotliOptions): Transform {
  return transformWhole((bytes) => brotliCompressSync(bytes, options));
}

export function createBrotliDecompress(): Transform {
  return transformWhole((bytes) => brotliDecompressSync(bytes));
}

/** Converts everything at the end. */
function transformWhole(convert: (bytes: Buffer) => Buffer): Transform {
  const pieces: Buffer[] = [];
  return new Transform({
    transform(piece: Buffer | string, _, done) {
      pieces.push(Buffer.from(piece as Buffer));
      done();
    },
    flush(done) {
      try {
        done(null, convert(Buffer.concat(pieces)));
      } catch (error) {
        done(error as Error);
      }
    },
  });
}
