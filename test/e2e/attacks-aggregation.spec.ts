import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestIdentity } from '../support/test-authority.js';
import { dial } from './support/connections.js';
import { ExtensionScene } from './support/extension-scene.js';
import { group, groupPath } from './support/extension-server.js';
import { Http2Client } from './support/http2-client.js';
import { send } from './support/raw-http.js';
import { eventually, tokens } from './support/test-cluster.js';

const flavours = `${groupPath}/namespaces/default/flavours`;
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
let scene: ExtensionScene;
const directory = mkdtempSync(join(tmpdir(), 'plinth-attacks-'));

before(async () => {
  const authorityFile = join(directory, 'front.crt');
  writeFileSync(authorityFile, (await TestIdentity.root('front')).cert);
  scene = await ExtensionScene.start(
    [
      `--requestheader-client-ca-file=${authorityFile}`,
      '--requestheader-allowed-names=front',
      '--requestheader-username-headers=X-Remote-User,X-My-User',
      '--requestheader-extra-headers-prefix=X-My-Extra-',
      '--requestheader-group-headers=X-My-Group',
      '--authorization-mode=RBAC',
      '--request-timeout=15s',
      '--admission-webhook-denied-cidrs=169.254.0.0/16,127.0.0.2/32',
    ],
    1,
  );
  await scene.register();
});
after(async () => {
  await scene.stop();
  rmSync(directory, { recursive: true, force: true });
});

/** Bytes on one connection; `{auth}` stands for the head that identifies the administrator. */
function raw(text: string) {
  return send(scene.first.url, scene.cluster.pki.authority, [text.replaceAll('{auth}', head())], 1500);
}

const head = () => `Host: ${new URL(scene.first.url).host}\r\nAuthorization: Bearer ${tokens.admin}\r\n`;

/** Answers requests for a path with raw bytes on the connection. */
function answerRaw(name: string, speak: (socket: Socket, request: IncomingMessage) => void): string {
  const path = `${flavours}/${name}`;
  scene.extension.behaviours.set(path, (request: IncomingMessage, response: ServerResponse) => {
    response.detachSocket(request.socket);
    speak(request.socket, request);
  });
  return path;
}

const works = async () => assert.equal((await scene.first.client.get(flavours)).status, 200);

