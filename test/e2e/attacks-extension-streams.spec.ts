import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { dial } from './support/connections.js';
import { ExtensionScene } from './support/extension-scene.js';
import { groupPath } from './support/extension-server.js';
import { Http2Client } from './support/http2-client.js';
import { memoryOf, memoryReporting } from './support/memory-report.js';
import { eventually, type TestServer, tokens } from './support/test-cluster.js';

/** Many, long, endless and broken streams between clients and an extension server. */

const flavours = `${groupPath}/namespaces/default/flavours`;
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const megabyte = 1024 * 1024;
let scene: ExtensionScene;
/** A server with a time limit that is short enough for tests. */
let hurried: TestServer;

before(async () => {
  await memoryReporting(async () => {
    scene = await ExtensionScene.start([], 1);
    hurried = await scene.cluster.addServer(undefined, ['--request-timeout=4s']);
  });
  await scene.register();
});
after(() => scene.stop());

const connect = () => Http2Client.connect(scene.first.url, scene.cluster.pki.authority, tokens.admin);
const works = async () => assert.equal((await scene.first.client.get(flavours)).status, 200);
const head = (server = scene.first) => `Host: ${new URL(server.url).host}\r\nAuthorization: Bearer ${tokens.admin}\r\n`;

/** Writes without end, at the pace of the reader. Returns the number of bytes taken. */
function endless(response: ServerResponse, piece: Buffer): { bytes: number } {
  const state = { bytes: 0 };
  const more = () => {
    while (!response.destroyed) {
      state.bytes += piece.length;
      if (!response.write(piece)) break;
    }
  };
  response.on('drain', more);
  more();
  return state;
}

/** Resolves with the number once it no longer grows. */
async function settled(read: () => number): Promise<number> {
  let [last, since] = [read(), Date.now()];
  await eventually(() => {
    const now = read();
    if (now !== last) [last, since] = [now, Date.now()];
    return now > 0 && Date.now() - since > 1000;
  }, 'no more bytes to be taken');
  return last;
}

it('a thousand watches get an event each, and their end is passed on', async () => {
  const clients = await Promise.all(Array.from({ length: 5 }, connect));
  let events = 0;
  // Each has a connection of its own to the extension server, which takes a busy machine a while.
  for (let opened = 0; opened < 1000; opened += 100) {
    for (let i = 0; i < 100; i++) {
      const stream = (clients[i % clients.length] as Http2Client).open('GET', `${flavours}?watch=1`);
      stream.on('error', () => undefined);
      stream.on('data', (chunk: Buffer) => {
        events += chunk.toString('utf8').split('\n').length - 1;
      });
    }
    await eventually(() => scene.extension.openWatches === opened + 100, `${opened + 100} watches`);
  }
  await scene.first.client.post(flavours, { metadata: { name: 'seen' } });
  await eventually(() => events === 1000, 'all events', 30_000);
  await works();
  for (const client of clients) await client.close();
  await eventually(() => scene.extension.openWatches === 0, 'the end of all watches');
});

