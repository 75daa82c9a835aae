import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { UdpListener } from './udp-listener.js';

describe('queries over UDP', () => {
  const sockets: Socket[] = [];
  let listener: UdpListener | undefined;
  after(async () => {
    for (const socket of sockets) socket.close();
    await listener?.stop();
  });
  async function sender(port: number): Promise<Socket> {
    const socket = createSocket('udp4');
    sockets.push(socket);
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  it('of most senders are answered when one of them fills a buffer', async () => {
    listener = await UdpListener.start('127.0.0.1', 0, (message) => message);
    const flooding = await sender(listener.port);
    const others = await Promise.all(Array.from({ length: 32 }, () => sender((listener as UdpListener).port)));
    let answered = 0;
    for (const other of others) other.once('message', () => answered++);
    const last = once(flooding, 'message');
    // Within one turn of this thread, in which the listener reads nothing.
    const packet = Buffer.alloc(1000);
    for (let i = 0; i < 20_000; i++) flooding.send(packet);
    for (const other of others) other.send(packet);
    await last;
    // What is not lost is answered before this.
    const late = await sender(listener.port);
    const probe = setInterval(() => late.send(packet), 100);
    await once(late, 'message');
    clearInterval(probe);
    assert.ok(answered >= 20, `${answered} of 32 were answered`);
  });

  it('are not taken at a port that another listener has', async () => {
    const { port } = listener as UdpListener;
    await assert.rejects(
      UdpListener.start('127.0.0.1', port, () => undefined),
      { code: 'EADDRINUSE' },
    );
  });
});
