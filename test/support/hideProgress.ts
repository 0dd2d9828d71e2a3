import { vi } from 'vitest';

/** Does work of a command in this process, without its progress on the error stream. */
export async function hideProgress<Result>(work: () => Promise<Result>): Promise<Result> {
  const hidden = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    return await work();
  } finally {
    hidden.mockRestore();
  }
}
