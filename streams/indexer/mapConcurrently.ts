/** Maps in order, at most `limit` at the same time. After a failure no more calls are started, and the failure is thrown once all have ended. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length);
  let next = 0;
  let failure: { readonly error: unknown } | null = null;
  const work = async () => {
    while (next < items.length && failure === null) {
      const index = next++;
      try {
        results[index] = await map(items[index] as Item);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
  return results;
}
