import type { Map as ImmutableMap } from 'immutable';
import { z } from 'zod';
import type { Address } from '../../schemas/hex.ts';

/**
 * Totals of owners who have given all their miners away, by the beginning of the address: a text with the rest of the address, the number of events and
 * the paid base units of each, in ascending order. There may be millions, so they take the space of that text, which is also the record of a snapshot.
 */
export type PastOwners = ImmutableMap<string, string>;

interface OwnerTotals {
  readonly activityCount: number;
  readonly paidBaseUnits: bigint;
}

export const pastOwnersText = z.string().regex(/^[0-9a-f]{36},\d+,\d+(?:;[0-9a-f]{36},\d+,\d+)*$/);

/** With six characters there are up to 65,536 texts, each of fifteen owners of a million. */
const beginningLength = 6;

/** The totals of a past owner; zero for anybody else. */
export function findPastOwner(past: PastOwners, address: Address): OwnerTotals {
  const entry = listEntries(past, address).find((one) => isOf(one, address));
  const [, activityCount = '0', paidBaseUnits = '0'] = entry?.split(',') ?? [];
  return { activityCount: Number(activityCount), paidBaseUnits: BigInt(paidBaseUnits) };
}

export function withPastOwner(
  past: PastOwners,
  address: Address,
  { activityCount, paidBaseUnits }: OwnerTotals,
): PastOwners {
  const entry = `${address.slice(beginningLength)},${activityCount},${paidBaseUnits}`;
  const entries = [...listEntries(past, address), entry].sort();
  return past.set(address.slice(0, beginningLength), entries.join(';'));
}

export function withoutPastOwner(past: PastOwners, address: Address): PastOwners {
  const entries = listEntries(past, address);
  const others = entries.filter((one) => !isOf(one, address));
  if (others.length === entries.length) return past;
  const beginning = address.slice(0, beginningLength);
  return others.length === 0 ? past.delete(beginning) : past.set(beginning, others.join(';'));
}

function listEntries(past: PastOwners, address: Address): readonly string[] {
  return past.get(address.slice(0, beginningLength))?.split(';') ?? [];
}

function isOf(entry: string, address: Address): boolean {
  return entry.startsWith(address.slice(beginningLength));
}
