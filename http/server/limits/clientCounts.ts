import { type AddressWords, toClient, toSite } from '../requests/ipAddress.ts';

/** What clients have under way, by whom it counts for: a client, which may be an office behind one address, and its site (`ipAddress.ts`), where it has one. */
export interface ClientCounts {
  /** Whether whoever has this address may have one more; always where it is null, which is not limited. */
  isFull(address: AddressWords | null): boolean;
  change(address: AddressWords | null, by: 1 | -1): void;
}

/** Bounds, so that nobody takes all of what clients share. */
export function createClientCounts(ofClientMax: number, ofSiteMax: number): ClientCounts {
  const counts = new Map<string, number>();

  function findOrigins(address: AddressWords | null): (readonly [key: string, max: number])[] {
    if (address === null) return [];
    const client = [toClient(address).join('.'), ofClientMax] as const;
    const site = toSite(address);
    return site === null ? [client] : [client, [site.join('.'), ofSiteMax]];
  }

  return {
    isFull: (address) => findOrigins(address).some(([key, max]) => (counts.get(key) ?? 0) >= max),
    change: (address, by) => {
      for (const [key] of findOrigins(address)) {
        const count = (counts.get(key) ?? 0) + by;
        if (count === 0) counts.delete(key);
        else counts.set(key, count);
      }
    },
  };
}
