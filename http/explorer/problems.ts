import type { Page } from './components/pageContext.ts';
import { capitalize, nameChain } from './format/networks.ts';
import { formatInteger } from './format/numbers.ts';
import { explain, queueFaults, queueStates } from './format/words.ts';
import { corePath, statusPath } from './resources.ts';

/** The parts that work passes through, in its order, and the page itself. */
export type Part = 'wheel' | 'oracle' | 'settlement' | 'chain' | 'page';

/** Something that does not work at the moment. */
interface Problem {
  readonly part: Part;
  readonly title: string;
  /** Its consequence. */
  readonly meaning: string;
  /** The last sign that it worked, such as `last reading`, with its time. */
  readonly last: readonly [what: string, at: string] | null;
}

type Words = Pick<Problem, 'title' | 'meaning'>;

/** Everything that does not work, in the order of the work. */
export function listProblems(page: Page): readonly Problem[] {
  return [
    ...listWheel(page),
    ...listOracle(page),
    ...listSettlement(page),
    ...listChain(page),
    ...listOld(page),
  ];
}

/** Whether closed work is known to be settled and minted as usual, so that what follows can be expected. */
export const isSettling = (page: Page) =>
  page.read('status', statusPath)?.settlementQueue.status === 'available' &&
  listProblems(page).every(({ part }) => part === 'wheel');

function listWheel({ read }: Page): Problem[] {
  const measurement = read('status', statusPath)?.measurement ?? null;
  if (measurement === null) return [];
  const last = ['last reading', measurement.observedAt] as const;
  if (measurement.freshness === 'stale')
    return [
      {
        part: 'wheel',
        title: 'The wheel is out of touch',
        meaning: 'It may still be turning. Its work is unknown until readings arrive.',
        last,
      },
    ];
  return measurement.coreStatus === 'COUNTER_FAULT'
    ? [
        {
          part: 'wheel',
          title: 'The counter reports a fault',
          meaning: 'Its speed and distance may be wrong, and nothing is projected from them.',
          last,
        },
      ]
    : [];
}

function listOracle({ read }: Page): Problem[] {
  const oracle = read('status', statusPath)?.oracle;
  const last = oracle?.latestClosure ? (['last closing', oracle.latestClosure.acceptedAt] as const) : null;
  const waiting = 'Rounds that have ended wait to be closed.';
  if (oracle?.state === 'blocked')
    return [
      {
        part: 'oracle',
        title: 'The oracle is blocked',
        meaning: oracle.reason === null ? waiting : `It says: “${oracle.reason}”. ${waiting}`,
        last,
      },
    ];
  return oracle?.state === 'stale'
    ? [{ part: 'oracle', title: 'The oracle has closed no round for 20 minutes', meaning: waiting, last }]
    : [];
}

function listSettlement(page: Page): Problem[] {
  const status = page.read('status', statusPath);
  const batch = status?.builder.status === 'available' ? status.builder.anchor.confirmedAt : null;
  const words = describeSettlement(page);
  return words === null
    ? []
    : [{ part: 'settlement', last: batch === null ? null : ['last batch', batch], ...words }];
}

/** Why settlement does not work; null if it does, or if nobody knows. */
function describeSettlement({ read, chain }: Page): (Words & Partial<Problem>) | null {
  const queue = read('status', statusPath)?.settlementQueue;
  if (queue?.status === 'available') {
    const { state, blockedReason, lastRun } = queue;
    const words = queueStates[state];
    if (words !== undefined)
      return {
        title: words.title,
        meaning: `${blockedReason === null ? '' : `${explain(blockedReason)} `}${words.meaning}`,
        ...(state === 'stale' && lastRun !== null && { last: ['last run', lastRun.finishedAt] }),
      };
  }
  const core = read('core', corePath);
  if (core?.status === 'available' && core.core.paused)
    return { title: 'The core contract is paused', meaning: explain('settlement_paused') };
  // Otherwise the chain is the problem.
  const isReadable = chain !== null && chain.reason === null;
  return (queue?.status === 'unavailable' && isReadable && queueFaults[queue.reason]) || null;
}

function listChain({ chain }: Page): Problem[] {
  if (chain === null || chain.reason === null) return [];
  const { lastKnown, reason } = chain;
  return [
    {
      part: 'chain',
      title: `${capitalize(nameChain(chain))} ${lastKnown === null ? 'cannot be shown' : 'is no longer read'}`,
      meaning:
        lastKnown === null
          ? explain(reason)
          : `Its figures are of block ${formatInteger(lastKnown.blockNumber)}. Later blocks are not known yet.`,
      last: lastKnown === null ? null : ['that block', lastKnown.at],
    },
  ];
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
  return [...parts].map(([name, atMs]) => ({
    part: 'page',
    title: `${name} cannot be read at the moment`,
    meaning: 'The page shows its last known state.',
    last: ['last read', new Date(atMs).toISOString()],
  }));
}
