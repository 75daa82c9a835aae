/*
 * What many, silent and half-open streams cost a serving process, and that they end in time. Takes about three minutes,
 * most of them waits for limits of the server, so it is not a part of `npm test`.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { acceptOf } from '../../src/base/machinery/web-socket/web-socket-frames.js';
import { dial, readAll } from '../e2e/support/connections.js';
import { memoryOf, memoryReporting } from '../e2e/support/memory-report.js';
import { podsPath, StreamScene } from '../e2e/support/stream-scene.js';
import { eventually, type TestServer, tokens } from '../e2e/support/test-cluster.js';

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io', 'SPDY/3.1'] as const;
type Protocol = (typeof protocols)[number];
const exec = `${podsPath}/pod/exec?command=x&stdin=true&stdout=true&stderr=true`;
const forward = `${podsPath}/pod/portforward`;
const tunnelled = 'SPDY/3.1+portforward.k8s.io';
const streams = 1000;
const kilobyte = 1024;
let scene: StreamScene;

before(async () => {
  scene = await memoryReporting(() => StreamScene.start(['--max-connections-per-address=0']));
  for (const path of ['/exec/default/pod/main', '/portForward/default/pod']) scene.agent.upgrades.set(path, accept);
});
after(() => scene?.stop());

/** An agent that accepts all data and sends nothing. */
function accept(
  socket: Duplex,
  { headers }: { readonly headers: Readonly<Record<string, string | string[] | undefined>> },
): void {
  const { upgrade = '' } = headers;
  const version = String(headers['x-stream-protocol-version'] ?? 'v4.channel.k8s.io');
  const fields = [
    'connection: Upgrade',
    `upgrade: ${upgrade}`,
    `x-stream-protocol-version: ${version}`,
    `sec-websocket-accept: ${acceptOf(String(headers['sec-websocket-key'] ?? ''))}`,
    ...(upgrade === 'websocket' ? ['sec-websocket-protocol: v4.channel.k8s.io'] : []),
  ];
  socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields.join('\r\n')}\r\n\r\n`);
  socket.resume();
}

function headOf(path: string, protocol: string): string {
  const isSpdy = protocol === 'SPDY/3.1';
  const fields = [
    'Host: x',
    `Authorization: Bearer ${tokens.admin}`,
    'Connection: Upgrade',
    ...(isSpdy
      ? ['Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: v4.channel.k8s.io']
      : [
          'Upgrade: websocket',
          'Sec-WebSocket-Version: 13',
          `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
          `Sec-WebSocket-Protocol: ${protocol}`,
        ]),
  ];
  return `${isSpdy ? 'POST' : 'GET'} ${path} HTTP/1.1\r\n${fields.join('\r\n')}\r\n`;
}

