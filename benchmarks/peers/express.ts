import express from 'express';
import { announcePort, chooseEncoding, type LoadedAnswer, readPaths } from './preparedAnswers.ts';

/** Express with the same lookup: path, tag, encoding. Argument: the file of the answers. */
const paths = readPaths(process.argv[2] as string);
const app = express().disable('x-powered-by').disable('etag');
for (const [path, { tag, notModified, byEncoding }] of paths) {
  app.get(path.split('?', 1)[0] as string, (request, response) => {
    if (tag !== null && request.get('if-none-match') === tag) {
      response.status(304).set(Object.fromEntries(notModified)).end();
      return;
    }
    const { headers, body } = byEncoding.get(chooseEncoding(request.get('accept-encoding'))) as LoadedAnswer;
    response.set(Object.fromEntries(headers)).end(body);
  });
}
const server = app.listen(0, '127.0.0.1', () => announcePort((server.address() as { port: number }).port));
