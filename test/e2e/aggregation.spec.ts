import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { WebSocket } from 'ws';
import { replaceFile } from '../support/replace-file.js';
import { TestIdentity } from '../support/test-authority.js';
import { ExtensionScene } from './support/extension-scene.js';
import { group, groupPath } from './support/extension-server.js';
import { Http2Client } from './support/http2-client.js';
import { eventually, type TestServer, tokens } from './support/test-cluster.js';

const flavours = `${groupPath}/namespaces/default/flavours`;
let scene: ExtensionScene;
/** A server with a time limit that is short enough for tests. */
let hurried: TestServer;

before(async () => {
  scene = await ExtensionScene.start(['--authorization-mode=RBAC']);
  hurried = await scene.cluster.addServer(undefined, ['--request-timeout=3s']);
  await scene.register();
});
after(() => scene.stop());

describe('requests for the group version of an extension server', () => {
  it('reach it through every process, with the identity of the user and nothing else of the client', async () => {
    const { extension, first, second } = scene;
    assert.equal((await first.client.post(flavours, { metadata: { name: 'sweet' } })).status, 201);
    const { status, body } = await second.client.get(`${flavours}/sweet?pretty=false&x=a%20b`, {
      headers: {
        'X-Remote-User': 'somebody',
        'x-REMOTE-group': 'system:nodes',
        'X-Remote-Extra-Scopes': 'all',
        X_Remote_User: 'somebody',
        'X-Remote-Uid': '1',
        'Keep-Alive': 'timeout=9',
        'X-Forwarded-For': '192.0.2.1',
        'X-Own': 'kept',
        Connection: 'X-Own-Hop, keep-alive',
        'X-Own-Hop': 'dropped',
      },
    });
    assert.equal(status, 200);
    assert.equal(body.metadata.name, 'sweet');
    const { headers, url, caller } = extension.last(`${flavours}/sweet`) ?? assert.fail('it did not arrive');
    assert.equal(url, `${flavours}/sweet?pretty=false&x=a%20b`);
    assert.equal(caller, 'front-proxy');
    assert.equal(headers.host, 'flavours.extensions.svc');
    assert.equal(headers['x-remote-user'], 'admin');
    assert.equal(headers['x-remote-uid'], 'admin-uid');
    assert.equal(headers['x-remote-group'], 'system:masters, system:authenticated');
    assert.equal(headers['x-own'], 'kept');
    assert.equal(headers['x-forwarded-for'], '192.0.2.1, 127.0.0.1');
    for (const name of ['authorization', 'x-own-hop', 'x-remote-extra-scopes', 'x_remote_user', 'keep-alive']) {
      assert.equal(headers[name], undefined, name);
    }
  });

  it('are sent as the impersonated user', async () => {
    const { status } = await scene.first.client.get(flavours, {
      headers: {
        'Impersonate-User': Buffer.from('jörg').toString('latin1'),
        'Impersonate-Group': 'system:masters',
        'Impersonate-Extra-Acme%2FTeam': 'blue',
      },
    });
    assert.equal(status, 200);
    const { headers } = scene.extension.last(flavours) ?? assert.fail('it did not arrive');
    assert.equal(Buffer.from(String(headers['x-remote-user']), 'latin1').toString('utf8'), 'jörg');
    assert.equal(headers['x-remote-extra-acme%2fteam'], 'blue');
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith('impersonate')),
      [],
    );
  });

  it('are authorized first', async () => {
    const before = scene.extension.arrived.length;
    const { status, body } = await scene.first.client.get(flavours, { token: tokens.bob });
    assert.equal(status, 403);
    assert.match(body.message, /flavours.flavours.example.dev is forbidden: User "bob" cannot list resource/);
    assert.equal(scene.extension.arrived.length, before);
  });

  it('use few connections', async () => {
    const before = scene.extension.connections;
    for (let i = 0; i < 20; i++) assert.equal((await scene.first.client.get(flavours)).status, 200);
    // Four processes check the server meanwhile, each over connections of its own.
    assert.ok(scene.extension.connections - before <= 8, `${scene.extension.connections - before} connections`);
  });

  it('and their answers are streamed, however long', async () => {
    const { extension, first } = scene;
    let received = 0;
    extension.behaviours.set(`${flavours}/stream`, (request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      request.on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (!response.write(chunk)) request.pause();
      });
      response.on('drain', () => request.resume());
      request.once('end', () => response.end());
    });
    const http2 = await Http2Client.connect(first.url, scene.cluster.pki.authority, tokens.admin);
    try {
      const stream = http2.open('POST', `${flavours}/stream`, { 'content-type': 'text/plain' }, false);
      let answered = 0;
      stream.on('data', (chunk: Buffer) => {
        answered += chunk.length;
      });
      const ended = once(stream, 'end');
      const piece = Buffer.alloc(1024 * 1024, 'x');
      // Twice the limit of bodies that this server itself reads.
      for (let i = 0; i < 6; i++) {
        stream.write(piece);
        await eventually(() => answered === (i + 1) * piece.length, 'the answer to what was sent');
      }
      stream.end();
      await ended;
      assert.equal(received, 6 * piece.length);
    } finally {
      await http2.close();
      extension.behaviours.delete(`${flavours}/stream`);
    }
  });

  it('may watch: events come at once, no time limit applies, and the end of the client is passed on', async () => {
    const { extension, second } = scene;
    const watch = await hurried.client.watch(`${flavours}?watch=1`);
    await eventually(() => extension.openWatches === 1, 'the watch');
    await new Promise((resolve) => setTimeout(resolve, 3500));
    await second.client.post(flavours, { metadata: { name: 'sour' } });
    const event = await watch.next();
    assert.equal(event?.object.metadata.name, 'sour');
    const metrics = (await hurried.client.get('/metrics')).text.split('\n');
    const labels =
      'verb="WATCH",group="flavours.example.dev",version="v1",resource="",subresource="",scope="namespace"';
    assert.ok(metrics.includes(`apiserver_longrunning_requests{${labels},component="apiserver"} 1`));
    watch.close();
    await eventually(() => extension.openWatches === 0, 'the end of the watch');
  });

  it('are answered 504 when the server does not answer in time', async () => {
    scene.extension.behaviours.set(`${flavours}/slow`, () => undefined);
    const { status, body } = await hurried.client.get(`${flavours}/slow`);
    assert.equal(status, 504);
    assert.equal(body.reason, 'Timeout');
  });

  it('follow no redirect', async () => {
    scene.extension.behaviours.set(`${flavours}/moved`, (_request, response) => {
      response.writeHead(302, { location: 'https://elsewhere.example/' }).end();
    });
    const { status, body } = await scene.first.client.get(`${flavours}/moved`);
    assert.equal(status, 502);
    assert.match(body.message, /attempted to redirect this request, which is not permitted/);
  });
});

