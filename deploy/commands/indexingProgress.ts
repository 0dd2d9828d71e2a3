import { createProgress, type Progress } from './progress.ts';

/** A bar for each time that the indexer was far behind, from where it was then. */
export function showIndexingProgress(stream: NodeJS.WriteStream): (head: bigint, tip: bigint) => void {
  let shown: { progress: Progress; from: bigint; tip: bigint } | null = null;
  return (head, tip) => {
    shown ??= {
      progress: createProgress({
        label: 'indexing',
        unit: 'blocks',
        total: Number(tip - head),
        stream,
        nowMs: Date.now,
      }),
      from: head,
      tip,
    };
    shown.progress.update(Number(head - shown.from));
    if (head < shown.tip) return;
    shown.progress.stop();
    shown = null;
  };
}
