/** Waits for something to settle, for at most `ms`. A failure is ignored, since it is being ended anyway. */
export async function within(ms: number, ending: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, ending?.catch(() => undefined)]);
  clearTimeout(timer);
}
