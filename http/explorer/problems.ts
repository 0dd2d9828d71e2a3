import { capitalize, nameChain } from './format/networks.ts';
import { formatInteger } from './format/numbers.ts';
import { explain } from './format/words.ts';
import type { PageRequest } from './page.ts';
import { corePath, statusPath } from './resources.ts';

type Page = Pick<PageRequest, 'read' | 'chain' | 'old'>;

/** The parts that work passes through, in its order, and the page itself. */
export type Part = 'wheel' | 'oracle' | 'settlement' | 'chain' | 'page';

export interface Problem {
  readonly part: Part;
  readonly title: string;
  readonly meaning: string;
  /** The last sign that it worked, such as `last reading`, with its time. */
  readonly last: readonly [what: string, at: string] | null;
}

type Words = readonly [title: string, meaning: string];

const waiting = 'Rounds that have ended wait to be closed.';

/** Faults of the parts by their codes, as a headline and what follows. */
const faults = {
  wheelStale: [
    'The wheel is out of touch',
    'It may still be turning. Its work is unknown until readings arrive.',
  ],
  counterFault: [
    'The counter reports a fault',
    'Its speed and distance may be wrong, and nothing is projected from them.',
  ],
  oracleBlocked: ['The oracle is blocked', waiting],
  oracleStale: ['The oracle has closed no round for 20 minutes', waiting],
  blocked: ['Settlement is blocked', 'Closed rounds wait until it is unblocked.'],
  disabled: ['Settlement is switched off', 'The operator has switched it off.'],
  stale: [
    'The reporter is silent',
    'It has not finished a run in the last ten minutes. Closed rounds may wait longer than usual.',
  ],
  environment: [
    'The reporter may not send batches',
    'Its environment does not let it send transactions. Closed rounds wait, and nothing is minted for them.',
  ],
  paused: ['The core contract is paused', explain('settlement_paused')],
  round_ineligible: [
    'A closed round cannot be settled',
    'It has more work than the core contract accepts. All later rounds wait as well.',
  ],
  round_projection_gap: [
    'Rounds are missing before the next batch',
    'The closed rounds do not follow the last settled round. It is unknown what waits for settlement.',
  ],
} satisfies Record<string, Words>;
const findFault = (code: string) => (faults as Readonly<Record<string, Words | undefined>>)[code];

/** Everything that does not work, in the order of the work. */
export function listProblems(page: Page): readonly Problem[] {
  const found = [findWheel(page), findOracle(page), findSettlement(page), findChain(page)];
  return [...found.filter((one) => one !== null), ...listOld(page)];
}

function describe(part: Part, [title, meaning]: Words, last: Problem['last']): Problem {
  return { part, title, meaning, last };
}

function findWheel({ read }: Page): Problem | null {
  const measurement = read('status', statusPath)?.measurement ?? null;
  if (measurement === null) return null;
  const last = ['last reading', measurement.observedAt] as const;
  if (measurement.freshness === 'stale') return describe('wheel', faults.wheelStale, last);
  return measurement.coreStatus === 'COUNTER_FAULT' ? describe('wheel', faults.counterFault, last) : null;
}

function findOracle({ read }: Page): Problem | null {
  const { state, reason, latestClosure } = read('status', statusPath)?.oracle ?? {};
  const last = latestClosure ? (['last closing', latestClosure.acceptedAt] as const) : null;
  if (state === 'stale') return describe('oracle', faults.oracleStale, last);
  if (state !== 'blocked') return null;
  const [title, meaning] = faults.oracleBlocked;
  return describe('oracle', [title, reason ? `It says: “${reason}”. ${meaning}` : meaning], last);
}

/** Null if settlement works, or if nobody knows. */
function findSettlement({ read, chain }: Page): Problem | null {
  const status = read('status', statusPath);
  const core = read('core', corePath);
  const batch = status?.builder.status === 'available' ? status.builder.anchor.confirmedAt : null;
  const last = batch === null ? null : (['last batch', batch] as const);
  const queue = status?.settlementQueue;
  if (queue?.status === 'available') {
    const { state, blockedReason, lastRun, reporterEnvironmentEnabled } = queue;
    const [title, meaning] = findFault(state) ?? [];
    if (title !== undefined) {
      const reason = blockedReason === null ? '' : `${explain(blockedReason)} `;
      const run = state === 'stale' && lastRun !== null ? (['last run', lastRun.finishedAt] as const) : last;
      return describe('settlement', [title, `${reason}${meaning}`], run);
    }
    if (!reporterEnvironmentEnabled) return describe('settlement', faults.environment, last);
  }
  if (core?.status === 'available' && core.core.paused) return describe('settlement', faults.paused, last);
  // While the chain cannot be read, it is the problem.
  const isReadable = chain !== null && chain.reason === null;
  const fault = queue?.status === 'unavailable' && isReadable ? findFault(queue.reason) : undefined;
  return fault === undefined ? null : describe('settlement', fault, last);
}

function findChain({ chain }: Page): Problem | null {
  if (chain === null || chain.reason === null) return null;
  const { lastKnown, reason } = chain;
  const name = capitalize(nameChain(chain));
  if (lastKnown === null) return describe('chain', [`${name} cannot be shown`, explain(reason)], null);
  const meaning = `Its figures are of block ${formatInteger(lastKnown.blockNumber)}. Later blocks are not known yet.`;
  return describe('chain', [`${name} is no longer read`, meaning], ['that block', lastKnown.at]);
}

/** Names of bodies for people. The first pattern that fits counts. */
const names: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/^\/v1\/status/, 'The state of the wheel'],
  [/^\/v1\/core/, 'The state of the contracts'],
  [/^\/v1\/mining/, 'Issuance'],
  [/^\/v1\/measurement\/stats/, 'Statistics'],
  [/^\/v1\/settlements/, 'Settlements'],
  [/^\/v1\/events/, 'The feed'],
  [/^\/v1\/owners/, 'The page of the owner'],
  [/^\/v1\/miners\/\d+\/metadata/, 'The picture of the miner'],
  [/^\/v1\/miners/, 'The miner'],
  [/^\/v1\/days/, 'The day'],
  [/^\/v1\/(?:rounds|transactions)/, 'Events'],
];

function listOld({ old }: Page): Problem[] {
  const parts = new Map(
    [...old].map(([path, atMs]) => [names.find(([pattern]) => pattern.test(path))?.[1] ?? path, atMs]),
  );
  return [...parts].map(([name, atMs]) =>
    describe(
      'page',
      [`${name} cannot be read at the moment`, 'The page shows its last known state.'],
      ['last read', new Date(atMs).toISOString()],
    ),
  );
}
