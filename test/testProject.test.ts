import { expect, it } from 'vitest';
import { findTestProject } from './support/testProject.ts';

const imports: Readonly<Record<string, readonly string[]>> = {
  'test/fold.test.ts': ['vitest', 'actors/fold.ts', 'test/support/messages.ts'],
  'test/support/messages.ts': ['test/support/clock.ts'],
  'test/support/clock.ts': ['test/support/messages.ts'],
  'test/source.test.ts': ['test/support/writer.ts'],
  'test/support/writer.ts': ['test/support/processes/natsServer.ts'],
  'test/socket.test.ts': ['node:net'],
  'test/rows.test.ts': ['test/support/processes/natsServer.ts', 'test/support/tables.ts'],
  'test/support/tables.ts': ['storage/clickhouse/database.ts'],
  'test/settings.test.ts': ['chdb'],
  'actors/fold.ts': ['node:net', 'storage/clickhouse/database.ts'],
};
const chooseProject = (path: string) => findTestProject(path, (file) => imports[file] ?? []);

it('a test that starts nothing counts as a unit test', () => {
  expect(chooseProject('test/fold.test.ts')).toBe('unit');
});

it('counts a test that starts a part, itself or through a helper, among parts', () => {
  expect(chooseProject('test/source.test.ts')).toBe('parts');
  expect(chooseProject('test/socket.test.ts')).toBe('parts');
  expect(chooseProject('test/rows.test.ts')).toBe('parts');
  expect(chooseProject('test/settings.test.ts')).toBe('parts');
});

it('reads imports of files, except for those of types', () => {
  expect(findTestProject('test/testProject.test.ts')).toBe('unit');
  expect(findTestProject('test/streams/connection.test.ts')).toBe('parts');
});
