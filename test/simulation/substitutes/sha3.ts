import { keccak_256 as hash } from '@noble/hashes/sha3';

const digests = new Map<string, Uint8Array>();
const digestsMax = 50_000;

/** Keccak-256 with a cache: the chain and each process's indexer hash the same blocks. */
export function keccak_256(bytes: Uint8Array): Uint8Array {
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  let digest = digests.get(key);
  if (digest === undefined) {
    if (digests.size >= digestsMax) digests.clear();
    digest = hash(bytes);
    digests.set(key, digest);
  }
  // Callers may write into the digest.
  return digest.slice();
}
