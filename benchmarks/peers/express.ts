import express from 'express';
import { encodingOf, type HeldAnswer, heldPaths, tellPort } from './preparedAnswers.ts';

/** Express with the same lookup: path, tag, encoding. Argument: the file of the answers. */
const paths = heldPaths(process.argv[2] as string);
const app = express().disable('x-powered-by').disable('etag');
for (const [path, { tag, notModified, byEncoding }] of paths) {
  app.get(path.split('?', 1)[0] as string, (request, response) => {
    if (tag !== null && request.get('if-none-match') === tag) {
      response.status(304).set(Object.fromEntries(notModified)).end();
      return;
    }
    const { headers, body } = byEncoding.get(encodingOf(request.get('accept-encoding'))) as HeldAnswer;
    response.set(Object.fromEntries(headers)).end(body);
  });
}
const server = app.listen(0, '127.0.0.1', () => tellPort((server.address() as { port: number }).port));