describe('a client', () => {
  it('that reads nothing holds up the server behind, and takes no memory', async () => {
    const path = `${flavours}/endless`;
    const states: { bytes: number }[] = [];
    scene.extension.behaviours.set(path, (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      states.push(endless(response, Buffer.alloc(64 * 1024, 'x')));
    });
    const before = await memoryOf(scene.first);
    const sockets = await Promise.all(Array.from({ length: 10 }, () => dial(scene.cluster, scene.first)));
    for (const socket of sockets) socket.write(`GET ${path}?watch=1 HTTP/1.1\r\n${head()}\r\n`);
    const sent = await settled(() => (states.length < 10 ? 0 : states.reduce((sum, { bytes }) => sum + bytes, 0)));
    // Most of the bytes are those that fit into the kernel's buffers.
    assert.ok(sent < 10 * 16 * megabyte, `${sent} bytes were taken`);
    const { retained } = await memoryOf(scene.first);
    assert.ok(retained - before.retained < 16 * megabyte, `${retained - before.retained} bytes are held`);
    for (const socket of sockets) socket.destroy();
    await works();
  });

  it('that sends without end is held up by a server that reads nothing, as long as its time lasts', async () => {
    const path = `${flavours}/deaf`;
    scene.extension.behaviours.set(path, (request) => {
      request.pause();
      request.on('error', () => undefined);
    });
    const before = await memoryOf(hurried);
    const socket = await dial(scene.cluster, hurried);
    socket.on('error', () => undefined);
    socket.write(`POST ${path} HTTP/1.1\r\n${head(hurried)}Transfer-Encoding: chunked\r\n\r\n`);
    const piece = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
    const more = () => {
      while (!socket.destroyed && socket.write(piece));
    };
    socket.on('drain', more);
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    more();
    const sent = await settled(() => socket.bytesWritten);
    assert.ok(sent < 32 * megabyte, `${sent} bytes were taken`);
    const { retained } = await memoryOf(hurried);
    assert.ok(retained - before.retained < 8 * megabyte, `${retained - before.retained} bytes are held`);
    await eventually(() => text.startsWith('HTTP/1.1 504 '), 'the end of its time');
    socket.destroy();
    await works();
  });

  it('that sends more right behind an upgrade talks to the extension server, with no request here', async () => {
    const hidden = `GET /api/v1/namespaces/default HTTP/1.1\r\n${head()}\r\n`;
    const fields = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';
    const answerTo = async (path: string) => {
      const socket = await dial(scene.cluster, scene.first);
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      socket.write(`GET ${path} HTTP/1.1\r\n${head()}${fields}\r\n${hidden}`);
      await eventually(() => text.includes('\r\n\r\n') && (text.includes('/default HTTP') || socket.destroyed), 'it');
      socket.destroy();
      await closed;
      return text;
    };
    const echoed = await answerTo(`${flavours}/sweet/taste`);
    assert.match(echoed, /^HTTP\/1\.1 101 /);
    assert.ok(echoed.endsWith(hidden), echoed);
    // A refused upgrade ends the connection: the bytes after it belong to another protocol.
    const refused = await answerTo(`${flavours}/sweet`);
    assert.match(refused, /^HTTP\/1\.1 400 /);
    assert.equal(refused.match(/HTTP\/1\.1 \d/g)?.length, 1, refused);
  });
});

describe('an answer without a body', () => {
  const cases: readonly [string, string, number, Record<string, string>][] = [
    ['DELETE', '204', 204, {}],
    ['GET', '304', 304, { etag: '"a"' }],
    ['GET', '205', 205, { 'content-length': '0' }],
    ['HEAD', 'a length', 200, { 'content-length': '12345', 'content-type': 'text/plain' }],
    ['HEAD', 'no length', 404, { 'content-type': 'text/plain' }],
  ];
  for (const [method, what, code, fields] of cases) {
    it(`${method}: ${what} leaves the connection to the next request`, async () => {
      const path = `${flavours}/empty`;
      scene.extension.behaviours.set(path, (_request, response) => response.writeHead(code, fields).end());
      const http2 = await connect();
      const { status, headers, body } = await http2.send(method, path);
      assert.deepEqual([status, body.length], [code, 0]);
      for (const [name, value] of Object.entries(fields)) assert.equal(headers[name], value, name);
      await http2.close();
      const socket = await dial(scene.cluster, scene.first);
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
      });
      socket.write(`${method} ${path} HTTP/1.1\r\n${head()}\r\n`);
      socket.write(`GET ${flavours} HTTP/1.1\r\n${head()}\r\n`);
      await eventually(() => text.includes('FlavourList'), 'the second answer').catch(() => assert.fail(text));
      assert.deepEqual(
        [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, found]) => Number(found)),
        [code, 200],
      );
      socket.destroy();
    });
  }
});