async function open(path: string, protocol: string, server: TestServer = scene.first): Promise<TLSSocket> {
  const socket = await dial(scene.cluster, server);
  socket.on('error', () => undefined);
  socket.write(`${headOf(path, protocol)}\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 101 /);
  return socket;
}

async function sum({ client }: TestServer, series: RegExp): Promise<number> {
  const { text } = await client.get('/metrics');
  return [...text.matchAll(series)].reduce((all, [, value]) => all + Number(value), 0);
}

const longRunning = /^apiserver_longrunning_requests\{[^}]*subresource="(?:exec|attach|portforward)"[^}]*\} (\d+)/gm;
const seatsTaken = /^apiserver_flowcontrol_current_executing_seats\{[^}]*\} (\d+)/gm;
const inFlight = /^apiserver_current_inflight_requests\{[^}]*\} (\d+)/gm;

async function openMany(count: number, server: TestServer = scene.first): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  for (let at = 0; at < count; at += 20) {
    const some = Array.from({ length: 20 }, (_, i) => {
      const protocol = [...protocols, tunnelled][(at + i) % 4] as string;
      return open(protocol === tunnelled ? forward : exec, protocol, server);
    });
    sockets.push(...(await Promise.all(some)));
  }
  return sockets;
}

/** Of a socket, or of a process, in milliseconds. */
async function timeTo(end: Promise<unknown>): Promise<number> {
  const began = performance.now();
  await end;
  return performance.now() - began;
}

describe(`${streams} idle streams`, () => {
  let sockets: TLSSocket[];

  it('take little memory, no seat and no place in flight', async () => {
    // Memory that only the first streams need.
    for (const socket of await openMany(40)) socket.destroy();
    await eventually(async () => (await sum(scene.first, longRunning)) === 0, 'the end of the first streams');
    const before = await memoryOf(scene.first);
    sockets = await openMany(streams);
    assert.equal(await sum(scene.first, longRunning), streams);
    // The scrape itself is a request.
    assert.ok((await sum(scene.first, seatsTaken)) <= 1);
    assert.ok((await sum(scene.first, inFlight)) <= 1);
    const now = await memoryOf(scene.first);
    const each = (now.retained - before.retained) / streams / kilobyte;
    const resident = (now.resident - before.resident) / streams / kilobyte;
    console.log(`each stream: ${each.toFixed(1)} KiB of heap and buffers, ${resident.toFixed(1)} KiB resident`);
    assert.ok(each < 100, `${each} KiB each`);
  });

  it('end when the server stops, within seconds', async () => {
    const { process } = scene.first;
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    for (const socket of sockets) socket.resume();
    const exit = once(process, 'exit');
    scene.cluster.servers.shift();
    process.kill('SIGTERM');
    const [all, ended] = await Promise.all([timeTo(closed), timeTo(exit)]);
    console.log(`all streams ended after ${all.toFixed(0)} ms, the process after ${ended.toFixed(0)} ms`);
    assert.ok(ended < 15_000, `${ended} ms`);
    assert.deepEqual(await exit, [0, null]);
    await eventually(() => scene.agent.openStreams === 0, 'the end of the streams at the agent');
  });
});

describe('a process that stops', () => {
  it('leaves clients that read nothing no more than the time of the closing handshake', async () => {
    const server = await addServer();
    scene.cluster.servers.splice(scene.cluster.servers.indexOf(server), 1);
    const sockets = await openMany(40, server);
    // Neither the closing frame nor the end of the connection is answered.
    for (const socket of sockets) socket.pause();
    const exit = once(server.process, 'exit');
    server.process.kill('SIGTERM');
    const ended = await timeTo(exit);
    console.log(`the process ended after ${ended.toFixed(0)} ms`);
    assert.deepEqual(await exit, [0, null]);
    assert.ok(ended < 15_000, `${ended} ms`);
    for (const socket of sockets) socket.destroy();
  });
});

describe('half of an upgrade', () => {
  let server: TestServer;
  before(async () => {
    server = await addServer();
    // Does not answer.
    scene.agent.upgrades.set('/attach/default/pod/main', () => undefined);
  });

  it('holds no stream, no seat and no place in flight, and is cut after a minute', async () => {
    const slow = await Promise.all(protocols.map(() => dial(scene.cluster, server)));
    const drips = slow.map((socket, i) => {
      socket.on('error', () => undefined);
      socket.resume();
      const text = headOf(exec, protocols[i] as Protocol);
      let at = 0;
      const timer = setInterval(() => {
        if (!socket.destroyed && at < text.length) socket.write(text[at++] as string);
      }, 1000);
      socket.once('close', () => clearInterval(timer));
      return timeTo(once(socket, 'close'));
    });
    assert.equal(await sum(server, longRunning), 0);
    assert.ok((await sum(server, inFlight)) <= 1);
    for (const ms of await Promise.all(drips)) assert.ok(ms > 50_000 && ms < 100_000, `${ms} ms`);
  });

  it('ends with its client, also while the agent has not answered', async () => {
    const before = scene.agent.openStreams;
    const sockets: TLSSocket[] = [];
    for (const protocol of protocols) {
      const socket = await dial(scene.cluster, server);
      socket.on('error', () => undefined);
      socket.write(`${headOf(exec.replace('/exec', '/attach'), protocol)}\r\n`);
      sockets.push(socket);
    }
    await eventually(() => scene.agent.openStreams === before + protocols.length, 'the upgrades to arrive');
    assert.ok((await sum(server, seatsTaken)) <= 1);
    for (const socket of sockets) socket.destroy();
    await eventually(() => scene.agent.openStreams === before, 'the end of the upgrades at the agent');
  });

  it('that no agent answers is an error after 30 seconds, and after 5 where none even connects', async () => {
    const deaf = createServer();
    const held: Socket[] = [];
    deaf.on('connection', (socket) => held.push(socket.on('error', () => undefined)));
    deaf.listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    await scene.makeNode('deaf', (deaf.address() as AddressInfo).port);
    await scene.makePod('at-deaf', ['main'], { nodeName: 'deaf' });
    const ask = async (path: string) => {
      const socket = await dial(scene.cluster, server);
      const began = performance.now();
      socket.write(`${headOf(path, 'SPDY/3.1')}\r\n`);
      return { text: await readAll(socket), ms: performance.now() - began };
    };
    const [unconnected, unanswered] = await Promise.all([
      ask(exec.replace('/pod/', '/at-deaf/')),
      ask(exec.replace('/exec', '/attach')),
    ]).finally(() => {
      for (const socket of held) socket.destroy();
      deaf.close();
    });
    assert.match(unconnected.text, /^HTTP\/1\.1 500 [\s\S]*error dialing backend: /);
    assert.ok(unconnected.ms > 4000 && unconnected.ms < 20_000, `${unconnected.ms} ms`);
    assert.match(unanswered.text, /^HTTP\/1\.1 500 [\s\S]*error dialing backend: /);
    assert.ok(unanswered.ms > 29_000 && unanswered.ms < 50_000, `${unanswered.ms} ms`);
  });

  it('closed by its client may be silent for a minute', async () => {
    scene.agent.upgrades.set('/attach/default/pod/main', (socket, request) => {
      (socket as Socket).allowHalfOpen = true;
      accept(socket, request);
    });
    const path = exec.replace('/exec', '/attach');
    const sockets = await Promise.all([open(path, 'SPDY/3.1', server), open(path, 'v4.channel.k8s.io', server)]);
    const ends = sockets.map((socket) => {
      socket.resume();
      socket.end();
      return timeTo(once(socket, 'close'));
    });
    await eventually(async () => (await sum(server, longRunning)) === 2, 'both to be open');
    for (const ms of await Promise.all(ends)) assert.ok(ms > 55_000 && ms < 90_000, `${ms} ms`);
    await eventually(async () => (await sum(server, longRunning)) === 0, 'the end of both');
  });
});

/** One more process with the certificates of the first one. */
function addServer(): Promise<TestServer> {
  const file = (name: string) => `${scene.cluster.directory}/${name}`;
  return scene.cluster.addServer(undefined, [
    '--authorization-mode=RBAC',
    `--kubelet-client-certificate=${file('caller.crt')}`,
    `--kubelet-client-key=${file('caller.key')}`,
    `--kubelet-certificate-authority=${file('agents.crt')}`,
  ]);
}
