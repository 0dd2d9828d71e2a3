import cliProgress from 'cli-progress';
import { pollUntil } from '../storage/pollUntil.ts';
import { type ServiceProcess, storedPosition } from './serviceProcess.ts';

const foldPollMs = 250;

/** Waits until a service has folded and stored the counter stream through a position, and shows how far it is. */
export async function waitUntilFolded(service: ServiceProcess, position: number): Promise<void> {
  const bar = new cliProgress.SingleBar(
    {
      format: 'folding {bar} {percentage}% | {value}/{total} readings | {eta} s left',
      noTTYOutput: true,
      notTTYSchedule: 20_000,
    },
    cliProgress.Presets.shades_classic,
  );
  bar.start(position, 0);
  const isFolded = async () => {
    const stored = (await service.metric(storedPosition)) ?? 0;
    bar.update(stored);
    return stored >= position;
  };
  await pollUntil(isFolded, { everyMs: foldPollMs });
  bar.stop();
}
