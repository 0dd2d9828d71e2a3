import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../../test/support/processes/findFreePort.mjs';
import { pinToCore } from '../pinToCore.ts';
import { type Server, startServer } from '../servers.ts';
import { serverCore } from '../wrk.ts';
import type { PreparedPath } from './preparedAnswers.ts';

/** One of the answers that every peer gives. */
const probePath = '/v1/status';

export async function startBare(answersFile: string): Promise<Server> {
  const program = fileURLToPath(new URL('./bare.js', import.meta.url));
  const port = String(await findFreePort());
  const command = pinToCore(serverCore, [process.execPath, program, answersFile, port]);
  return startServer(command, `http://127.0.0.1:${port}${probePath}`);
}

/** Starts nginx with one process and the bodies as files. Compressed bodies lie next to plain ones, where `gzip_static` looks for them. */
export async function startNginx(dir: string, paths: ReadonlyMap<string, PreparedPath>): Promise<Server> {
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
  const command = pinToCore(serverCore, ['nginx', '-c', configuration]);
  return startServer(command, `http://127.0.0.1:${port}${probePath}`);
}
