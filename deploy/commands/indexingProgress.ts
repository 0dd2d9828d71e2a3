import { createProgress, type Progress } from './progress.ts';

/** Shows a progress bar each time the indexer is far behind, starting from its position at that time. */
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
