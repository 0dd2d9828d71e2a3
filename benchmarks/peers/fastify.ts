import fastify from 'fastify';
import { announcePort, chooseEncoding, type LoadedAnswer, readPaths } from './preparedAnswers.ts';

/** Fastify with the same lookup: path, tag, encoding. Argument: the file of the answers. */
const paths = readPaths(process.argv[2] as string);
const app = fastify();
for (const [path, { tag, notModified, byEncoding }] of paths) {
  app.get(path.split('?', 1)[0] as string, (request, reply) => {
    if (tag !== null && request.headers['if-none-match'] === tag)
      return reply.code(304).headers(Object.fromEntries(notModified)).send();
    const { headers, body } = byEncoding.get(
      chooseEncoding(request.headers['accept-encoding'] as string | undefined),
    ) as LoadedAnswer;
    return reply.headers(Object.fromEntries(headers)).send(body);
  });
}
await app.listen({ host: '127.0.0.1', port: 0 });
announcePort((app.server.address() as { port: number }).port);
