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

/** When the state is saved: */
export interface SnapshotPolicy {
  /** when so much time has passed since the last time, and something has come since, */
  readonly intervalMs: number;
  /** or when so many messages have come. */
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
  /** Position of the state that was restored. */
  readonly from: number;
  /** The immutable state behind the item. */
  readonly capture: (item: Item) => Captured;
  /** Whether the state is to be saved now, whatever the policy says: a long way back was folded. */
  readonly isDue?: (item: Item) => boolean;
  readonly save: (mark: SnapshotMark<Captured>) => ObservableInput<unknown>;
  readonly onFailure: (error: unknown) => void;
}

/** Two places of a pipeline that belong together: where marks are set, and where they come out behind everything that they cover. */
interface SnapshotMarks<Item extends Folded, Captured> {
  /** Emits a mark behind an item where the state is to be saved; at the end, too. */
  readonly set: OperatorFunction<Item, Item | SnapshotMark<Captured>>;
  /** Saves the state at each mark and emits the mark once it is saved; other items do not wait for it. */
  readonly save: OperatorFunction<Item | SnapshotMark<Captured>, Item | SnapshotMark<Captured>>;
}

/** At most one mark is under way, so that the state is not saved more often than it can be; at the end the last one does not wait for the one before. */
export function createSnapshotMarks<Item extends Folded, Captured>(
  options: SnapshotMarksOptions<Item, Captured>,
): SnapshotMarks<Item, Captured> {
  const { policy, capture, isDue = () => false, save, onFailure } = options;
  let isUnderWay = false;
  let savedThrough = options.from;
  let onSettled: (isSaved: boolean) => void = () => undefined;

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

        /** The last mark covers everything: where one is under way that does too, it is waited for, and set once more if it fails. */
        function markEnd() {
          if (latest === null || savedThrough === latest.position) return subscriber.complete();
          if (isUnderWay && marked === latest.position) {
            onSettled = (isSaved) => {
              onSettled = () => undefined;
              if (!isSaved) {
                marked = savedThrough;
                mark();
              }
              subscriber.complete();
            };
            return;
          }
          marked = savedThrough;
          isUnderWay = false;
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
      const settle = (isSaved: boolean) => {
        isUnderWay = false;
        onSettled(isSaved);
      };
      return from(save(item)).pipe(
        ignoreElements(),
        endWith(item),
        tap(() => {
          savedThrough = Math.max(savedThrough, item.position);
          settle(true);
        }),
        catchError((error: unknown) => {
          onFailure(error);
          settle(false);
          return EMPTY;
        }),
      );
    }),
  };
}
