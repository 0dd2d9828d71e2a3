import { type MonoTypeOperatorFunction, Subject } from 'rxjs';
import type { FoldedRows } from '../../../storage/tables/foldedRows.ts';
import type { FoldedBatch, PipelineItem, RejectedMessage } from '../../../streams/pipeline/pipelineItem.ts';
import type { RowWriter } from '../../../streams/pipeline/rowWriter.ts';
import { eventually, whenFinished } from '../processes/lifetime.ts';

const nowhere = { streamCreated: null, position: 0, digest: null };

/** Feeds items to one operator of a pipeline. */
export function feedSink(operator: MonoTypeOperatorFunction<PipelineItem>) {
  const items$ = new Subject<PipelineItem>();
  const waiting = new Set<PipelineItem>();
  const subscription = items$.pipe(operator).subscribe((item) => waiting.delete(item));
  whenFinished(() => subscription.unsubscribe());
  return {
    give: (item: PipelineItem) => {
      waiting.add(item);
      items$.next(item);
    },
    /** Resolves once all items have come out. */
    emptied: (timeoutMs?: number) => eventually(() => waiting.size === 0, 'everything delivered', timeoutMs),
    cancel: () => subscription.unsubscribe(),
    get waiting() {
      return waiting.size;
    },
  };
}

/** Feeds rows to a writer. */
export function feedWriter(writer: RowWriter, position = 0) {
  writer.resumeAfter(position);
  const sink = feedSink(writer.afterInsert(() => false));
  const add = (rows: FoldedRows) =>
    sink.give(buildBatchItem({ rows: writer.encode(rows) }, rows.throughPosition));
  const flushed = async () => {
    writer.flushNow();
    await sink.emptied();
  };
  return Object.assign(sink, { add, flushed });
}

/** Builds a pipeline's batch with these rows or rejections. */
export function buildBatchItem(
  { rows = null, rejections = [] }: Partial<Pick<FoldedBatch, 'rows'>> & { rejections?: RejectedMessage[] },
  position: number,
): FoldedBatch {
  return { kind: 'batch', position, weight: 0, rows, rejections, streamPosition: () => nowhere };
}
