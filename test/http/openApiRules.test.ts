import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { toOpenApi30 } from '../../http/routes/documentation/openApi30.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const redocly = resolve(import.meta.dirname, '../../node_modules/.bin/redocly');

const document = createOpenApiDocument();

it.each([
  ['3.1', document, []],
  // Its license has no address, and Redocly reads `nullable` next to a reference as if it were not there.
  ['3.0', toOpenApi30(document), ['info-license-strict', 'no-invalid-media-type-examples']],
])('the OpenAPI description %s passes Redocly without a warning', async (_, written, skipped) => {
  const dir = temporaryDirectory();
  const file = join(dir, 'openapi.json');
  writeFileSync(file, JSON.stringify(written));
  const lint = startProcess(
    redocly,
    ['lint', '--format=json', '--extends=recommended', ...skipped.map((rule) => `--skip-rule=${rule}`), file],
    {
      cwd: dir,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
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
