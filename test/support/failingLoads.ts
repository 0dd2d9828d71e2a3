import { TestRunner, test } from 'vitest';

/** For `npm run mutate`: a test file that cannot be loaded has a test that fails. Stryker counts tests, and would take it for one that notices nothing. */
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
