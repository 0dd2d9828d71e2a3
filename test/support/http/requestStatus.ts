import { request } from 'node:http';

/** Asks with headers that may have several lines, which `fetch` would join. @returns the status. */
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
