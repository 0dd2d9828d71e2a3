/** Waits for something to settle, and no longer than `ms`. What fails meanwhile is no matter: it is being ended. */
export async function within(ms: number, ending: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, ending?.catch(() => undefined)]);
  clearTimeout(timer);
}
