import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { whenFinished } from './lifetime.ts';

/** What a DNS server does with each question: nothing, or an answer with one of these codes. */
type Behaviour = 'silent' | 'answers' | 'fails' | 'refuses';

const codes: Readonly<Record<Exclude<Behaviour, 'silent'>, number>> = {
  answers: 0,
  fails: 2,
  refuses: 5,
};
/** Of a question for an IPv4 address. */
const typeA = 1;

interface DnsServer {
  readonly port: number;
  behaviour: Behaviour;
}

/** Starts a DNS server that has the address of this machine for every name. */
export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  whenFinished(() => socket.close());
  const server = { port: socket.address().port, behaviour: 'answers' as Behaviour };
  socket.on('message', (message, { port, address }) => {
    if (server.behaviour !== 'silent') socket.send(answer(message, server.behaviour), port, address);
  });
  return server;
}

/** The answer to a message with one question. */
function answer(message: Buffer, behaviour: Exclude<Behaviour, 'silent'>): Buffer {
  const headerBytes = 12;
  let end = headerBytes;
  // A name is a list of labels, each after its length; 0 ends it.
  while (message.readUInt8(end) !== 0) end += 1 + message.readUInt8(end);
  const question = message.subarray(headerBytes, end + 5);
  const isForAddress = behaviour === 'answers' && message.readUInt16BE(end + 1) === typeA;
  // The name of the question, type A, class IN, one second, the four bytes of 127.0.0.1.
  const record = Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
  const records = isForAddress ? [record] : [];
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(message.readUInt16BE(0), 0);
  // A response, with recursion asked for and available.
  header.writeUInt16BE(0x8180 | codes[behaviour], 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, question, ...records]);
}
