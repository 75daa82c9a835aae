import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { after, describe, it } from 'node:test';
import { withLength } from '../forward/exchange.js';
import { MessagePieces } from './message-pieces.js';
import { type TcpLimits, TcpListener } from './tcp-listener.js';

const listeners: TcpListener[] = [];
const sockets: Socket[] = [];

/** A listener that sends each message back. */
async function listen(limits: Partial<TcpLimits> = {}): Promise<number> {
  const all = { mostConnections: 10, mostOfClient: 10, idleMs: 60_000, ...limits };
  const listener = await TcpListener.start('127.0.0.1', 0, all, (message) => message);
  listeners.push(listener);
  return ((listener as unknown as { server: Server }).server.address() as AddressInfo).port;
}

async function open(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, text: string): Promise<string> {
  socket.write(withLength(Buffer.from(text)));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return answer.toString('latin1', 2);
}

const closed = async (socket: Socket) => void (socket.closed || (await once(socket.resume(), 'close')));

describe('connections to the name server', () => {
  after(async () => {
    for (const socket of sockets) socket.destroy();
    for (const listener of listeners) await listener.stop();
  });

  it('give way to newcomers where nobody has asked for longest', async () => {
    const port = await listen({ mostConnections: 3 });
    const first = await open(port, '127.0.0.2');
    const second = await open(port, '127.0.0.3');
    const third = await open(port, '127.0.0.4');
    assert.equal(await ask(second, 'second'), 'second');
    assert.equal(await ask(third, 'third'), 'third');
    assert.equal(await ask(first, 'first'), 'first');
    const newcomer = await open(port, '127.0.0.5');
    assert.equal(await ask(newcomer, 'new'), 'new');
    await closed(second);
    for (const [socket, text] of [
      [first, 'a'],
      [third, 'b'],
      [newcomer, 'c'],
    ] as const)
      assert.equal(await ask(socket, text), text);
  });

  it('end when no whole query comes in time, however often a byte comes', async () => {
    const port = await listen({ idleMs: 300 });
    const slow = await open(port, '127.0.0.2');
    const drip = setInterval(() => slow.write(Buffer.alloc(1, 255)), 50);
    await closed(slow);
    clearInterval(drip);
  });

  it('may bring messages in pieces of one byte, or together', () => {
    const messages = new MessagePieces();
    const sent = ['one', '', 'x'.repeat(65_535), 'last'].map((text) => Buffer.from(text));
    const bytes = Buffer.concat(sent.map(withLength));
    const found: Buffer[] = [];
    const takeAll = () => {
      for (let message = messages.take(); message !== undefined; message = messages.take()) found.push(message);
    };
    const before = process.threadCpuUsage();
    for (let at = 0; at < bytes.length; at++) {
      messages.add(bytes.subarray(at, at + 1));
      takeAll();
    }
    const { user, system } = process.threadCpuUsage(before);
    assert.ok(user + system < 500_000, `${user + system} us`);
    messages.add(bytes);
    takeAll();
    assert.deepEqual(
      found.map((message) => message.toString()),
      [...sent, ...sent].map((message) => message.toString()),
    );
  });
});
