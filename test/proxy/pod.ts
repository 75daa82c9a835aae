// The program of a pod or a client in a network namespace of its own. It serves port 8080 of TCP and UDP, where its
// response names itself and the sender, and makes requests on demand. Its argument is its name.
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import { type Attempt, ask } from './ask.js';

const [, , name = ''] = process.argv;
const plain = (address: string | undefined) => (address ?? '').replace(/^::ffff:/, '');

createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.end(`${name} ${plain(socket.remoteAddress)}`);
}).listen(8080, '::');
const udp = createSocket({ type: 'udp6', ipv6Only: false });
udp.on('message', (_, from) => udp.send(`${name} ${plain(from.address)}`, from.port, from.address));
udp.bind(8080, '::', () => process.send?.('ready'));

/** A UDP flow that continues, as those of resolvers do. */
const flow = createSocket('udp4');
let heard: ((text: string) => void) | undefined;
flow.on('message', (message) => heard?.(message.toString()));

process.on('message', ({ id, question, again }: { id: number; question?: Attempt; again?: Attempt }) => {
  if (question !== undefined) void ask(question).then((answers) => process.send?.({ id, answers }));
  if (again === undefined) return;
  const timer = setTimeout(() => heard?.('silence'), 3_000);
  heard = (text) => {
    clearTimeout(timer);
    process.send?.({ id, answers: [text] });
  };
  flow.send('?', again.port, again.address);
});
process.on('disconnect', () => process.exit());