describe('a client of an extension server', () => {
  it('can not name itself, whatever the spelling and the number of fields', async () => {
    const fields = [
      'X-Remote-User: root',
      'x-remote-user: root',
      'X-REMOTE-USER: root',
      'X_Remote_User: root',
      'X-Remote-Group: system:masters',
      'X-Remote-Extra-a: b',
      'Connection: X-Remote-User, X-Remote-Group, close',
      'X-My-User: root',
      'x_my_user: root',
      'X-My-Extra-a: root',
      'Proxy-Authorization: Basic cm9vdA==',
    ];
    const { status } = await raw(`GET ${flavours} HTTP/1.1\r\n{auth}${fields.join('\r\n')}\r\n\r\n`);
    assert.equal(status, 200);
    const { rawHeaders } = scene.extension.last(flavours) ?? assert.fail('it did not arrive');
    const names = rawHeaders.filter((_text, i) => i % 2 === 0).map((name) => name.toLowerCase().replaceAll('_', '-'));
    assert.equal(names.filter((name) => name === 'x-remote-user').length, 1);
    assert.ok(
      !rawHeaders.includes('root') && !names.includes('x-remote-extra-a') && !names.includes('proxy-authorization'),
    );
    assert.equal(rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'x-remote-user') + 1], 'admin');
  });

  it('is named in the fields that this server publishes, by every process', async () => {
    await works();
    const { headers } = scene.extension.last(flavours) ?? assert.fail('it did not arrive');
    assert.equal(headers['x-my-group'], 'system:masters, system:authenticated');
    assert.equal(headers['x-remote-group'], undefined);
    const checks = scene.extension.arrived.filter(
      (one) => one.url === groupPath && one.headers['x-remote-user'] === 'system:kube-aggregator',
    );
    assert.ok(checks.length > 0 && checks.every((check) => check.headers['x-my-group'] === 'system:masters'));
  });

  it('may send fields with the names of what every object has', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      const { status } = await raw(`GET ${flavours} HTTP/1.1\r\n{auth}${name}: x\r\nConnection: close\r\n\r\n`);
      assert.equal(status, 200, name);
    }
    const path = answerRaw('fields', (socket) => {
      socket.end('HTTP/1.1 200 OK\r\nconstructor: a\r\n__proto__: b\r\ncontent-length: 2\r\n\r\nok');
    });
    assert.equal((await scene.first.client.get(path)).text, 'ok');
  });

  it('gets no connection to speak another version of HTTP on', async () => {
    for (const protocol of ['h2c', 'HTTP/2.0', 'HTTP/1.1', 'TLS/1.0', 'websocket, h2c']) {
      const fields = `Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: ${protocol}\r\nHTTP2-Settings: AAMAAABk\r\n`;
      const { status } = await raw(`GET ${flavours}/a/taste HTTP/1.1\r\n{auth}${fields}\r\n`);
      assert.equal(status, 404, protocol);
      assert.equal(scene.extension.last(`${flavours}/a/taste`)?.headers.upgrade, undefined, protocol);
    }
  });

  it('can not leave the group version by its path', async () => {
    const before = scene.extension.arrived.length;
    const paths: readonly [string, number][] = [
      [`${groupPath}/../../apps/v1/deployments`, 404],
      [`${groupPath}/%2e%2e/%2e%2e/version`, 404],
      [`${groupPath}//flavours`, 404],
      [`${groupPath}/./flavours`, 404],
      [`${flavours}/sweet%2Ftaste`, 400],
      [`${flavours}/..%2f..%2fsecret`, 400],
      [`${flavours}/a%5C..%5Cb`, 400],
      [`${flavours}/%zz`, 400],
      [`${groupPath}x/flavours`, 404],
    ];
    for (const [path, code] of paths) {
      const { status } = await raw(`GET ${path} HTTP/1.1\r\n{auth}Connection: close\r\n\r\n`);
      assert.equal(status, code, path);
    }
    assert.equal(scene.extension.arrived.length, before);
    const http2 = await Http2Client.connect(scene.first.url, scene.cluster.pki.authority, tokens.admin);
    for (const path of [`${flavours}/a b`, `${flavours}/ä`, `${flavours}?x=a b`]) {
      const answer = await http2.send('GET', path).catch(() => undefined);
      assert.ok(answer === undefined || answer.status >= 400, path);
    }
    await http2.close();
    assert.equal(scene.extension.arrived.length, before);
    await works();
  });

  it('can not hide a second request in the body of the first', async () => {
    const hidden = `GET ${flavours}/hidden HTTP/1.1\r\nHost: x\r\nX-Remote-User: root\r\n\r\n`;
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    const heads: readonly [string, string][] = [
      [`Content-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n`, chunk],
      ['Content-Length: 0\r\nContent-Length: 5\r\n', hidden],
      ['Transfer-Encoding: chunked\r\nConnection: transfer-encoding\r\n', chunk],
      [`Content-Length: ${hidden.length}\r\nConnection: content-length\r\n`, hidden],
    ];
    for (const [fields, body] of heads) await raw(`DELETE ${flavours}/x HTTP/1.1\r\n{auth}${fields}\r\n${body}`);
    assert.equal(scene.extension.last(`${flavours}/hidden`), undefined);
    await works();
  });

  it('takes its request along when it leaves within the body', async () => {
    let received = 0;
    let isCut = false;
    scene.extension.behaviours.set(`${flavours}/upload`, (request) => {
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      request.once('error', () => undefined);
      request.once('close', () => {
        isCut = !request.complete;
      });
    });
    const socket = await dial(scene.cluster, scene.first);
    socket.on('error', () => undefined);
    socket.write(`POST ${flavours}/upload HTTP/1.1\r\n${head()}Content-Length: 1000\r\n\r\nabc`);
    await eventually(() => received === 3, 'the beginning of the body');
    socket.destroy();
    await eventually(() => isCut, 'the end of the request');
    await works();
  });
});

