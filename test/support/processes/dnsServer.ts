import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { whenFinished } from './lifetime.ts';

/** What a DNS server does with each question: nothing, or an answer with one of these codes. */
type Behaviour = 'silent' | 'answers' | 'fails' | 'gone' | 'refuses';

const codes: Readonly<Record<Exclude<Behaviour, 'silent'>, number>> = {
  answers: 0,
  fails: 2,
  gone: 3,
  refuses: 5,
};
/** Of a question for an IPv4 address. */
const typeA = 1;

/** A DNS server that knows one name. */
interface DnsServer {
  readonly port: number;
  behaviour: Behaviour;
  /** IPv4 addresses of the name. */
  addresses: readonly string[];
}

/** Starts a DNS server that has the same addresses for every name. */
export async function startDnsServer(...addresses: readonly string[]): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  whenFinished(() => socket.close());
  const server = { port: socket.address().port, behaviour: 'answers' as Behaviour, addresses };
  socket.on('message', (message, { port, address }) => {
    if (server.behaviour !== 'silent')
      socket.send(answer(message, server.behaviour, server.addresses), port, address);
  });
  return server;
}

/** The answer to a message with one question. */
function answer(
  message: Buffer,
  behaviour: Exclude<Behaviour, 'silent'>,
  addresses: readonly string[],
): Buffer {
  const headerBytes = 12;
  let end = headerBytes;
  // A name is a list of labels, each after its length; 0 ends it.
  while (message.readUInt8(end) !== 0) end += 1 + message.readUInt8(end);
  const question = message.subarray(headerBytes, end + 5);
  const isForAddress = behaviour === 'answers' && message.readUInt16BE(end + 1) === typeA;
  const records = (isForAddress ? addresses : []).map((address) =>
    // The name of the question, type A, class IN, one second, four bytes.
    Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
  );
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(message.readUInt16BE(0), 0);
  // A response, with recursion asked for and available.
  header.writeUInt16BE(0x8180 | codes[behaviour], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}
