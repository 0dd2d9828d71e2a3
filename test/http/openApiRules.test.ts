import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const redocly = resolve(import.meta.dirname, '../../node_modules/.bin/redocly');

it('the OpenAPI description passes the rules of Redocly without an error or a warning', async () => {
  const dir = temporaryDirectory();
  const file = join(dir, 'openapi.json');
  writeFileSync(file, JSON.stringify(createOpenApiDocument('1.0.0')));
  const lint = startProcess(redocly, ['lint', '--format=json', '--extends=recommended', file], {
    cwd: dir,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
  await lint.exited;
  const output = lint.output();
  const from = output.indexOf('{');
  const report = JSON.parse(output.slice(from, output.lastIndexOf('}') + 1)) as {
    totals: { errors: number; warnings: number };
    problems: { message: string; location: { pointer: string }[] }[];
  };
  const problems = report.problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`);
  expect(problems).toEqual([]);
});
