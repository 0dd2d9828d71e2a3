import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ChainActors } from '../../actors/chain/chainActors.ts';
import { indexerStates } from '../../machines/indexerMachine.ts';
import type { Indexer } from '../indexer/indexer.ts';
import { registerGauge } from './registerGauge.ts';

/** Blocks become safe at depth 12, and states of 600 blocks are retained. */
const depthBuckets = [1, 2, 3, 6, 12, 32, 64, 128, 256, 600];

export type ChainCounts = ReturnType<typeof registerChainMetrics>;

export function registerChainMetrics(registry: Registry, actors: ChainActors) {
  const registers = [registry];
  const reorganizations = new Counter({
    name: 'miner_chain_reorganizations_total',
    help: 'Folded reorganizations, by whether they replaced safe blocks.',
    labelNames: ['reached'],
    registers,
  });
  for (const reached of ['unsafe', 'safe']) reorganizations.inc({ reached }, 0);
  const depths = new Histogram({
    name: 'miner_chain_reorganization_depth_blocks',
    help: 'Number of blocks that a reorganization replaced.',
    buckets: depthBuckets,
    registers,
  });
  const rewinds = new Counter({
    name: 'miner_chain_rewinds_total',
    help: 'Number of times an older snapshot was restored for a deep fork.',
    registers,
  });
  new Gauge({
    name: 'miner_chain_block',
    help: 'Numbers of the last folded block, the newest safe block, and the block that cannot be applied, if any.',
    labelNames: ['block'],
    registers,
    collect() {
      this.reset();
      const { head } = actors.state;
      const safe = actors.newest();
      if (head !== null) this.set({ block: 'head' }, Number(head.number));
      if (safe !== null) this.set({ block: 'safe' }, Number(safe.block.number));
      if (actors.fault !== null) this.set({ block: 'failed' }, Number(actors.fault.block.number));
    },
  });
  registerGauge(
    registry,
    {
      name: 'miner_chain_projection_failed',
      help: '1 while a block cannot be applied.',
    },
    () => (actors.fault === null ? 0 : 1),
  );
  registerGauge(
    registry,
    {
      name: 'miner_chain_spans_refused',
      help: '1 while the fold refuses the published spans.',
    },
    () => (actors.refusedSpan === null ? 0 : 1),
  );
  return {
    /** Counts a reorganization that replaced `depth` blocks, the lowest `safeDepth` of them already safe. */
    reorganized: (depth: number, safeDepth: number) => {
      reorganizations.inc({ reached: safeDepth > 0 ? 'safe' : 'unsafe' });
      depths.observe(depth);
    },
    /** A fork was below every retained state, and an older snapshot was restored. */
    rewound: () => rewinds.inc(),
  };
}

export function registerIndexerMetrics(registry: Registry, indexer: Pick<Indexer, 'status'>): void {
  const registers = [registry];
  new Gauge({
    name: 'miner_indexer_state',
    help: 'State of the indexer: 1 for the current state.',
    labelNames: ['state'],
    registers,
    collect() {
      const { state } = indexer.status();
      for (const one of indexerStates) this.set({ state: one }, one === state ? 1 : 0);
    },
  });
  new Gauge({
    name: 'miner_indexer_block',
    help: 'Numbers of the last published block and of the newest block of the node.',
    labelNames: ['block'],
    registers,
    collect() {
      this.reset();
      const { head, tip } = indexer.status();
      if (head !== null) this.set({ block: 'published' }, Number(head));
      if (tip !== null) this.set({ block: 'tip' }, Number(tip));
    },
  });
  new Counter({
    name: 'miner_indexer_events_total',
    help: 'Reorganizations followed, failures of the provider, and races lost to another indexer.',
    labelNames: ['event'],
    registers,
    collect() {
      this.reset();
      const { reorganizations, providerFailures, lostRaces } = indexer.status();
      this.inc({ event: 'reorganization' }, reorganizations);
      this.inc({ event: 'provider_failure' }, providerFailures);
      this.inc({ event: 'lost_race' }, lostRaces);
    },
  });
}
