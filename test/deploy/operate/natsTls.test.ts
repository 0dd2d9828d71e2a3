import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { listSnippets, prepareSnippet } from '../../support/http/guideSnippets.ts';
import { createCertificate } from '../../support/processes/certificate.ts';
import { startProcess } from '../../support/processes/childProcess.ts';
import { findFreePort } from '../../support/processes/findFreePort.mjs';
import { eventually, temporaryDirectory } from '../../support/processes/lifetime.ts';
import { minerCommand } from '../../support/processes/minerCommand.ts';
import {
  fetchReadiness,
  startMiner,
  waitUntilReady,
  writeDeployment,
} from '../../support/processes/minerProcess.ts';
import { findNewestNatsServer } from '../../support/processes/natsCluster.ts';
import { writeNatsConfiguration } from '../../support/processes/natsConfiguration.ts';
import { runTlsCommands, startShippedNats } from '../../support/processes/shippedNats.ts';

type Nats = Awaited<ReturnType<typeof startShippedNats>>;

const findAuthority = ({ secrets }: Nats) => join(secrets, 'nats-ca/nats-ca.pem');

/** Serial number of the certificate that a new connection gets. */
async function fetchSerialNumber(nats: Nats): Promise<string> {
  const socket = connect(nats.port, '127.0.0.1');
  await once(socket, 'data');
  const tls = connectTls({ socket, ca: readFileSync(findAuthority(nats)), servername: 'nats' });
  await once(tls, 'secureConnect');
  const { serialNumber } = tls.getPeerCertificate();
  tls.destroy();
  return serialNumber;
}

/** The gateway of the guide, in a folder as its reader has it. */
async function prepareGateway(nats: Nats) {
  const folder = temporaryDirectory();
  const natsUrl = nats.urlOf('gateway-my.wheel');
  const program = listSnippets().find(({ id }) => id === 'publishing py gateway');
  if (program === undefined) throw new Error('the guide has no gateway');
  const { command, args } = await prepareSnippet(program, folder, natsUrl);
  copyFileSync(findAuthority(nats), join(folder, 'nats-ca.pem'));
  const start = (environment: Readonly<Record<string, string>> = { NATS_CA: 'nats-ca.pem' }) =>
    startProcess(command, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, NATS_URL: natsUrl, ...environment },
    });
  return { start, count: (units: number) => writeFileSync(join(folder, 'counter.txt'), String(units)) };
}

describe('NATS with a certificate of the commands in RUNNING.md', () => {
  it('serves service, gateways and doctor, and gets another certificate while all of them run', async () => {
    const nats = await startShippedNats({ tls: true, gateways: ['my.wheel'] });
    const dataDir = temporaryDirectory();
    const environment = { MINER_NATS_CA: findAuthority(nats) };
    const natsUrl = nats.urlOf('ingest');
    const miner = await startMiner({ natsUrl, dataDir, environment });
    await waitUntilReady(miner);

    const { start, count } = await prepareGateway(nats);
    interface Telemetry {
      readonly measurement: { readonly cumulativeWorkUnits: string } | null;
    }
    const expectReading = (units: number, output: () => string) =>
      eventually(async () => {
        const { measurement } = await miner.json<Telemetry>('/v1/public/installations/my.wheel/telemetry');
        if (measurement?.cumulativeWorkUnits === String(units)) return true;
        throw new Error(`${JSON.stringify(measurement)}: ${output()}`);
      }, `a reading of ${units}`);
    const before = await fetchSerialNumber(nats);
    count(1);
    const running = start();
    await expectReading(1, running.output);
    runTlsCommands(2, nats.secrets);
    nats.child.kill('SIGHUP');
    await eventually(async () => (await fetchSerialNumber(nats)) !== before, 'the new certificate');
    count(2);
    await expectReading(2, running.output);
    count(-1);
    await running.written('refused as malformed: cumulativeWorkUnits: ');
    expect((await fetchReadiness(miner)).status).toBe('ready');
    await running.end('SIGTERM');
    expect(nats.output()).toContain('Reloaded server configuration');
    // Older servers do not tell their time, and doctor warns of them.
    const isOld = findNewestNatsServer().minor < 10;
    expect(await miner.metric('miner_nats_clock_offset_seconds')).toBe(isOld ? null : 0);
    const lost = miner.log().filter(({ msg }) => String(msg).includes('NATS connection'));
    expect(lost).toEqual([]);

    const settings = { MINER_DATA_DIR: dataDir, MINER_DEPLOYMENT: writeDeployment(dataDir) };
    const doctor = await minerCommand(['doctor'], {
      ...settings,
      ...environment,
      MINER_NATS_URL: natsUrl,
    });
    expect(doctor.output).toMatch(
      /ok +NATS certificate: valid until 20\d\d-\d\d-\d\dT[\d:.]+Z, for 799 days\n/,
    );
    expect(doctor.output).toMatch(isOld ? /warning +NATS: .*, version 2\.\d\./ : /ok +NATS:/);
  });

  it('has the doctor warn before it ends', async () => {
    const dir = temporaryDirectory();
    // Valid for two days.
    const { certificate, key } = createCertificate(dir, 'nats');
    const port = await findFreePort();
    const settings = `tls { cert_file: "${certificate}", key_file: "${key}", timeout: 60 }`;
    const configuration = writeNatsConfiguration(dir, port, settings, '');
    await startProcess(findNewestNatsServer().program, ['-c', configuration]).written('Server is ready');
    const { output, status } = await minerCommand(['doctor'], {
      MINER_DATA_DIR: dir,
      MINER_DEPLOYMENT: writeDeployment(dir),
      MINER_NATS_URL: `tls://127.0.0.1:${port}`,
      MINER_NATS_CA: certificate,
    });
    expect(output).toMatch(/warning +NATS certificate: valid until .*, for 1 days: .*\n +-> renew it: /);
    expect(status).toBe(1);
  });

  it('is refused by a gateway that does not know the authority', async () => {
    const gateway = await prepareGateway(await startShippedNats({ tls: true, gateways: ['my.wheel'] }));
    gateway.count(1);
    await gateway.start({}).written('NATS: [SSL: CERTIFICATE_VERIFY_FAILED]');
  });
});
