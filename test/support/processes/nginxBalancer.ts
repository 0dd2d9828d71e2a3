import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startProcess, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { temporaryDirectory } from './temporaryDirectory.ts';

/**
 * nginx in front of replicas, with the settings of http/README.md.
 *
 * @param program where nginx is.
 * @param ports of the replicas on this machine.
 * @returns its address.
 */
export async function startBalancer(program: string, ports: readonly number[]): Promise<string> {
  const port = await findFreePort();
  const dir = temporaryDirectory();
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const configuration = join(dir, 'nginx.conf');
  writeFileSync(
    configuration,
    `daemon off; master_process off; worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log;
    events { worker_connections 256; }
    http {
      access_log off;
      ${folders.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
      upstream replicas {
        ${ports.map((one) => `server 127.0.0.1:${one} max_fails=1 fail_timeout=2s;`).join(' ')}
        keepalive 16;
      }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://replicas;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host $host;
          proxy_connect_timeout 1s;
          proxy_next_upstream error timeout http_503;
        }
      }
    }`,
  );
  const server = startProcess(program, ['-c', configuration, '-p', dir, '-e', join(dir, 'error.log')]);
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, async () => (await fetch(`${url}/healthz`)).ok, 'nginx');
  return url;
}
