import type { Reporter, TestCase, Vitest } from 'vitest/node';

/** Ends a run that takes longer than the limit, and names the tests that were running. */
export function createRunLimit(limitMinutes: number): Reporter {
  const running = new Map<string, string>();
  let ending: NodeJS.Timeout | undefined;
  return {
    onInit: (vitest: Vitest) => {
      ending = setTimeout(() => {
        const names = [...running.values()].map((name) => `\n  ${name}`).join('');
        vitest.logger.error(
          `the run took longer than ${limitMinutes} minutes, while these tests were running:${names}`,
        );
        process.exitCode = 1;
        void vitest.exit(true);
      }, limitMinutes * 60_000);
    },
    onTestCaseReady: ({ id, fullName, module }: TestCase) => {
      running.set(id, `${module.relativeModuleId} > ${fullName}`);
    },
    onTestCaseResult: ({ id }: TestCase) => {
      running.delete(id);
    },
    onTestRunEnd: () => clearTimeout(ending),
  };
}
