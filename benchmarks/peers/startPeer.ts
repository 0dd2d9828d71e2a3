import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { bindToParent } from '../../deploy/local/bindToParent.ts';
import { findFreePort } from '../../test/support/processes/findFreePort.mjs';
import { pinToCore } from '../pinToCore.ts';
import { awaitFirstAnswer, createStopper, serverPath } from '../serverChild.ts';
import type { PreparedPath } from './preparedAnswers.ts';

const startMs = 10_000;

/** Another server that gives the same answers. */
export interface Peer {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** @throws Error when it does not listen within ten seconds. */
export async function startBare(answersFile: string, core: number): Promise<Peer> {
  const program = fileURLToPath(new URL('./bare.js', import.meta.url));
  const [command, ...args] = pinToCore(core, [process.execPath, program, answersFile]);
  const child = spawn(...bindToParent(command, args), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, NODE_ENV: 'production' },
  });
  const stop = createStopper(child);
  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the bare handler does not listen')), startMs);
    createInterface({ input: child.stdout }).on('line', (line) => {
      clearTimeout(timer);
      resolve(Number(line.split(' ')[1]));
    });
  });
  return { url: `http://127.0.0.1:${port}`, pid: child.pid as number, stop };
}

/**
 * nginx, one process, with the bodies as files: those of an encoding next to the plain ones, as its `gzip_static` looks for them.
 *
 * @throws Error when it does not answer in time.
 */
export async function startNginx(
  dir: string,
  paths: ReadonlyMap<string, PreparedPath>,
  core: number,
): Promise<Peer> {
  const port = await findFreePort();
  mkdirSync(dir, { recursive: true });
  const locations = [...paths].map(([path, { byEncoding }], index) => {
    const file = join(dir, `body-${index}`);
    const plain = byEncoding.get('identity');
    if (plain === undefined) throw new Error(`${path} has no plain answer`);
    writeFileSync(file, plain.body);
    const zipped = byEncoding.get('gzip');
    if (zipped !== undefined) writeFileSync(`${file}.gz`, zipped.body);
    // nginx writes these itself.
    const own = ['content-type', 'content-encoding', 'etag', 'vary'];
    const headers = plain.headers
      .filter(([name]) => !own.includes(name))
      .map(([name, value]) => `add_header ${name} "${value}";`);
    const type = plain.headers.find(([name]) => name === 'content-type')?.[1] ?? 'application/json';
    return `location = ${path.split('?', 1)[0]} { types {} default_type "${type}"; ${headers.join(' ')} alias ${file}; }`;
  });
  const configuration = join(dir, 'nginx.conf');
  writeFileSync(
    configuration,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
master_process off; daemon off; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000; open_file_cache max=100;
  gzip_static on; gzip_vary on; server_tokens off;
  server { listen 127.0.0.1:${port}; ${locations.join('\n')} }
}
`,
  );
  const [command, ...args] = pinToCore(core, ['nginx', '-c', configuration]);
  const child = spawn(...bindToParent(command, args), {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { PATH: serverPath },
  });
  const stop = createStopper(child);
  const url = `http://127.0.0.1:${port}`;
  await awaitFirstAnswer('nginx', () => fetch(url), stop);
  return { url, pid: child.pid as number, stop };
}
