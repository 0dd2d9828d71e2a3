import { type AddressWords, toClient, toSite } from './ipAddress.ts';

/** Streams of one client, which may be an office behind one address, and of one site (`ipAddress.ts`): nobody takes all of them. */
export const streamsOfClientMax = 32;
export const streamsOfSiteMax = 256;

/** Somebody whose streams are limited together. */
interface Origin {
  readonly key: string;
  readonly streamsMax: number;
}

/** Open streams by whom they count for: a client and its site, where it has one. */
export interface StreamCounts {
  /** Whether whoever has this address may open one more. */
  isFull(address: AddressWords): boolean;
  change(address: AddressWords, by: 1 | -1): void;
}

export function createStreamCounts(): StreamCounts {
  const counts = new Map<string, number>();
  return {
    isFull: (address) =>
      findOrigins(address).some(({ key, streamsMax }) => (counts.get(key) ?? 0) >= streamsMax),
    change: (address, by) => {
      for (const { key } of findOrigins(address)) {
        const count = (counts.get(key) ?? 0) + by;
        if (count === 0) counts.delete(key);
        else counts.set(key, count);
      }
    },
  };
}

function findOrigins(address: AddressWords): Origin[] {
  const client = { key: toClient(address).join('.'), streamsMax: streamsOfClientMax };
  const site = toSite(address);
  return site === null ? [client] : [client, { key: site.join('.'), streamsMax: streamsOfSiteMax }];
}