describe('an extension server', () => {
  it('that lies about the length, or closes within its answer, ends the stream of the client', async () => {
    const path = answerRaw('short', (socket) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nten bytes.');
    });
    await assert.rejects(scene.first.client.get(path));
    const chunked = answerRaw('cut', (socket) => {
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n');
    });
    await assert.rejects(scene.first.client.get(chunked));
    const http2 = await Http2Client.connect(scene.first.url, scene.cluster.pki.authority, tokens.admin);
    await assert.rejects(async () => {
      const answer = await http2.send('GET', chunked);
      assert.equal(answer.status, 0, 'the stream ended as if it were whole');
    });
    await http2.close();
    await works();
  });

  it('gives nobody else more than one answer', async () => {
    const extra = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil';
    const path = answerRaw('double', (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok${extra}`);
    });
    assert.equal((await scene.first.client.get(path)).text, 'ok');
    for (let i = 0; i < 3; i++) assert.equal((await scene.first.client.get(flavours)).body.kind, 'FlavourList');
  });

  const faults: readonly [string, (socket: Socket) => void, number][] = [
    ['closes without an answer', (socket) => socket.destroy(), 503],
    ['never answers', () => undefined, 504],
    ['answers with what is no HTTP', (socket) => socket.end('SSH-2.0-x\r\n\r\n'), 503],
    [
      'sends endless fields',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const more = () => {
          while (!socket.destroyed && socket.write(`x-${'a'.repeat(1000)}: 1\r\n`));
        };
        socket.on('drain', more);
        more();
      },
      503,
    ],
    [
      'floods with informational answers',
      (socket) => {
        const more = () => {
          while (!socket.destroyed && socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)));
        };
        socket.on('drain', more);
        more();
      },
      503,
    ],
    [
      'switches the protocol unasked',
      (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      503,
    ],
    ['answers with a status that there is none', (socket) => socket.end('HTTP/1.1 007 Bond\r\n\r\n'), 503],
  ];
  for (const [title, speak, code] of faults) {
    it(`that ${title} harms the one request`, async () => {
      const path = answerRaw('fault', (socket) => {
        socket.on('error', () => socket.destroy());
        speak(socket);
      });
      const { status, body } = await scene.first.client.get(path);
      assert.deepEqual([status, body.kind], [code, 'Status']);
      await works();
      assert.equal((await scene.first.client.get('/api/v1/namespaces/default')).status, 200);
    });
  }

  it('that is slow takes no seats of others', async () => {
    const path = `${flavours}/slow`;
    const held: ServerResponse[] = [];
    scene.extension.behaviours.set(path, (_request, response) => held.push(response));
    const { cluster } = scene;
    // On a busy machine this many requests may take longer than the time limit of one.
    const patient = await cluster.addServer(undefined, ['--request-timeout=2m']);
    await eventually(async () => (await patient.client.get(flavours)).status === 200, 'the extension server');
    const connect = () => Http2Client.connect(patient.url, cluster.pki.authority, tokens.admin);
    const clients = await Promise.all([connect(), connect(), connect()]);
    const codes: number[] = [];
    const asked = clients
      .flatMap((client) => Array.from({ length: 100 }, () => client))
      .map((client) => {
        const stream = client.open('GET', path);
        stream.on('response', (headers) => codes.push(Number(headers[':status'])));
        stream.on('error', () => undefined);
        stream.resume();
        return stream;
      });
    await eventually(() => codes.length >= 44 && held.length === 256, 'the refusal of what has no seat', 90_000).catch(
      (error: unknown) => assert.fail(`${error}: ${codes.length} answered, ${held.length} held`),
    );
    assert.deepEqual(new Set(codes), new Set([429]));
    const metrics = (await patient.client.get('/metrics')).text;
    assert.match(metrics, /apiserver_current_inflight_requests\{request_kind="readOnly"\} [0-5]\n/);
    assert.equal((await patient.client.get('/api/v1/namespaces')).status, 200);
    for (const stream of asked) stream.close();
    for (const client of clients) await client.close();
    await eventually(async () => (await patient.client.get(flavours)).status === 200, 'the seats to be free');
    cluster.servers.splice(cluster.servers.indexOf(patient), 1);
    await patient.stop();
  });
});

describe('an APIService', () => {
  it('can not lead to addresses that the operator forbids', async () => {
    const { client } = scene.first;
    const service = { namespace: 'default', name: 'metadata' };
    assert.equal(
      (
        await client.post('/api/v1/namespaces/default/services', {
          metadata: { name: 'metadata' },
          spec: { ports: [{ port: 443 }] },
        })
      ).status,
      201,
    );
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const slice = (address: string) => ({
      metadata: { name: 'metadata-1', labels: { 'kubernetes.io/service-name': 'metadata' } },
      addressType: 'IPv4',
      ports: [{ name: '', port: scene.extension.port }],
      endpoints: [{ addresses: [address] }],
    });
    const spec = { group: 'm.example.dev', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service };
    assert.equal((await client.post(apiServices, { metadata: { name: 'v1.m.example.dev' }, spec })).status, 201);
    const conditionWith = (text: string) =>
      eventually(async () => {
        const { body } = await client.get(`${apiServices}/v1.m.example.dev`);
        const [condition] = body.status?.conditions ?? [];
        return condition?.message.includes(text) ? condition : undefined;
      }, text);
    assert.equal((await conditionWith('cannot find endpointslices for service/metadata')).reason, 'EndpointsNotFound');
    const made = await client.post(slices, { ...slice('192.0.2.1'), endpoints: [] });
    assert.equal(made.status, 201, made.text);
    const { reason } = await conditionWith('endpointslices for service/metadata in "default" have no addresses');
    assert.equal(reason, 'MissingEndpoints');
  });

  it('can not take the core group away, and others only until the loop starts again', async () => {
    const { client } = scene.first;
    const remote = { spec: { service: { namespace: 'extensions', name: 'flavours' }, insecureSkipTLSVerify: true } };
    await eventually(async () => (await client.get(`${apiServices}/v1.`)).status === 200, 'the APIService of the core');
    assert.equal((await client.patch(`${apiServices}/v1.`, 'merge', remote)).status, 200);
    await eventually(
      async () => (await client.get(`${apiServices}/v1.`)).body.status.conditions[0].reason !== 'Local',
      'the check',
    );
    assert.equal((await client.get('/api/v1/namespaces/default')).status, 200);
    assert.equal(scene.extension.last('/api/v1/namespaces/default'), undefined);
  });

  it('is not for everybody to write', async () => {
    const body = {
      metadata: { name: `v2.${group}` },
      spec: { group, version: 'v2', groupPriorityMinimum: 1, versionPriority: 1 },
    };
    assert.equal((await scene.first.client.post(apiServices, body, { token: tokens.bob })).status, 403);
  });
});

it('a stop ends watches and tunnels, and nothing else goes on', async () => {
  const watch = await scene.first.client.watch(`${flavours}?watch=1`);
  await eventually(() => scene.extension.openWatches > 0, 'the watch');
  const exit = once(scene.first.process, 'exit');
  scene.first.process.kill('SIGTERM');
  assert.equal(await watch.next(60_000), undefined);
  assert.deepEqual(await exit, [0, null]);
  await eventually(() => scene.extension.openWatches === 0, 'the end of the watch');
});
