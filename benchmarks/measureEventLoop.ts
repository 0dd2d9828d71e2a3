/** Cost of a piece of work, and how it held the event loop. */
export async function measureEventLoop<Result>(work: () => Promise<Result>) {
  let longestMs = 0;
  let lastMs = performance.now();
  const ticker = setInterval(() => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs - 1);
    lastMs = nowMs;
  }, 1);
  const before = performance.eventLoopUtilization();
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  const result = await work();
  const ms = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { active } = performance.eventLoopUtilization(before);
  longestMs = Math.max(longestMs, performance.now() - lastMs - 1);
  clearInterval(ticker);
  // The CPU time is of all threads of the process.
  return { result, ms, activeMs: active, cpuMs: (user + system) / 1000, longestStallMs: longestMs };
}
