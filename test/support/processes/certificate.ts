import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Creates a self-signed certificate for a name and the loopback address and its key, as PEM files in a folder. */
export function createCertificate(dir: string, name: string): { certificate: string; key: string } {
  const [certificate, key] = [join(dir, 'certificate.pem'), join(dir, 'certificate.key')];
  const keyOptions = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`];
  const files = ['-keyout', key, '-out', certificate];
  const options = ['req', '-x509', '-days', '2', ...keyOptions, ...files, ...subject];
  execFileSync('openssl', options, { stdio: 'pipe' });
  return { certificate, key };
}
