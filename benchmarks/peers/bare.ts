import uWS from 'uWebSockets.js';
import { chooseEncoding, type LoadedAnswer, readPaths } from './preparedAnswers.ts';

/** The limit: uWebSockets.js with a handler that does nothing but send the bytes. Arguments: the file of the answers, and the port. */
const [file = '', port] = process.argv.slice(2);
const paths = readPaths(file);
// As the service: without the library's own header.
(uWS as { _cfg?(option: 'silent'): void })._cfg?.('silent');
const app = uWS.App();

function send(
  response: uWS.HttpResponse,
  status: string,
  headers: LoadedAnswer['headers'],
  body: Buffer | null,
) {
  response.cork(() => {
    response.writeStatus(status);
    for (const [name, value] of headers) response.writeHeader(name, value);
    if (body === null) response.endWithoutBody();
    else response.end(body);
  });
}

for (const [path, { tag, notModified, byEncoding }] of paths) {
  app.get(path.split('?', 1)[0] as string, (response, request) => {
    if (tag !== null && request.getHeader('if-none-match') === tag)
      return send(response, '304 Not Modified', notModified, null);
    const { headers, body } = byEncoding.get(
      chooseEncoding(request.getHeader('accept-encoding')),
    ) as LoadedAnswer;
    send(response, '200 OK', headers, body);
  });
}
app.listen('127.0.0.1', Number(port), (socket) => {
  if (socket === false) throw new Error(`port ${port} is taken`);
});
