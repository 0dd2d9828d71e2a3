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

  return {
    /** Whether the client or its site has reached its limit; never for null, which is not limited. */
    isFull: (address: AddressWords | null) =>
      findOrigins(address).some(([key, max]) => (counts.get(key) ?? 0) >= max),
    change: (address: AddressWords | null, by: 1 | -1) => {
      for (const [key] of findOrigins(address)) {
        const count = (counts.get(key) ?? 0) + by;
        if (count === 0) counts.delete(key);
        else counts.set(key, count);
      }
    },
  };
}
