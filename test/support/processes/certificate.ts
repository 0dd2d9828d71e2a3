import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A certificate of a name and of loopback that signs itself, and its key, as PEM files in a folder. */
export function createCertificate(dir: string, name: string): { certificate: string; key: string } {
  const [certificate, key] = [join(dir, 'certificate.pem'), join(dir, 'certificate.key')];
  execFileSync(
    'openssl',
    [
      ...[
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ],
      ...[
        '-keyout',
        key,
        '-out',
        certificate,
        '-subj',
        `/CN=${name}`,
        '-addext',
        `subjectAltName=DNS:${name},IP:127.0.0.1`,
      ],
    ],
    { stdio: 'ignore' },
  );
  return { certificate, key };
}
