import {
  asyncScheduler,
  catchError,
  EMPTY,
  endWith,
  from,
  ignoreElements,
  mergeMap,
  Observable,
  type ObservableInput,
  type OperatorFunction,
  of,
  type Subscription,
  tap,
} from 'rxjs';

/** When a state is saved: as soon as one of the bounds is reached, if a message has arrived since the last save. */
export interface SnapshotPolicy {
  /** Time since the last save. */
  readonly intervalMs: number;
  /** Messages since the last save. */
  readonly messages: number;
}

/** A place in the pipeline: the state as of everything before it. */
export interface SnapshotMark<Captured> {
  readonly kind: 'mark';
  readonly position: number;
  readonly weight: 0;
  readonly captured: Captured;
}

export interface Folded {
  readonly kind: 'batch';
  readonly position: number;
  readonly weight: number;
}

interface SnapshotMarksOptions<Item extends Folded, Captured> {
  readonly policy: SnapshotPolicy;
  /** Position of the restored state. */
  readonly from: number;
  /** The immutable state behind the item. */
  readonly capture: (item: Item) => Captured;
  /** Whether to save now regardless of the policy, since a long stretch was folded again. */
  readonly isDue?: (item: Item) => boolean;
  readonly save: (mark: SnapshotMark<Captured>) => ObservableInput<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Two operators of a pipeline that belong together: one sets marks, the other saves once a mark has passed everything it covers. */
interface SnapshotMarks<Item extends Folded, Captured> {
  /** Emits a mark after an item if the state is to be saved, and at the end. */
  readonly set: OperatorFunction<Item, Item | SnapshotMark<Captured>>;
  /** Saves the state at each mark and emits the mark once it is saved; other items do not wait for it. */
  readonly save: OperatorFunction<Item | SnapshotMark<Captured>, Item | SnapshotMark<Captured>>;
}

/** At most one mark is under way, so that saves cannot pile up. Only the last mark, at the end, does not wait for its predecessor. */
export function createSnapshotMarks<Item extends Folded, Captured>(
  options: SnapshotMarksOptions<Item, Captured>,
): SnapshotMarks<Item, Captured> {
  const { policy, capture, isDue = () => false, save, onFailure } = options;
  let isUnderWay = false;
  let savedThrough = options.from;
  let onSettled: () => void = () => undefined;

  return {
    set: (source) =>
      new Observable((subscriber) => {
        let latest: Item | null = null;
        let marked = options.from;
        let timer: Subscription;

        function mark() {
          if (latest === null || isUnderWay || latest.position === marked) return;
          try {
            const captured = capture(latest);
            marked = latest.position;
            isUnderWay = true;
            subscriber.next({ kind: 'mark', position: latest.position, weight: 0, captured });
            restartTimer();
          } catch (error) {
            subscriber.error(error);
          }
        }

        /** The last mark covers everything. If a mark under way does so already, it is awaited, and repeated only if it fails. */
        function markEnd() {
          if (isUnderWay && marked === latest?.position) {
            onSettled = markLast;
            return;
          }
          isUnderWay = false;
          markLast();
        }

        function markLast() {
          onSettled = () => undefined;
          marked = savedThrough;
          mark();
          subscriber.complete();
        }

        function restartTimer() {
          timer?.unsubscribe();
          timer = asyncScheduler.schedule(() => {
            mark();
            restartTimer();
          }, policy.intervalMs);
        }

        restartTimer();
        const upstream = source.subscribe({
          next: (item) => {
            latest = item;
            subscriber.next(item);
            if (item.position - marked >= policy.messages || isDue(item)) mark();
          },
          error: (error) => subscriber.error(error),
          complete: markEnd,
        });
        return () => {
          upstream.unsubscribe();
          timer.unsubscribe();
        };
      }),

    save: mergeMap((item) => {
      if (item.kind === 'batch') return of(item);
      const settle = () => {
        isUnderWay = false;
        onSettled();
      };
      return from(save(item)).pipe(
        ignoreElements(),
        endWith(item),
        tap(() => {
          savedThrough = item.position;
          settle();
        }),
        catchError((error: unknown) => {
          onFailure(error);
          settle();
          return EMPTY;
        }),
      );
    }),
  };
}
