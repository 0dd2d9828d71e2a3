import { expect, it } from 'vitest';
import { findTestProject } from './support/testProject.ts';

it.each([
  ['test/testProject.test.ts', 'unit'],
  ['test/streams/connection.test.ts', 'parts'],
  // Starts a server through a helper.
  ['test/streams/largeLogs.test.ts', 'parts'],
  ['test/endToEnd/natsCluster.test.ts', 'longer'],
])('%s counts among %s by its imports', (path, project) => {
  expect(findTestProject(path)).toBe(project);
});
