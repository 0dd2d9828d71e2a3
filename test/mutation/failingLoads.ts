import { TestRunner, test } from 'vitest';

/** For `npm run mutate`: gives a test file that cannot be loaded a failing test. Stryker counts only tests, so it would miss the failure. */
export default class FailingLoads extends TestRunner {
  override async importFile(path: string, source: 'collect' | 'setup'): Promise<unknown> {
    try {
      return await super.importFile(path, source);
    } catch (error) {
      return test('is loaded', () => {
        throw error;
      });
    }
  }
}
