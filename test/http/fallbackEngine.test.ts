import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { hasSubstitute } from '../support/http/hasSubstitute.ts';
import { startProcess } from '../support/processes/childProcess.ts';

it.runIf(hasSubstitute)(
  'the JavaScript fallback of uWebSockets.js serves every route with the same HTTP semantics',
  async () => {
    const root = resolve(import.meta.dirname, '../..');
    const files = [
      'test/http/httpSemantics.test.ts',
      'test/http/eventClients.test.ts',
      'test/http/observationPages.test.ts',
      'test/http/rawRequests.test.ts',
    ];
    const { PATH, HOME, MINER_TEST_BUILD } = process.env;
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const run = startProcess(process.execPath, [vitest, 'run', ...files], {
      cwd: root,
      env: { PATH, HOME, MINER_TEST_BUILD, UWS_USE_FALLBACK: '1', CI: 'true' },
    });
    const status = await run.exited;
    expect([status, status === 0 ? '' : run.output()]).toEqual([0, '']);
    expect(run.output()).toContain('fallback implementation');
  },
);
