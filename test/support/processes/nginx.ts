import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createCertificate } from './certificate.ts';
import { eventually, startProcess, type TestProcess } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { type Replacement, rewriteConfiguration } from './rewriteConfiguration.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const reference = resolve(import.meta.dirname, '../../../deploy/proxy/nginx.conf');

/** nginx with the reference configuration in front of a server. */
export interface TestNginx extends TestProcess {
  readonly port: number;
  /** A port whose connections begin with a PROXY line with their origin. */
  readonly proxiedPort: number;
  readonly certificate: string;
}

/**
 * Starts the reference configuration with other ports, paths and servers, and as one process: a worker would outlive a killed master.
 *
 * @param changes lower limits, for tests that would otherwise need thousands of connections.
 */
export async function startNginx(
  program: string,
  upstreamPorts: number | readonly number[],
  changes: readonly Replacement[] = [],
): Promise<TestNginx> {
  const dir = temporaryDirectory();
  mkdirSync(join(dir, 'temporary'));
  const [port, plainPort, proxiedPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const { certificate, key } = createCertificate(dir, 'mining.example.org');
  const replacements: readonly Replacement[] = [
    ...changes,
    [/\n *listen \[::\][^\n]*/g, ''],
    [/listen 80\b/g, `listen 127.0.0.1:${plainPort}`],
    [
      'listen 443 ssl http2;',
      `listen 443 ssl http2;\n    listen 127.0.0.1:${proxiedPort} ssl http2 proxy_protocol;\n    set_real_ip_from 127.0.0.1;\n    real_ip_header proxy_protocol;`,
    ],
    [/listen 443\b/g, `listen 127.0.0.1:${port}`],
    ['/etc/nginx/certificate.pem', certificate],
    ['/etc/nginx/certificate.key', key],
    [
      /server 127\.0\.0\.1:8080 ([^\n]*)/g,
      [upstreamPorts]
        .flat()
        .map((upstream) => `server 127.0.0.1:${upstream} $1`)
        .join('\n'),
    ],
    [
      'worker_processes auto;',
      `worker_processes 1;\nmaster_process off;\ndaemon off;\npid ${join(dir, 'nginx.pid')};`,
    ],
    ['worker_rlimit_nofile 32768;\n', ''],
    [
      'access_log off;',
      `access_log off;\n${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `  ${kind}_temp_path ${join(dir, 'temporary', kind)};\n`).join('')}`,
    ],
  ];
  const configuration = rewriteConfiguration(readFileSync(reference, 'utf8'), replacements);
  const path = join(dir, 'nginx.conf');
  writeFileSync(path, configuration);
  const server = startProcess(program, ['-e', 'stderr', '-c', path]);
  await eventually(
    () => existsSync(join(dir, 'nginx.pid')) || server.child.exitCode !== null,
    'nginx starts',
  );
  return Object.assign(server, { port, proxiedPort, certificate: readFileSync(certificate, 'utf8') });
}
