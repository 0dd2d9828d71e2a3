import { request } from 'node:http';

/** Returns the status of a request whose headers may have several lines, which `fetch` would join. */
export function requestStatus(url: string, headers: Record<string, string[]>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
