// Sends requests over one keep-alive connection and writes each answer to its own file.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** Goes by the clock of the operating system, which the standing clock does not stop. */
const leftOut = new Set(['date']);
/** After this much silence a resumed stream has sent its backlog, because it reads the feed once a second. */
const quietMs = 1_500;

/** Files of one set of answers. */
export function createClient(publicUrl, folder) {
  mkdirSync(folder, { recursive: true });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const written = new Set();

  function write(name, asked, status, headers, body) {
    const readable = name.replaceAll(/[^A-Za-z0-9]+/g, '-').slice(0, 90);
    const file = `${readable}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}.txt`;
    const lines = [...asked, '', String(status), ...headers, '', ''];
    writeFileSync(join(folder, file), Buffer.concat([Buffer.from(lines.join('\n')), body]));
    written.add(file);
  }

  async function ask(name, { method = 'GET', path, headers = {} }) {
    const { status, received, bytes } = await sendRequest(agent, publicUrl, { method, path, headers });
    const encoding = received['content-encoding'];
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding] ?? ((same) => same);
    const body = bytes.length === 0 ? bytes : decode(bytes);
    write(name, formatRequest(method, path, headers), status, formatHeaders(received, headers), body);
    return { status, headers: received, body: body.toString() };
  }

  /** Reads a stream of events after `lastEventId` until it is quiet. */
  async function askStream(name, path, lastEventId = '') {
    const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastEventId };
    const { status, received, bytes } = await sendRequest(
      agent,
      publicUrl,
      { method: 'GET', path, headers },
      quietMs,
    );
    write(name, formatRequest('GET', path, headers), status, formatHeaders(received, headers), bytes);
  }

  return {
    ask,
    askStream,
    get count() {
      return written.size;
    },
    close: () => agent.destroy(),
  };
}

/** With `quietAfterMs`, an endless response counts as complete after this much silence. */
function sendRequest(agent, publicUrl, { method, path, headers }, quietAfterMs = 0) {
  const { hostname, port } = new URL(publicUrl);
  return new Promise((resolve, reject) => {
    const asked = request({ agent, hostname, port, method, path, headers }, (response) => {
      const chunks = [];
      const done = () =>
        resolve({ status: response.statusCode, received: response.headers, bytes: Buffer.concat(chunks) });
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', done);
      response.on('error', reject);
      if (quietAfterMs === 0) return;
      asked.setTimeout(quietAfterMs, () => {
        done();
        asked.destroy();
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

const formatRequest = (method, path, headers) => [
  `${method} ${path}`,
  ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
];

function formatHeaders(received, asked) {
  return Object.entries(received)
    .filter(([name]) => !leftOut.has(name))
    .map(([name, value]) => {
      // Random unless the caller sent a valid one.
      const isRandom = name === 'x-request-id' && value !== asked['X-Request-Id'];
      return `${name}: ${isRandom ? '(random)' : value}`;
    })
    .sort();
}
