/** Maps in order, at most `limit` items at a time. After a failure it starts no more calls, and throws once all have ended. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  let next = 0;
  const failures: unknown[] = [];
  const work = async () => {
    while (next < items.length && failures.length === 0) {
      const index = next++;
      try {
        results[index] = await map(items[index] as Item);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  if (failures.length > 0) throw failures[0];
  return results;
}
