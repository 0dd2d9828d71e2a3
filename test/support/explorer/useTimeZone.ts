import { onTestFinished } from 'vitest';

/** Sets the time zone of this process, until the test ends. */
export function useTimeZone(timeZone: string): void {
  const { TZ } = process.env;
  onTestFinished(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  process.env.TZ = timeZone;
}
