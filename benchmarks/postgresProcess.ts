import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { awaitFirstAnswer, createStopper } from './serverChild.ts';

/** A PostgreSQL of a benchmark, in a folder of its own. */
export interface PostgresProcess {
  readonly client: Client;
  readonly version: string;
  stop(): Promise<void>;
}

/**
 * PostgreSQL refuses to run as root: it then runs as its own user, as Debian creates it.
 *
 * @throws Error when it is not installed, or does not answer in time.
 */
export async function startPostgres(dir: string): Promise<PostgresProcess> {
  const bin = run('pg_config', ['--bindir'], {}).trim();
  const owner: Owner = process.getuid?.() === 0 ? findOwner('postgres') : {};
  const data = join(dir, 'postgres');
  mkdirSync(data, { recursive: true });
  if (owner.uid !== undefined && owner.gid !== undefined) {
    chmodSync(dir, 0o755);
    chownSync(data, owner.uid, owner.gid);
  }
  run(`${bin}/initdb`, ['-D', data, '-U', 'bench', '--auth=trust', '--no-sync'], owner);
  const port = await findFreePort();
  const options = ['-D', data, '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-k', data, '-F'];
  const child = spawn(...bindToParent(`${bin}/postgres`, options), { stdio: 'ignore', cwd: data, ...owner });
  const stop = createStopper(child, 'SIGINT');
  const connectClient = async () => {
    const client = new Client({ host: '127.0.0.1', port, user: 'bench', database: 'postgres' });
    // The server ends before this client does.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  };
  const client = await awaitFirstAnswer('postgres', connectClient, stop);
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  return {
    client,
    version: rows[0]?.server_version.split(' ')[0] ?? '',
    stop: async () => {
      await client.end();
      await stop();
    },
  };
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

function findOwner(name: string): Required<Owner> {
  const id = (flag: string) => Number(run('id', [flag, name], {}));
  return { uid: id('-u'), gid: id('-g') };
}

function run(program: string, args: readonly string[], owner: Owner): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    cwd: '/',
    ...owner,
  });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr}`);
  return stdout;
}
