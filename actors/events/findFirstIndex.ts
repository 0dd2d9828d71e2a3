/**
 * First index of an ordered list from which on a condition holds, by binary search; `size` if it holds nowhere.
 *
 * @param size length of the list.
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
