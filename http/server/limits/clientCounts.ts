import { type AddressWords, toClient, toSite } from '../requests/ipAddress.ts';

/**
 * Number of requests or streams in progress per client and per site (`ipAddress.ts`). Everybody behind one address is one client.
 *
 * @param clientMax and siteMax bound how much one client, and one site, can take of a shared resource.
 */
export function createClientCounts(clientMax: number, siteMax: number) {
  const counts = new Map<string, number>();

  function findOrigins(address: AddressWords | null): (readonly [key: string, max: number])[] {
    if (address === null) return [];
    const client = [toClient(address).join('.'), clientMax] as const;
    const site = toSite(address);
    return site === null ? [client] : [client, [site.join('.'), siteMax]];
  }

  /** @returns a function that returns the share of its limit that the client or its site has reached; 0 for null, which is not limited. */
  function weigh(address: AddressWords | null): () => number {
    const origins = findOrigins(address);
    return () => Math.max(0, ...origins.map(([key, max]) => (counts.get(key) ?? 0) / max));
  }

  return {
    weigh,
    isFull: (address: AddressWords | null) => weigh(address)() >= 1,
    change: (address: AddressWords | null, by: 1 | -1) => {
      for (const [key] of findOrigins(address)) {
        const count = (counts.get(key) ?? 0) + by;
        if (count === 0) counts.delete(key);
        else counts.set(key, count);
      }
    },
  };
}
