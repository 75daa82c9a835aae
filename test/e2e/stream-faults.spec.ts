import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import type { TLSSocket } from 'node:tls';
import type { WebSocket } from 'ws';
import { dataHead, openFrame, pingFrame, replyFrame } from '../../src/base/machinery/spdy/spdy-frames.js';
import { acceptOf } from '../../src/base/machinery/web-socket/web-socket-frames.js';
import { dial, metric } from './support/connections.js';
import { channelsOf, onChannel, podsPath, refusalOf, StreamScene } from './support/stream-scene.js';
import { eventually, type TestServer, tokens } from './support/test-cluster.js';

const v5 = 'v5.channel.k8s.io';
const v4 = 'v4.channel.k8s.io';
const path = '/exec/default/pod/main';
const exec = `${podsPath}/pod/exec?command=x&stdin=true&stdout=true&stderr=true`;
/** The numbers of the streams of a command with these options. */
const [errorStream, stdoutStream, stderrStream] = [1, 5, 7];
let scene: StreamScene;
let policy: string;

before(async () => {
  scene = await StreamScene.start();
  policy = join(scene.cluster.directory, 'policy.yaml');
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
  );
});
after(() => scene?.stop());

/** Makes the agent accept the next command and then run this function. */
function agentDoes(work: (socket: Duplex) => void): void {
  scene.agent.upgrades.set(path, (socket, request) => {
    const { upgrade = '' } = request.headers;
    const fields = [
      'connection: Upgrade',
      `upgrade: ${upgrade}`,
      `x-stream-protocol-version: ${v4}`,
      `sec-websocket-accept: ${acceptOf(request.headers['sec-websocket-key'] ?? '')}`,
      ...(upgrade === 'websocket' ? [`sec-websocket-protocol: ${v4}`] : []),
    ];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${fields.join('\r\n')}\r\n\r\n`);
    work(socket);
  });
}

function data(stream: number, text: string, isLast = false): Buffer {
  return Buffer.concat([dataHead(stream, text.length, isLast), Buffer.from(text)]);
}

const ends = Buffer.concat([errorStream, stdoutStream, stderrStream].map((stream) => data(stream, '', true)));

/** Sends the frames as a client, with a mask that changes nothing. */
function frame(opcode: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | body.length, 0, 0, 0, 0]), body]);
}

/** A WebSocket whose frames the test writes itself. */
async function rawSocket(protocol: string = v5): Promise<TLSSocket> {
  const socket = await dial(scene.cluster, scene.first);
  socket.on('error', () => undefined);
  const fields = [
    'Host: x',
    `Authorization: Bearer ${tokens.admin}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    `Sec-WebSocket-Protocol: ${protocol}`,
  ];
  socket.write(`GET ${exec} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 101 /);
  return socket;
}

/** Another server process with the certificates of the first one. */
function addServer(flags: readonly string[]): Promise<TestServer> {
  const file = (name: string) => join(scene.cluster.directory, name);
  return scene.cluster.addServer(undefined, [
    '--authorization-mode=RBAC',
    `--kubelet-client-certificate=${file('caller.crt')}`,
    `--kubelet-client-key=${file('caller.key')}`,
    `--kubelet-certificate-authority=${file('agents.crt')}`,
    ...flags,
  ]);
}

function resultOf(texts: readonly string[]): { readonly status: string; readonly message: string } {
  return JSON.parse(texts[3] ?? assert.fail('no result'));
}

describe('an agent that', () => {
  it('sends its output byte by byte is read as a whole', async () => {
    const count = 20_000;
    agentDoes((socket) => {
      const bytes = Buffer.concat(Array.from({ length: count }, () => data(stdoutStream, 'x')));
      socket.end(Buffer.concat([bytes, data(stderrStream, 'e'), data(stdoutStream, 'y'), ends]));
    });
    const socket = scene.open(exec, [v5]);
    let messages = 0;
    socket.on('message', () => messages++);
    const { texts } = await channelsOf(socket);
    assert.deepEqual([texts[1], texts[2]], [`${'x'.repeat(count)}y`, 'e']);
    assert.equal(resultOf(texts).status, 'Success');
    assert.ok(messages < count / 10, `${messages} messages`);
  });

  it('pings and opens streams without end holds nobody up', async () => {
    let isOver = false;
    let answered = 0;
    agentDoes((socket) => {
      const many = Buffer.concat(
        Array.from({ length: 5000 }, () => [pingFrame(2), openFrame(2, Buffer.alloc(0))]).flat(),
      );
      socket.on('data', (chunk: Buffer) => {
        answered += chunk.length;
      });
      const flood = () => {
        while (!socket.destroyed && !isOver && socket.write(many));
        if (isOver) socket.end(Buffer.concat([data(stdoutStream, 'done'), ends]));
        else socket.once('drain', flood);
      };
      flood();
    });
    const socket = scene.open(exec, [v5]);
    const done = channelsOf(socket);
    for (let i = 0; i < 20; i++) assert.equal((await scene.client.get('/livez')).status, 200);
    await eventually(() => answered > 100_000, 'answers to the pings');
    isOver = true;
    assert.equal((await done).texts[1], 'done');
  });

  it('sends frames of 16 MiB, and headers that unpack to gigabytes, takes no memory', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const bomb = randomBytes(60_000);
    agentDoes((socket) => {
      socket.write(replyFrame(stdoutStream, bomb));
      socket.write(dataHead(stdoutStream, 15 * piece.length, false));
      for (let i = 0; i < 15; i++) socket.write(piece);
      socket.end(ends);
    });
    const socket = scene.open(exec, [v5]);
    let longest = 0;
    let size = 0;
    socket.on('message', (bytes: Buffer) => {
      longest = Math.max(longest, bytes.length);
      if (bytes[0] === 1) size += bytes.length - 1;
    });
    await once(socket, 'close');
    assert.equal(size, 15 * piece.length);
    assert.ok(longest < 1024 * 1024, `a message of ${longest} bytes`);
  });

  it('speaks something else, breaks off, or chooses another version is told as the result', async () => {
    const cases: readonly [(socket: Duplex) => void, RegExp][] = [
      [(socket) => socket.write(Buffer.from('\u0080\u0009garbage garbage', 'latin1')), /does not speak SPDY/],
      [(socket) => socket.destroy(), /connection to the node agent was lost/],
      [(socket) => socket.end(data(stdoutStream, 'half')), /connection to the node agent was lost/],
    ];
    for (const [work, pattern] of cases) {
      agentDoes(work);
      const { texts, closeCode } = await channelsOf(scene.open(exec, [v5]));
      assert.equal(closeCode, 1000);
      assert.match(resultOf(texts).message, pattern);
    }
    scene.agent.upgrades.set(path, (socket) =>
      socket.write(
        'HTTP/1.1 101 X\r\nconnection: Upgrade\r\nupgrade: SPDY/3.1\r\nx-stream-protocol-version: v1\r\n\r\n',
      ),
    );
    const refused = await refusalOf(scene.open(exec, [v5]));
    assert.deepEqual([refused.status, /does not speak v4/.test(refused.message)], [500, true], refused.message);
    agentDoes((socket) => socket.destroy());
    const [code] = (await once(scene.open(exec, [v4]), 'close')) as [number];
    assert.equal(code, 1006);
  });

  it('answers after the client has said everything is heard', async () => {
    agentDoes((socket) => {
      let said = '';
      socket.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      socket.on('end', () => socket.end(`heard ${said}`));
    });
    const spdy = await scene.spdy(exec, [v4]);
    spdy.socket.end('the last words');
    let text = spdy.rest.toString();
    for await (const chunk of spdy.socket) text += String(chunk);
    assert.equal(text, 'heard the last words');
  });

  it('is said to be at this server gets nothing done with its certificate', async () => {
    // This server does not verify the certificates of node agents.
    const server = await scene.cluster.addServer(undefined, ['--authorization-mode=RBAC']);
    await scene.makeNode('self', Number(new URL(scene.first.url).port));
    await scene.makePod('at-self', ['main'], { nodeName: 'self' });
    const { status, body } = await server.client.get('/api/v1/nodes/self/proxy/api/v1/secrets');
    assert.deepEqual([status, /meant for a node agent/.test(body.message)], [403, true], body.message);
    const log = await server.client.get(`${podsPath}/at-self/log`);
    assert.match(log.body.message, /the node agent answered 403: .*meant for a node agent/);
    await server.stop();
  });
});

describe('a client that', () => {
  it('pings without end gets the answer to the last ping', async () => {
    agentDoes(() => undefined);
    const socket = await rawSocket();
    const count = 20_000;
    const pings = Array.from({ length: count }, (_, i) => frame(9, Buffer.from(String(i))));
    socket.write(Buffer.concat(pings));
    let bytes = Buffer.alloc(0);
    let pongs = 0;
    let last = '';
    while (last !== String(count - 1)) {
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + (bytes[1] as number)) {
        assert.equal(bytes[0], 0x8a);
        last = bytes.subarray(2, 2 + (bytes[1] as number)).toString();
        pongs++;
        bytes = bytes.subarray(2 + (bytes[1] as number));
      }
    }
    assert.ok(pongs < count / 10, `${pongs} pongs`);
    socket.destroy();
  });

  it('sends its input byte by byte is heard as a whole', async () => {
    let chunks = 0;
    let size = 0;
    agentDoes((socket) => {
      socket.on('data', (chunk: Buffer) => {
        chunks++;
        size += chunk.length;
      });
    });
    const socket = await rawSocket();
    const count = 20_000;
    socket.write(Buffer.concat(Array.from({ length: count }, () => frame(2, onChannel(0, 'x')))));
    // A frame for each message would have nine bytes.
    await eventually(() => size >= count, 'the input');
    assert.ok(size < 2 * count, `${size} bytes in ${chunks} pieces`);
    socket.destroy();
  });

  it('breaks the rules of WebSockets gets the reason', async () => {
    agentDoes(() => undefined);
    const reserved = Buffer.from([0x83, 0x80, 0, 0, 0, 0]);
    const unmasked = Buffer.from([0x82, 1, 0]);
    const endless = Buffer.from([0x82, 0xff, ...Array.from({ length: 12 }, () => 0xff)]);
    for (const bytes of [reserved, unmasked, endless]) {
      const socket = await rawSocket();
      socket.write(bytes);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      assert.equal(chunk[0], 0x88);
      assert.equal(chunk.readUInt16BE(2), 1002);
      socket.destroy();
    }
  });

  it('sends more than the agent reads is stopped, and what it sends is kept nowhere', async () => {
    agentDoes((socket) => socket.pause());
    const memory = /^process_resident_memory_bytes (\S+)/m;
    const before = await metric(scene.first, memory);
    // Through the translation, and through the tunnel.
    const sockets = [await rawSocket(), await rawSocket(v4), (await scene.spdy(exec, [v4])).socket];
    const megabytes = 64;
    for (const socket of sockets) {
      socket.resume();
      socket.write(Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0]));
      for (let i = 0; i < megabytes; i++) socket.write(Buffer.alloc(1024 * 1024));
    }
    for (let i = 0; i < 50; i++) assert.equal((await scene.client.get('/livez')).status, 200);
    const more = ((await metric(scene.first, memory)) - before) / 1024 / 1024;
    assert.ok(more < (sockets.length * megabytes) / 2, `${more} MiB more`);
    for (const socket of sockets) assert.ok(socket.writableLength > 0);
    // By GET and by POST.
    const series = /^apiserver_longrunning_requests\{[^}]*subresource="exec"[^}]*\} (\d+)/gm;
    const open = async () => {
      const { text } = await scene.client.get('/metrics');
      return [...text.matchAll(series)].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    assert.equal(await open(), sockets.length);
    for (const socket of sockets) socket.destroy();
    // The server does not read from a client that has to wait, so it does not notice when that client disconnects.
    await eventually(async () => (await open()) === 0, 'the end of the streams');
    scene.agent.cut();
  });

  it('smuggles requests behind an upgrade that is refused gets one answer', async () => {
    const head = ['Host: x', `Authorization: Bearer ${tokens.admin}`, 'Connection: Upgrade'].join('\r\n');
    const second = `GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`;
    const requests = [
      `POST ${exec.replace('pod/exec', 'absent/exec')} HTTP/1.1\r\n${head}\r\nUpgrade: SPDY/3.1\r\n\r\n`,
      `POST ${exec} HTTP/1.1\r\n${head}\r\nUpgrade: h2c\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      `GET ${exec} HTTP/1.1\r\n${head}\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 12\r\n\r\n`,
    ];
    for (const request of requests) {
      const socket = await dial(scene.cluster, scene.first);
      socket.on('error', () => undefined);
      socket.write(request + second);
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1, text);
      assert.match(text, /^HTTP\/1\.1 4/);
    }
  });
});

