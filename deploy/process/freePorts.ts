import { createServer } from 'node:net';
import { PortUnavailable } from '../../http/server/engine/listener.ts';

/** A configured port; 0 is any free one. */
export interface PortSetting {
  /** Its variable. */
  readonly setting: string;
  readonly host: string;
  readonly port: number;
}

/**
 * Checks that the ports can be opened, before anything else starts.
 *
 * @throws PortUnavailable
 */
export async function requireFreePorts(ports: readonly PortSetting[]): Promise<void> {
  for (const { setting, host, port } of ports) {
    if (port !== 0 && !(await isPortFree(host, port))) throw new PortUnavailable(host, port, setting);
  }
}

/** Whether this process can listen there now. */
export async function isPortFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => resolve(true));
  });
  await new Promise((resolve) => server.close(resolve));
  return isFree;
}
