import { createEconomyViews } from '../chain/economyState.ts';
import { createSpeedRecords } from '../readings/speedRecords.ts';
import { startPublicServer } from './publicServer.ts';

/** A server with a chain, and with events of the wheel: so many at first. */
export async function startRecordsServer(count: number) {
  const records = createSpeedRecords();
  records.add(count);
  const { views: chain } = createEconomyViews();
  return { server: await startPublicServer({ chain, progress: records.progress }), records };
}