describe('an extension server', () => {
  it('with endless documents delays no document of this server', async () => {
    const { extension, first } = scene;
    const sizes: { bytes: number }[] = [];
    const piece = Buffer.from(`"${'x'.repeat(64 * 1024)}",`);
    for (const path of ['/openapi/v2', '/openapi/v3', groupPath]) {
      extension.behaviours.set(path, (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"resources":[');
        sizes.push(endless(response, piece));
      });
    }
    // Another APIService of the same server knows none of its documents yet.
    const name = 'v2.flavours.example.dev';
    extension.behaviours.set('/apis/flavours.example.dev/v2', (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      sizes.push(endless(response, piece));
    });
    const { spec } = (await first.client.get(`${apiServices}/v1.flavours.example.dev`)).body;
    await first.client.post(apiServices, { metadata: { name }, spec: { ...spec, version: 'v2' } });
    await eventually(
      async () =>
        (await first.client.get(`${apiServices}/${name}`)).body.status?.conditions?.[0]?.status === 'True' &&
        (await first.client.get('/apis/flavours.example.dev')).body.versions.length === 2,
      'the other version',
    );
    const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    for (let round = 0; round < 3; round++) {
      for (const path of ['/openapi/v2', '/openapi/v3', '/apis']) {
        const headers = { accept: path === '/apis' ? aggregated : '*/*' };
        assert.equal((await first.client.get(path, { headers })).status, 200, path);
      }
    }
    await settled(() => sizes.reduce((sum, { bytes }) => sum + bytes, 0));
    // A document, or the response to a check, is given up after 4 MiB; the kernel's buffers may hold ten times that.
    for (const { bytes } of sizes) assert.ok(bytes < 64 * megabyte, `${bytes} bytes were read`);
    for (const path of ['/openapi/v2', '/openapi/v3', groupPath]) extension.behaviours.delete(path);
    await first.client.delete(`${apiServices}/${name}`);
    await works();
  });

  it('that restarts is used again at once, and harms only what was under way', async () => {
    const { extension, first } = scene;
    const codes = new Map<number, number>();
    let isOver = false;
    /** Refusals of requests that began while the server was there. */
    let late = 0;
    let isBack = true;
    const connections = extension.connections - extension.sockets.size;
    const load = async () => {
      while (!isOver) {
        const wasBack = isBack;
        const { status } = await first.client.get(flavours);
        codes.set(status, (codes.get(status) ?? 0) + 1);
        if (wasBack && isBack && status !== 200) late++;
      }
    };
    const running = Promise.all([load(), load(), load(), load()]);
    const count = () => [...codes.values()].reduce((sum, n) => sum + n, 0);
    for (let i = 0; i < 10; i++) {
      isBack = false;
      await extension.restart();
      isBack = true;
      const seen = count();
      await eventually(() => count() >= seen + 20, 'further answers');
    }
    // Each of the earlier connections may break during one request.
    const lost = extension.connections - connections;
    assert.ok(late <= lost, `${late} refusals afterwards for ${lost} connections`);
    // The certificates change while the server runs, and connections end one by one.
    for (const socket of [...extension.sockets]) socket.destroy();
    isOver = true;
    await running;
    assert.ok(
      [...codes.keys()].every((code) => code === 200 || code === 503),
      JSON.stringify([...codes]),
    );
    for (let i = 0; i < 20; i++) await works();
  });
});

describe('an APIService', () => {
  const name = `${apiServices}/v1.flavours.example.dev`;

  it('that flaps stands as it was written last, and others go on', async () => {
    const { client } = scene.first;
    for (let i = 0; i < 20; i++) {
      const service = { name: i % 2 === 0 ? 'absent' : 'flavours' };
      assert.equal((await client.patch(name, 'merge', { spec: { service } })).status, 200);
      assert.ok([200, 503].includes((await client.get(flavours)).status));
      assert.equal((await client.get('/apis')).status, 200);
    }
    await scene.whenAvailable('True');
  });

  it('and a definition of the same group version: the APIService counts while it is there', async () => {
    const { client } = scene.first;
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const definition = {
      metadata: { name: 'toppings.flavours.example.dev' },
      spec: {
        group: 'flavours.example.dev',
        scope: 'Namespaced',
        names: { plural: 'toppings', kind: 'Topping' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    };
    const made = await client.post(definitions, definition);
    assert.equal(made.status, 201, made.text);
    await eventually(async () => {
      const { body } = await client.get(`${definitions}/toppings.flavours.example.dev`);
      return body.status?.conditions?.some(
        ({ type, status }: { type: string; status: string }) => type === 'Established' && status === 'True',
      );
    }, 'the definition');
    const toppings = `${groupPath}/namespaces/default/toppings`;
    assert.equal((await client.get(toppings)).body.message, 'no such path');
    await works();
    assert.equal((await client.delete(name)).status, 200);
    // A control loop creates a local APIService in its place.
    await eventually(
      async () => (await client.get(toppings)).body.kind === 'ToppingList',
      'the kind of the definition',
    );
    await eventually(async () => {
      const { status, body } = await client.get(name);
      return status === 200 && body.status?.conditions?.[0]?.reason === 'Local';
    }, 'the local APIService');
    assert.equal((await client.get(flavours)).status, 404);
    // To give the group away again, the label that names its manager must be removed.
    const service = { namespace: 'extensions', name: 'flavours' };
    const spec = { service, caBundle: scene.extension.caBundle };
    await client.patch(name, 'merge', { spec });
    await eventually(async () => (await client.get(name)).body.spec.service === undefined, 'the correction');
    const { 'kube-aggregator.kubernetes.io/automanaged': label } = (await client.get(name)).body.metadata.labels;
    assert.equal(label, 'true');
    const labels = { 'kube-aggregator.kubernetes.io/automanaged': null };
    await client.patch(name, 'merge', { metadata: { labels }, spec });
    await eventually(async () => (await client.get(flavours)).status === 200, 'the extension server');
    await client.delete(`${definitions}/toppings.flavours.example.dev`);
    await works();
  });
});
