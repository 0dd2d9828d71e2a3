import { createProgress, type Progress } from './progress.ts';

/** Shows a progress bar each time the indexer is far behind, starting from its position at that time. */
export function showIndexingProgress(): (head: bigint, tip: bigint) => void {
  let shown: { progress: Progress; from: bigint; tip: bigint } | null = null;
  return (head, tip) => {
    // After a reorganization the node may have fewer blocks than the stream.
    if (shown === null && head >= tip) return;
    shown ??= {
      progress: createProgress({ label: 'indexing', unit: 'blocks', total: Number(tip - head) }),
      from: head,
      tip,
    };
    shown.progress.update(Number(head - shown.from));
    if (head < shown.tip) return;
    shown.progress.stop();
    shown = null;
  };
}
