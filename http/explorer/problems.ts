import type { Page } from './components/pageContext.ts';
import { capitalize, nameChain } from './format/networks.ts';
import { formatInteger } from './format/numbers.ts';
import { explain, queueStates } from './format/words.ts';
import { corePath, statusPath } from './resources.ts';

/** The parts that work passes through, in its order, and the page itself. */
export type Part = 'wheel' | 'oracle' | 'settlement' | 'chain' | 'page';

/** Something that does not work at the moment. */
interface Problem {
  readonly part: Part;
  readonly title: string;
  /** What follows from it. */
  readonly meaning: string;
  /** The last time that it worked: what happened then, such as `last reading`, and when. */
  readonly last: readonly [what: string, at: string] | null;
}

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

/** Whether closed work is settled and minted as usual, so that what follows can be expected. */
export const isSettling = (page: Page) => listProblems(page).every(({ part }) => part === 'wheel');

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

function listSettlement({ read }: Page): Problem[] {
  const status = read('status', statusPath);
  const queue = status?.settlementQueue;
  const core = read('core', corePath);
  const isPaused = core?.status === 'available' && core.core.paused;
  const batch = status?.builder.status === 'available' ? status.builder.anchor.confirmedAt : null;
  const lastBatch = batch === null ? null : (['last batch', batch] as const);
  const state = queue?.status === 'available' ? queue.state : null;
  const words = queueStates[state ?? ''];
  if (queue?.status !== 'available' || words === undefined)
    return isPaused
      ? [
          {
            part: 'settlement',
            title: 'The core contract is paused',
            meaning: explain('settlement_paused'),
            last: lastBatch,
          },
        ]
      : [];
  return [
    {
      part: 'settlement',
      title: words.title,
      meaning: `${queue.blockedReason === null ? '' : `${explain(queue.blockedReason)} `}${words.meaning}`,
      last: state === 'stale' && queue.lastRun !== null ? ['last run', queue.lastRun.finishedAt] : lastBatch,
    },
  ];
}

function listChain({ chain }: Page): Problem[] {
  if (chain === null || chain.reason === null) return [];
  const { lastKnown, reason } = chain;
  return [
    {
      part: 'chain',
      title: `${capitalize(nameChain(chain))} ${lastKnown === null ? 'cannot be shown' : 'is not read further'}`,
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
    meaning: 'The page shows what was read last.',
    last: ['last read', new Date(atMs).toISOString()],
  }));
}
