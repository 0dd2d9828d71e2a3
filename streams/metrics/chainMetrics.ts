import type { Registry } from 'prom-client';
import type { ChainActors } from '../../actors/chain/chainActors.ts';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import { indexerStates } from '../../machines/indexerMachine.ts';
import type { Indexer } from '../indexer/indexer.ts';
import { listStates } from './streamMetrics.ts';

export function registerChainMetrics(registry: Registry, actors: ChainActors) {
  const reorganizations = { unsafe: 0, safe: 0 };
  let rewinds = 0;
  registerMetrics(registry, {
    miner_chain_reorganizations_total: [
      'Folded reorganizations, by whether they replaced safe blocks.',
      () => Object.entries(reorganizations).map(([reached, count]) => [count, reached]),
      'reached',
    ],
    miner_chain_rewinds_total: [
      'Number of times an older snapshot was restored for a deep fork.',
      () => rewinds,
    ],
    miner_chain_block: [
      'Numbers of the last folded block, the newest safe block, and the block that cannot be applied, if any.',
      () => [
        [actors.state.head?.number ?? null, 'head'],
        [actors.newest()?.block.number ?? null, 'safe'],
        [actors.fault?.block.number ?? null, 'failed'],
      ],
      'block',
    ],
    miner_chain_projection_failed: ['1 while a block cannot be applied.', () => actors.fault !== null],
    miner_chain_spans_refused: [
      '1 while the fold refuses the published spans.',
      () => actors.refusedSpan !== null,
    ],
  });
  return {
    /** Counts a reorganization that replaced `safeDepth` safe blocks. */
    reorganized: (safeDepth: number) => {
      reorganizations[safeDepth > 0 ? 'safe' : 'unsafe']++;
    },
    /** A fork was below every retained state, and an older snapshot was restored. */
    rewound: () => {
      rewinds++;
    },
  };
}

export function registerIndexerMetrics(registry: Registry, { status }: Pick<Indexer, 'status'>): void {
  registerMetrics(registry, {
    miner_indexer_state: [
      'State of the indexer: 1 for the current state.',
      () => listStates(indexerStates, status().state),
      'state',
    ],
    miner_indexer_block: [
      'Numbers of the last published block and of the newest block of the node.',
      () => [
        [status().head, 'published'],
        [status().tip, 'tip'],
      ],
      'block',
    ],
    miner_indexer_events_total: [
      'Reorganizations followed, failures of the provider, and races lost to another indexer.',
      () => [
        [status().reorganizations, 'reorganization'],
        [status().providerFailures, 'provider_failure'],
        [status().lostRaces, 'lost_race'],
      ],
      'event',
    ],
  });
}
