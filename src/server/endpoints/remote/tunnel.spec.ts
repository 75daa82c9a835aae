import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { pingFrame, SpdyReader } from '../../../base/machinery/spdy/spdy-frames.js';
import { FrameEnds } from '../../../base/machinery/web-socket/frame-ends.js';
import { frameHead, opcodes } from '../../../base/machinery/web-socket/web-socket-frames.js';
import { joinSockets, type TunnelLimits, tunnelLimits } from './tunnel.js';

const never = 2 ** 30;
const limits: TunnelLimits = { halfClosedMs: never, askMs: never };

/** The sockets of the present test. */
const sockets: Socket[] = [];

/** Two connected sockets: one of a peer, and one of the tunnel. */
async function pair(): Promise<{ peer: Socket; own: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  peer.on('error', () => undefined);
  const [own] = (await once(server, 'connection')) as [Socket];
  server.close();
  sockets.push(peer, own);
  return { peer, own };
}

class Tunnel {
  private constructor(
    readonly client: Socket,
    readonly backend: Socket,
    readonly done: Promise<void>,
  ) {}

  static async open(some: Partial<TunnelLimits>, frames?: FrameEnds): Promise<Tunnel> {
    const [client, backend] = await Promise.all([pair(), pair()]);
    const { signal } = new AbortController();
    const joint = { signal, frames, limits: { ...limits, ...some } };
    return new Tunnel(client.peer, backend.peer, joinSockets(client.own, backend.own, joint));
  }
}

/** Writes until the socket accepts no more. */
function fill(socket: Socket): void {
  const piece = Buffer.alloc(1024 * 1024);
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
}

describe('a tunnel', () => {
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  it('waits a minute for the rest of a conversation that one side has ended', () => {
    assert.equal(tunnelLimits.halfClosedMs, 60_000);
  });

  for (const side of ['client', 'backend'] as const) {
    const other = side === 'client' ? 'backend' : 'client';
    it(`ends when the ${side} has ended and the ${other} says nothing more`, async () => {
      const tunnel = await Tunnel.open({ halfClosedMs: 50 });
      tunnel[other].resume();
      tunnel[side].resume();
      tunnel[side].end('the last words');
      await tunnel.done;
    });

    it(`stays while the ${other} goes on talking, and ends with it`, async () => {
      const tunnel = await Tunnel.open({});
      let said = '';
      tunnel[side].on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      tunnel[other].resume();
      tunnel[side].end();
      await once(tunnel[other], 'end');
      for (let i = 0; i < 10; i++) tunnel[other].write(String(i));
      tunnel[other].end();
      await tunnel.done;
      assert.equal(said, '0123456789');
    });
  }

  it('ends with a client that has left while the other side takes nothing more', async () => {
    const tunnel = await Tunnel.open({ askMs: 20 }, new FrameEnds('spdy'));
    tunnel.backend.pause();
    fill(tunnel.client);
    await once(tunnel.client, 'data');
    tunnel.client.destroy();
    await tunnel.done;
  });

  it('asks a client in its own protocol, between two frames only', async () => {
    for (const protocol of ['spdy', 'websocket'] as const) {
      const tunnel = await Tunnel.open({ askMs: 20 }, new FrameEnds(protocol));
      tunnel.backend.pause();
      const half = protocol === 'spdy' ? pingFrame(2) : Buffer.concat([frameHead(opcodes.binary, 8), Buffer.alloc(8)]);
      let bytes = Buffer.alloc(0);
      tunnel.client.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
      });
      tunnel.backend.write(half.subarray(0, 5));
      await once(tunnel.client, 'data');
      fill(tunnel.client);
      // If pings were sent between the halves, they would be among the first bytes.
      await new Promise((resolve) => setTimeout(resolve, 200));
      tunnel.backend.write(half.subarray(5));
      while (bytes.length < half.length + 4) await once(tunnel.client, 'data');
      assert.ok(bytes.subarray(0, half.length).equals(half));
      const asked = bytes.subarray(half.length);
      if (protocol === 'spdy') assert.equal([...new SpdyReader().read(asked)][0]?.type, 'ping');
      else assert.deepEqual([...asked.subarray(0, 2)], [0x89, 0]);
      tunnel.client.destroy();
      await tunnel.done;
    }
  });

  it('asks nobody while everything is taken', async () => {
    const tunnel = await Tunnel.open({ askMs: 1 }, new FrameEnds('spdy'));
    let bytes = 0;
    tunnel.client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    tunnel.backend.on('data', (chunk: Buffer) => tunnel.backend.write(chunk));
    for (let i = 1; i <= 100; i++) {
      tunnel.client.write(pingFrame(1));
      while (bytes < i * pingFrame(1).length) await once(tunnel.client, 'data');
    }
    assert.equal(bytes, 100 * pingFrame(1).length);
    tunnel.client.destroy();
    tunnel.backend.destroy();
    await tunnel.done;
  });
});
