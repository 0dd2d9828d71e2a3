import { keccak_256 as hash } from '@noble/hashes/sha3';

const digests = new Map<string, Uint8Array>();
const digestsMax = 50_000;

/** Keccak-256 of bytes that were hashed before is known: chain and indexer hash the same blocks, each process again. */
export function keccak_256(bytes: Uint8Array): Uint8Array {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  let digest = digests.get(key);
  if (digest === undefined) {
    if (digests.size >= digestsMax) digests.clear();
    digest = hash(bytes);
    digests.set(key, digest);
  }
  // Who hashes may write into what it is given.
  return digest.slice();
}
