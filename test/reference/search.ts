import type { z } from 'zod';
import type { searchResponse } from '../../http/responses/records/search.ts';
import type { CoreState } from './core.ts';
import { dayMs, opaque, toDate } from './messages.ts';
import { findDay } from './readings.ts';
import { countBegun } from './records.ts';

/** What a text stands for, in the forms in which it is usually written. */

type Result = z.infer<typeof searchResponse>['results'][number];

interface Known {
  readonly installationId: string;
  /** Null while it cannot be shown. */
  readonly core: CoreState | null;
  readonly mayBeMiner: (tokenId: bigint) => boolean;
  /** Time of the first day that is shown. */
  readonly sinceMs: number;
  readonly nowMs: number;
}

export function buildSearch(query: string, known: Known): z.infer<typeof searchResponse> {
  const { results, isSure } = find(query, known);
  const reason = isSure ? null : opaque;
  return { schemaVersion: 1, installationId: known.installationId, query, results, reason };
}

function show(kind: Result['kind'], id: string): Result {
  const path = `${kind}s/${encodeURIComponent(id)}`;
  return { kind, id, route: `/v1/${path}${kind === 'owner' ? '/miners' : ''}`, page: `/${path}` };
}

function find(query: string, known: Known): { results: Result[]; isSure: boolean } {
  const { nowMs, sinceMs } = known;
  const only = (kind: Result['kind'], id: string) => ({ results: [show(kind, id)], isSure: true });
  const text = query.trim().toLowerCase();
  const ago = ['today', 'yesterday'].indexOf(text);
  const date = ago === -1 ? text : toDate(findDay(nowMs) - ago * dayMs);
  if (/^\d{4}-\d\d-\d\d$/.test(date)) {
    if (Date.parse(`${date}T12:00:00Z`) > nowMs) return { results: [], isSure: false };
    const first = toDate(findDay(sinceMs));
    return date < first ? { results: [show('day', first)], isSure: false } : only('day', date);
  }
  if (/^0x[0-9a-f]{64}$/.test(text)) return only('transaction', text);
  if (/^0x[0-9a-f]{40}$/.test(text)) return only('owner', text);
  const [, kind, id] = /^(?:(miner|round) )?(\d+)$/.exec(text) ?? [];
  if (id === undefined) return { results: [], isSure: false };
  if (kind !== undefined) return only(kind as 'miner' | 'round', id);
  const results = listNumbered(BigInt(id), known).map((one) => show(one, id));
  return { results, isSure: results.length === 1 };
}

/** What has a number. While the chain is unknown, it may be anything. */
function listNumbered(number: bigint, { core, mayBeMiner, nowMs }: Known): Result['kind'][] {
  const kinds: [Result['kind'], boolean][] = [
    ['miner', number > 0n && number < 10_000n && mayBeMiner(number)],
    ['round', number > 0n && (core === null || number <= countBegun({ core, nowMs }))],
  ];
  return kinds.filter(([, isThere]) => isThere).map(([kind]) => kind);
}