describe('a stream', () => {
  it('is audited and counted', async () => {
    const log = join(scene.cluster.directory, 'audit.log');
    const server = await addServer([`--audit-policy-file=${policy}`, `--audit-log-path=${log}`]);
    agentDoes((socket) => socket.end(ends));
    const url = `${server.url.replace('https', 'wss')}${exec}`;
    const { WebSocket: Client } = await import('ws');
    const options = { ca: scene.cluster.pki.authority, headers: { authorization: `Bearer ${tokens.admin}` } };
    const forwarding = url.replace(/exec\?.*/, 'portforward');
    scene.agent.upgrades.set('/portForward/default/pod', scene.agent.upgrades.get(path) as () => void);
    scene.agent.upgrades.set('/attach/default/pod/main', scene.agent.upgrades.get(path) as () => void);
    const streams = [
      ['exec', url, v5],
      ['exec', url, v4],
      ['attach', url.replace('/exec', '/attach'), v5],
      ['portforward', forwarding, v4],
    ] as const;
    for (const [, address, protocol] of streams) {
      const socket: WebSocket = new Client(address, [protocol], options);
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.once('close', resolve));
    }
    scene.agent.upgrades.delete('/portForward/default/pod');
    scene.agent.upgrades.delete('/attach/default/pod/main');
    const counted =
      /apiserver_request_total\{(?=[^}]*verb="CONNECT")(?=[^}]*subresource="exec")(?=[^}]*code="101")[^}]*\} (\d+)/;
    await eventually(async () => (await metric(server, counted)) === 2, 'both to be counted');
    await server.stop();
    const events = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ objectRef }) => objectRef?.name === 'pod');
    const reported = events.map(
      ({ verb, stage, objectRef, responseStatus }) =>
        `${verb} ${objectRef.subresource} ${stage} ${responseStatus?.code ?? ''}`,
    );
    assert.deepEqual(
      reported,
      streams.flatMap(([subresource]) =>
        ['RequestReceived ', 'ResponseStarted 101', 'ResponseComplete 101'].map((end) => `get ${subresource} ${end}`),
      ),
    );
  });

  it('ends with a reason when the server stops', async () => {
    const server = await addServer([]);
    agentDoes((socket) => {
      socket.write(data(stdoutStream, 'begun'));
    });
    const { WebSocket: Client } = await import('ws');
    const options = { ca: scene.cluster.pki.authority, headers: { authorization: `Bearer ${tokens.admin}` } };
    const socket: WebSocket = new Client(`${server.url.replace('https', 'wss')}${exec}`, [v5], options);
    const done = channelsOf(socket);
    await once(socket, 'message');
    await server.stop();
    assert.match(resultOf((await done).texts).message, /the server is shutting down/);
  });

  it('is as slow as its connection may be, in both directions', async () => {
    const server = await addServer(['--max-connection-bytes-per-sec=200000']);
    const { WebSocket: Client } = await import('ws');
    const options = { ca: scene.cluster.pki.authority, headers: { authorization: `Bearer ${tokens.admin}` } };
    const open = (protocol: string): WebSocket =>
      new Client(`${server.url.replace('https', 'wss')}${exec}`, [protocol], options);
    const bytes = 500_000;
    const input = async () => {
      let size = 0;
      const began = performance.now();
      agentDoes((socket) => {
        socket.on('data', (chunk: Buffer) => {
          size += chunk.length;
        });
      });
      const socket = open(v5);
      await once(socket, 'open');
      for (let i = 0; i < bytes / 10_000; i++) socket.send(onChannel(0, 'x'.repeat(10_000)));
      await eventually(() => size >= bytes, 'the input');
      socket.terminate();
      return performance.now() - began;
    };
    const output = async () => {
      const began = performance.now();
      agentDoes((socket) => socket.end(Buffer.concat([data(stdoutStream, 'x'.repeat(bytes)), ends])));
      await channelsOf(open(v5));
      return performance.now() - began;
    };
    // All bytes except those that are sent at once.
    for (const ms of [await input(), await output()]) assert.ok(ms > 1000, `${ms} ms`);
    await server.stop();
  });
});
