import { App } from '../../http/server/engine/uws.ts';
import { type LoadedAnswer, readPaths } from './preparedAnswers.ts';

/** The upper limit: uWebSockets.js with a handler that only sends the bytes. Arguments: the file of the answers, and the port. */
const [file = '', port] = process.argv.slice(2);
const paths = readPaths(file);
const app = App();

for (const [path, { tag, notModified, byEncoding }] of paths) {
  app.get(path.split('?', 1)[0] as string, (response, request) => {
    const isKnown = tag !== null && request.getHeader('if-none-match') === tag;
    const encoding = request.getHeader('accept-encoding') || 'identity';
    const answer = byEncoding.get(encoding) as LoadedAnswer;
    response.cork(() => {
      response.writeStatus(isKnown ? '304 Not Modified' : '200 OK');
      for (const [name, value] of isKnown ? notModified : answer.headers) response.writeHeader(name, value);
      if (isKnown) response.endWithoutBody();
      else response.end(answer.body);
    });
  });
}
app.listen('127.0.0.1', Number(port), (socket) => {
  if (socket === false) throw new Error(`port ${port} is taken`);
});
