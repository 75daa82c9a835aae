import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import type { Target } from '../rules/endpoint-view.js';
import { TargetChoice } from './target-choice.js';
import { TcpForwarder } from './tcp-forwarder.js';
import { UdpForwarder } from './udp-forwarder.js';

const address = '127.0.0.1';

function target(port: number): Target {
  return {
    ...{ address, port, node: 'here', isReady: true, isServing: true, isTerminating: false },
    ...{ zones: [], nodes: [] },
  };
}

describe('forwarders', () => {
  const endings: (() => unknown)[] = [];
  after(async () => {
    for (const end of endings.reverse()) await end();
  });

  async function namedServer(name: string): Promise<Target> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let said = '';
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      socket.on('end', () => socket.end(`${name} heard ${said}`));
    });
    server.listen(0, address);
    await once(server, 'listening');
    endings.push(() => server.close());
    return target((server.address() as AddressInfo).port);
  }

  async function freePort(): Promise<number> {
    const server = createServer().listen(0, address);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return port;
  }

  async function ask(port: number, said: string): Promise<string> {
    const socket = connect(port, address);
    socket.end(said);
    return await text(socket);
  }

  it('passes an endpoint of TCP over that does not answer, and half-closed connections through', async () => {
    const port = await freePort();
    const choice = new TargetChoice(
      () => 0,
      () => 0,
    );
    const forwarder = await TcpForwarder.start({ address, port }, choice);
    endings.push(() => forwarder.stop());
    forwarder.use([target(await freePort()), await namedServer('one')], 0);
    assert.equal(await ask(port, 'hello'), 'one heard hello');
  });

  it('gives a client the same endpoint as long as it is remembered', async () => {
    const state = { now: 0, random: 0 };
    const choice = new TargetChoice(
      () => state.now,
      () => state.random,
    );
    const [one, two] = [target(1), target(2)];
    choice.use([one, two], 10);
    choice.remember('client', choice.forClient('client')[0] ?? two);
    state.random = 0.9;
    assert.equal(choice.forClient('client')[0], one);
    assert.equal(choice.forClient('other')[0], two);
    state.now = 10_001;
    assert.equal(choice.forClient('client')[0], two);
  });

  it('brings answers of UDP back, and leaves an endpoint that is gone', async () => {
    const servers = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const socket = createSocket('udp4');
        socket.on('message', (message, from) => socket.send(`${name} heard ${message}`, from.port, from.address));
        socket.bind(0, address);
        await once(socket, 'listening');
        endings.push(() => socket.close());
        return target(socket.address().port);
      }),
    );
    const port = await freePort();
    const forwarder = await UdpForwarder.start(
      { address, port },
      new TargetChoice(
        () => 0,
        () => 0,
      ),
      systemTimers,
    );
    endings.push(() => forwarder.stop());
    const client = createSocket('udp4');
    endings.push(() => client.close());
    const say = async (words: string) => {
      client.send(words, port, address);
      const [message] = (await once(client, 'message')) as [Buffer];
      return message.toString();
    };
    forwarder.use(servers, 0);
    assert.equal(await say('hello'), 'one heard hello');
    forwarder.use(servers.slice(1), 0);
    assert.equal(await say('again'), 'two heard again');
  });
});
