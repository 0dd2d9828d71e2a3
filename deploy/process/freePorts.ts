import { once } from 'node:events';
import { createServer } from 'node:net';
import { readErrorCode } from '../../actors/readErrorCode.ts';
import { PortUnavailable } from '../../http/server/engine/listener.ts';
import { ConfigurationError } from '../configuration/configuration.ts';

/** A configured port; 0 is any free one. */
export interface PortSetting {
  /** Its variable. */
  readonly setting: string;
  readonly port: number;
  /** The variable of the address. */
  readonly hostSetting: string;
  readonly host: string;
}

/** Why a port cannot be opened, if another port of the same address may be free. Any other reason is about the address. */
const portProblems: ReadonlySet<unknown> = new Set(['EADDRINUSE', 'EACCES']);

/**
 * Checks that the ports can be opened, before anything else starts.
 *
 * @throws PortUnavailable
 * @throws ConfigurationError if this machine does not have the address.
 */
export async function requireFreePorts(ports: readonly PortSetting[]): Promise<void> {
  for (const { setting, port, hostSetting, host } of ports) {
    const problem = await findProblem(host, port);
    if (problem === null) continue;
    if (portProblems.has(problem)) throw new PortUnavailable(host, port, setting);
    throw new ConfigurationError([
      `${hostSetting} is ${JSON.stringify(host)}; expected an address of this machine, such as 0.0.0.0 (${problem})`,
    ]);
  }
}

/** Whether this process can listen there now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  return (await findProblem(host, port)) === null;
}

/** Why this process cannot listen there now, as a code such as `EADDRINUSE`; null if it can. */
async function findProblem(host: string, port: number): Promise<string | null> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    return null;
  } catch (error) {
    return readErrorCode(error) ?? String(error);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
