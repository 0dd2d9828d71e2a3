/**
 * The first index at which a condition holds, of an ordered list: it holds from there on, and nowhere before.
 *
 * @param size of the list, which is the result where it holds nowhere.
 */
export function findFirstIndex(size: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