describe('owners that an extension server keeps', () => {
  const maps = '/api/v1/namespaces/default/configmaps';
  const ownedBy = async (name: string, owner: string, fields: object = {}) => {
    const reference = { apiVersion: `${group}/v1`, kind: 'Flavour', name: owner, uid: `${owner}-uid`, ...fields };
    const answer = await scene.first.client.post(maps, { metadata: { name, ownerReferences: [reference] } });
    assert.equal(answer.status, 201, answer.text);
  };

  it('are asked for: dependents go when it says that there is no such owner, and not before', async () => {
    const { extension, first } = scene;
    const { client } = first;
    const there = await client.post(flavours, { metadata: { name: 'owner', uid: 'owner-uid' } });
    assert.equal(there.status, 201, there.text);
    const notFound = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 };
    const say = (name: string, status: number, body: object) =>
      extension.behaviours.set(`${flavours}/${name}`, (_request, response) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    say('lost', 404, notFound);
    say('elsewhere', 404, { message: 'no such path' });
    say('failing', 500, notFound);
    await ownedBy('kept', 'owner');
    await ownedBy('of-elsewhere', 'elsewhere');
    await ownedBy('of-failing', 'failing');
    await ownedBy('of-unknown-kind', 'owner', { kind: 'Taste' });
    await ownedBy('of-another', 'owner', { uid: 'another-uid' });
    await ownedBy('of-lost', 'lost');
    for (const name of ['of-another', 'of-lost']) {
      await eventually(async () => (await client.get(`${maps}/${name}`)).status === 404, `the end of ${name}`);
    }
    for (const name of ['kept', 'of-elsewhere', 'of-failing', 'of-unknown-kind']) {
      assert.equal((await client.get(`${maps}/${name}`)).status, 200, name);
    }
    const { headers } = extension.last(`${flavours}/owner`) ?? assert.fail('it was not asked');
    assert.match(String(headers['x-remote-user']), /:generic-garbage-collector$/);
    extension.behaviours.clear();
  });
});

