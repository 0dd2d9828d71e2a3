import { randomInt } from 'node:crypto';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import { type RateClass, rateClasses, siteFactor } from '../../routes/rateClasses.ts';
import { type HeaderBlock, prepareHeaders } from '../engine/headerBlock.ts';
import { type AddressWords, toClient, toSite } from '../requests/ipAddress.ts';

const classNames = listKeys(rateClasses);
/** The table has 8,192 sets of 8 addresses, about 4 MB, allocated once. */
const setCount = 8_192;
const waysPerSet = 8;

/** Whether a request may pass, and the headers that tell its limit (draft-ietf-httpapi-ratelimit-headers-11). */
export interface RateVerdict {
  /** 0 for a request that may pass, else 1, since the next one may within a second. */
  readonly waitSeconds: number;
  /**
   * `RateLimit-Policy`: the burst, and the seconds in which an empty bucket fills. `RateLimit`: the requests left, and the seconds over
   * which to spread them.
   */
  readonly headers: HeaderBlock;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/**
 * Limits the rate of each client in a fixed amount of memory: a set-associative table in typed arrays. When a set is full, the client
 * that was seen least recently is evicted. It starts with a full bucket if it comes back.
 */
export function createRateLimiter() {
  const capacity = setCount * waysPerSet;
  const keys = new Uint32Array(capacity * 4);
  /** When an entry was last refilled; 0 marks a free one. */
  const touchedMs = new Float64Array(capacity);
  const tokens = new Float64Array(capacity * classNames.length);
  // Random, so that a client cannot choose addresses that collide in one set.
  const seed = randomInt(2 ** 31);
  const verdicts = classNames.map(createVerdicts);

  /** @param factor multiplies the rates and bursts of the entry's buckets. */
  function findEntry(address: AddressWords, factor: number, nowMs: number): number {
    const first = (hashAddress(address, seed) % setCount) * waysPerSet;
    let oldest = first;
    for (let entry = first; entry < first + waysPerSet; entry++) {
      if (touchedMs[entry] !== 0 && isKey(keys, entry, address)) {
        refill(entry, factor, nowMs);
        return entry;
      }
      if ((touchedMs[entry] as number) < (touchedMs[oldest] as number)) oldest = entry;
    }
    keys.set(address, oldest * 4);
    // So long ago that its buckets are full.
    touchedMs[oldest] = Number.NEGATIVE_INFINITY;
    refill(oldest, factor, nowMs);
    return oldest;
  }

  function refill(entry: number, factor: number, nowMs: number) {
    const elapsedMs = nowMs - (touchedMs[entry] as number);
    if (elapsedMs <= 0) return;
    touchedMs[entry] = nowMs;
    for (let index = 0; index < classNames.length; index++) {
      const { perSecond, burst } = rateClasses[classNames[index] as RateClass];
      const slot = entry * classNames.length + index;
      const added = (factor * elapsedMs * perSecond) / 1000;
      tokens[slot] = Math.min(factor * burst, (tokens[slot] as number) + added);
    }
  }

  /** @returns the whole tokens left after one was taken; -1 for an empty bucket. */
  function takeOne(address: AddressWords, factor: number, index: number, nowMs: number): number {
    const slot = findEntry(address, factor, nowMs) * classNames.length + index;
    const available = tokens[slot] as number;
    if (available < 1) return -1;
    tokens[slot] = available - 1;
    return Math.floor(available - 1);
  }

  return {
    /** Maximum number of clients and sites that are tracked at the same time. */
    capacity,
    /** Takes one token from the bucket of the address's client, and from its site's bucket if it has a site. */
    take: (address: AddressWords, rateClass: RateClass, nowMs: number): RateVerdict => {
      const index = classNames.indexOf(rateClass);
      const { allowed, refused } = verdicts[index] as ReturnType<typeof createVerdicts>;
      const clientLeft = takeOne(toClient(address), 1, index, nowMs);
      const site = toSite(address);
      const left =
        clientLeft < 0 || site === null
          ? clientLeft
          : Math.min(clientLeft, takeOne(site, siteFactor, index, nowMs));
      return left < 0 ? refused : allowed(left);
    },
  };
}

/** All verdicts of a rate class, built in advance so that a request builds no text. */
function createVerdicts(name: RateClass) {
  const { perSecond, burst } = rateClasses[name];
  const policy = `"${name}";q=${burst};w=${Math.ceil(burst / perSecond)}`;
  const build = (left: number, overSeconds: number, waitSeconds: number): RateVerdict => ({
    waitSeconds,
    headers: prepareHeaders([
      ['RateLimit-Policy', policy],
      ['RateLimit', `"${name}";r=${left};t=${overSeconds}`],
    ]),
  });
  const passing = Array.from({ length: burst + 1 }, (_, left) =>
    build(left, Math.max(1, Math.ceil(left / perSecond)), 0),
  );
  return {
    /** @param left whole tokens left, at most the burst. */
    allowed: (left: number) => passing[left] as RateVerdict,
    /** Each class has the next token within a second. */
    refused: build(0, 1, 1),
  };
}

function isKey(keys: Uint32Array, entry: number, address: AddressWords): boolean {
  const at = entry * 4;
  return (
    keys[at + 3] === address[3] &&
    keys[at + 2] === address[2] &&
    keys[at + 1] === address[1] &&
    keys[at] === address[0]
  );
}

/** Mixes 128 bits and a seed to 32 bits, with the finalizer of MurmurHash3 word by word. */
function hashAddress(address: AddressWords, seed: number): number {
  let hash = seed;
  for (let index = 0; index < 4; index++) {
    hash = Math.imul(hash ^ (address[index] as number), 0x85ebca6b);
    hash ^= hash >>> 13;
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 16;
  }
  return hash >>> 0;
}