describe('upgrades', () => {
  const taste = `${flavours}/sweet/taste`;

  it('are tunnelled over WebSocket, without the token that may be among its protocols', async () => {
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from(tokens.admin).toString('base64url')}`;
    const socket = new WebSocket(`${scene.first.url.replace('https', 'wss')}${taste}`, [token, 'v5.channel.k8s.io'], {
      ca: scene.cluster.pki.authority,
    });
    await once(socket, 'open');
    assert.equal(socket.protocol, 'v5.channel.k8s.io');
    // The other side echoes bytes, so a masked frame comes back, which no server may send.
    const failed = once(socket, 'error');
    socket.send('hello');
    assert.match(String((await failed)[0]), /MASK must be clear/);
    const { headers } = scene.extension.last(taste) ?? assert.fail('it did not arrive');
    assert.equal(headers['sec-websocket-protocol'], 'v5.channel.k8s.io');
    assert.equal(headers.authorization, undefined);
    assert.equal(headers['x-remote-user'], 'admin');
  });

  it('are tunnelled for any other protocol, also with a POST, and last', async () => {
    const { hostname, port } = new URL(hurried.url);
    const socket = connect({
      host: hostname,
      port: Number(port),
      ca: scene.cluster.pki.authority,
      ALPNProtocols: ['http/1.1'],
    });
    await once(socket, 'secureConnect');
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
    });
    const head = [
      `POST ${taste}?stdin=true HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${tokens.admin}`,
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'Content-Length: 0',
      'X-Stream-Protocol-Version: v4.channel.k8s.io',
    ];
    // The first bytes of the other protocol come with the request.
    socket.write(`${head.join('\r\n')}\r\n\r\nearly`);
    await eventually(() => text.endsWith('early'), 'the echo of the first bytes');
    assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
    assert.match(text, /\r\nupgrade: SPDY\/3\.1\r\n/i);
    await new Promise((resolve) => setTimeout(resolve, 3500));
    const big = 'y'.repeat(2_000_000);
    text = '';
    socket.write(big);
    await eventually(() => text.length === big.length, 'the echo of many bytes');
    const before = scene.extension.sockets.size;
    socket.destroy();
    await eventually(() => scene.extension.sockets.size < before, 'the end of the tunnel');
  });

  it('are refused with the answer of the server, and after the guards', async () => {
    const ask = (path: string, token: string) =>
      new Promise<number>((resolve, reject) => {
        const request = httpsRequest(`${scene.first.url}${path}`, {
          ca: scene.cluster.pki.authority,
          headers: { authorization: `Bearer ${token}`, connection: 'Upgrade', upgrade: 'SPDY/3.1' },
        });
        request.once('response', (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        });
        request.once('upgrade', (_response, socket) => {
          socket.destroy();
          resolve(101);
        });
        request.once('error', reject);
        request.end();
      });
    assert.equal(await ask(`${flavours}/sweet`, tokens.admin), 400);
    assert.equal(await ask(taste, tokens.bob), 403);
    assert.equal(await ask(taste, tokens.admin), 101);
  });
});

describe('the connection to the server', () => {
  const apiService = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`;

  it('is refused when its certificate is not from the bundle', async () => {
    const other = Buffer.from((await TestIdentity.root('other')).cert).toString('base64');
    await scene.first.client.patch(apiService, 'merge', { spec: { caBundle: other } });
    const { reason, message } = await scene.whenAvailable('False');
    assert.equal(reason, 'FailedDiscoveryCheck');
    assert.match(
      message,
      /failing or missing response from https:\/\/flavours.extensions.svc\/apis.*x509: certificate/,
    );
    // Until the other process knows the condition, its own check of the certificate fails.
    await eventually(async () => {
      const { status, body } = await scene.second.client.get(flavours);
      assert.deepEqual([status, body.reason], [503, 'ServiceUnavailable']);
      return body.message === 'service unavailable';
    }, 'the other process knows as well');
    await scene.first.client.patch(apiService, 'merge', { spec: { caBundle: null, insecureSkipTLSVerify: true } });
    await scene.whenAvailable('True');
    await scene.first.client.patch(apiService, 'merge', {
      spec: { caBundle: scene.extension.caBundle, insecureSkipTLSVerify: false },
    });
    await scene.whenAvailable('True');
  });

  it('is made to the service by its name only', async () => {
    const patch = (name: string) => scene.first.client.patch(apiService, 'merge', { spec: { service: { name } } });
    await patch('absent');
    assert.deepEqual(await scene.whenAvailable('False').then(({ reason, message }) => [reason, message]), [
      'ServiceNotFound',
      'service/absent in "extensions" is not present',
    ]);
    await patch('flavours');
    await scene.whenAvailable('True');
  });

  it('shows a changed certificate', async () => {
    const renewed = await scene.proxies.issue({ subject: [{ CN: ['renewed'] }] });
    replaceFile(scene.keyFile, renewed.key);
    replaceFile(scene.certificateFile, renewed.chain);
    await eventually(async () => {
      await scene.first.client.get(flavours);
      return scene.extension.last(flavours)?.caller === 'renewed';
    }, 'the new certificate');
  });
});
