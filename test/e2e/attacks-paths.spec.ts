import assert from 'node:assert/strict';
import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { AttackScene } from './support/attack-scene.js';
import { send } from './support/raw-http.js';
import { type TestCluster, tokens } from './support/test-cluster.js';

const value = 'c2VjcmV0LXZhbHVl';
const { alice } = tokens;

let scene: AttackScene;
let cluster: TestCluster;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Stands for the code when there is no response. */
const reset = 0;
/** How long the server may be silent. */
const patienceMs = 30_000;

/** One request with exactly this method and target. */
function http1(method: string, target: string, fields = '', body = ''): Promise<Answer> {
  const length = body === '' ? '' : `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const request = `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${alice}\r\n${fields}${length}\r\n${body}`;
  // The server closes the connection, which may take a while on a busy machine.
  return send(cluster.first.url, cluster.pki.authority, [request], patienceMs);
}

async function http2(headers: OutgoingHttpHeaders): Promise<Answer> {
  const session = connectHttp2(cluster.first.url, { ca: cluster.pki.authority });
  session.on('error', () => undefined);
  try {
    const stream = session.request({ authorization: `Bearer ${alice}`, ...headers });
    let status = 0;
    stream.on('response', (answer) => {
      status = Number(answer[':status']);
    });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { status, body: Buffer.concat(chunks).toString('utf8') };
  } catch (error) {
    // The stream was reset: a request that the protocol itself forbids gets no response.
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP2_STREAM_ERROR') return { status: reset, body: '' };
    throw error;
  } finally {
    session.destroy();
  }
}

before(async () => {
  scene = await AttackScene.start();
  cluster = scene.cluster;
  for (const name of ['a', 'b']) {
    await scene.make('/api/v1/namespaces', { metadata: { name } });
    for (const secret of ['open', 'closed']) {
      await scene.make(`/api/v1/namespaces/${name}/secrets`, { metadata: { name: secret }, data: { key: value } });
    }
  }
  // Alice reads one secret of one namespace, everything of the namespace's ConfigMaps, and the paths of discovery.
  const rules = [
    { verbs: ['get', 'list', 'watch', 'delete'], apiGroups: [''], resources: ['secrets'], resourceNames: ['open'] },
    { verbs: ['*'], apiGroups: [''], resources: ['configmaps'] },
  ];
  await scene.grant('one', 'alice', rules, 'a');
  await scene.mayRead('/api/v1/namespaces/a/secrets/open', alice);
});
after(() => scene?.stop());

/** Spellings of a path to a secret `NAME` that alice may not read. */
const disguises: readonly string[] = [
  '/api/v1/namespaces/a/secrets/NAME',
  '/api/v1/namespaces/a/secrets/NAME/',
  '/api/v1/namespaces/a/secrets/NAME//',
  '/api/v1/namespaces/a/secrets//NAME',
  '/api/v1//namespaces/a/secrets/NAME',
  '//api/v1/namespaces/a/secrets/NAME',
  '///api/v1/namespaces/a/secrets/NAME',
  '/api//v1/namespaces/a/secrets/NAME',
  '/./api/v1/namespaces/a/secrets/NAME',
  '/api/v1/./namespaces/a/secrets/NAME',
  '/api/v1/../v1/namespaces/a/secrets/NAME',
  '/api/../api/v1/namespaces/a/secrets/NAME',
  '/apis/../api/v1/namespaces/a/secrets/NAME',
  '/openapi/../api/v1/namespaces/a/secrets/NAME',
  '/healthz/../api/v1/namespaces/a/secrets/NAME',
  '/healthz/%2e%2e/api/v1/namespaces/a/secrets/NAME',
  '/healthz/..%2fapi/v1/namespaces/a/secrets/NAME',
  '/api/v1/namespaces/a/secrets/open/../NAME',
  '/api/v1/namespaces/a/secrets/open/%2e%2e/NAME',
  '/api/v1/namespaces/a/secrets/open%2f..%2fNAME',
  '/api/v1/namespaces/a/secrets/open%2F%2E%2E%2FNAME',
  '/api/v1/namespaces/a/secrets/open%252f..%252fNAME',
  '/api/v1/namespaces/a/secrets/%2e%2e/secrets/NAME',
  '/api/v1/namespaces/a/secrets/%2e%2e/NAME',
  '/api/v1/namespaces/a/secrets/%2e/NAME',
  '/api/v1/namespaces/a/configmaps/../secrets/NAME',
  '/api/v1/namespaces/a/configmaps/%2e%2e/secrets/NAME',
  '/api/v1/namespaces/a/configmaps/x/../../secrets/NAME',
  '/api/v1/namespaces/a/configmaps%2f..%2fsecrets/NAME',
  '/api/v1/namespaces/a/configmaps%00/../secrets/NAME',
  '/api/v1/namespaces/a%2f..%2fb/secrets/NAME',
  '/api/v1/namespaces/a/../b/secrets/NAME',
  '/api/v1/namespaces/a/../b/secrets/open?NAME',
  '/api/v1/namespaces/b/secrets/NAME',
  '/api/v1/namespaces/a;x/secrets/NAME',
  '/api/v1/namespaces/a/secrets;x/NAME',
  '/api/v1/namespaces/a/secrets/NAME;x',
  '/api/v1/namespaces/a/secrets/NAME.',
  '/api/v1/namespaces/a/secrets./NAME',
  '/api/v1/namespaces/a/secrets/NAME%00',
  '/api/v1/namespaces/a/secrets/NAME%20',
  '/api/v1/namespaces/a/secrets/%20NAME',
  '/api/v1/namespaces/a/secrets/NAME%0d%0a',
  '/api/v1/namespaces/a/secrets/NAME%09',
  '/api/v1/namespaces/a/secrets/NAME#open',
  '/api/v1/namespaces/a/secrets/open#/../NAME',
  '/api/v1/namespaces/a/secrets/NAME?name=open',
  '/api/v1/namespaces/a/secrets/NAME?resource=configmaps&verb=get',
  '/api/v1/namespaces/a/secrets/NAME?fieldSelector=metadata.name%3Dopen',
  '/api/v1/namespaces/a/secrets/NAME/status',
  '/api/v1/namespaces/a/SECRETS/NAME',
  '/API/v1/namespaces/a/secrets/NAME',
  '/api/V1/namespaces/a/secrets/NAME',
  '/api/v1/Namespaces/a/secrets/NAME',
  '/%61pi/v1/namespaces/a/secrets/NAME',
  '/api/%76%31/namespaces/a/%73ecrets/NAME',
  '/api%2fv1/namespaces/a/secrets/NAME',
  '/api%2fv1%2fnamespaces%2fa%2fsecrets%2fNAME',
  '\\api\\v1\\namespaces\\a\\secrets\\NAME',
  '/api/v1\\..\\v1/namespaces/a/secrets/NAME',
  '/api/v1/namespaces/a/secrets/%c0%af%c0%ae%c0%ae/NAME',
  '/api/v1/namespaces/a/secrets/NAME%c0%80',
  '/api/v1/namespaces/a/secrets/%zz/NAME',
  '/api/v1/namespaces/a/secrets/%u002e%u002e/NAME',
  '/api/v1/watch/namespaces/a/secrets/NAME',
  '/api/v1/watch/secrets',
  '/api/v1/proxy/namespaces/a/secrets/NAME',
  '/api/v1/redirect/namespaces/a/secrets/NAME',
  '/api/v1/watch/watch/namespaces/a/secrets/NAME',
  '/api/v1/namespaces/a/namespaces/b/secrets/NAME',
  '/api/v1/namespaces/a/status/../secrets/NAME',
  '/apis//v1/namespaces/a/secrets/NAME',
  '/apis/core/v1/namespaces/a/secrets/NAME',
  '/apis/%20/v1/namespaces/a/secrets/NAME',
  '/apis/./v1/namespaces/a/secrets/NAME',
  '/api/v1/secrets/NAME',
  '/api/v1/secrets',
  '/api/v1/secrets?fieldSelector=metadata.name%3Dopen',
  '/api/v1/namespaces/a/secrets',
  '/api/v1/namespaces/a/secrets?',
  '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3DNAME',
  '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%21%3Dopen',
  '/api/v1/namespaces/a/secrets?fieldSelector=&fieldSelector=metadata.name%3Dopen',
  '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3D',
  '/api/v1/namespaces/a/secrets?fieldselector=metadata.name%3Dopen',
  '/api/v1/namespaces/a/secrets?fieldSelector=metadata.namespace%3Dopen',
  '/api/v1/namespaces/a/secrets?labelSelector=metadata.name%3Dopen',
  '/api/v1/namespaces/a/secrets?watch=true',
  '/api/v1/namespaces/a/secrets?watch=true&fieldSelector=metadata.name%3DNAME',
  '/api/v1/namespaces/a/secrets?watch=false&watch=true',
  'https://x/api/v1/namespaces/a/secrets/NAME',
  'http://x/api/v1/namespaces/a/secrets/NAME',
  'https://x@y/healthz/../api/v1/namespaces/a/secrets/NAME',
  'HTTPS://x/api/v1/namespaces/a/secrets/NAME',
  '/healthz?/../api/v1/namespaces/a/secrets/NAME',
];

/** Responses of a public path, which contain nothing of the secret. */
const publicPath = (disguise: string) => disguise.startsWith('/healthz?');

function judge(disguise: string, { status, body }: Answer): void {
  assert.ok(!body.includes(value), `${disguise} gave the secret away`);
  if (publicPath(disguise) || status === reset) return;
  assert.ok([400, 403, 404].includes(status), `${disguise}: ${status} ${body.slice(0, 200)}`);
  // Not a path of the API.
  if (status === 404 && body === '404 page not found\n') return;
  assert.match(body, /"kind":"Status"/, disguise);
  assert.match(body, /"message":"[^"]+/, disguise);
}

for (const http of [1, 2] as const) {
  describe(`a path to what one may not read, over HTTP/${http}`, () => {
    const get = (target: string) => (http === 1 ? http1('GET', target) : http2({ ':path': target }));

    for (const disguise of disguises) {
      it(`${disguise} is refused, there or not`, async () => {
        const [there, missing] = await Promise.all(
          ['closed', 'absent'].map((name) => get(disguise.replaceAll('NAME', name))),
        );
        judge(disguise, there as Answer);
        judge(disguise, missing as Answer);
        assert.deepEqual(
          { status: there?.status, body: there?.body.replaceAll('closed', 'NAME') },
          { status: missing?.status, body: missing?.body.replaceAll('absent', 'NAME') },
        );
      });
    }

    it('that is very long is refused', async () => {
      for (const length of [5_000, 40_000, 100_000]) {
        const { status } = await get(`/api/v1/namespaces/a/secrets/${'x'.repeat(length)}`);
        assert.ok([reset, 400, 403, 404, 431].includes(status), `${length}: ${status}`);
      }
      const deep = await get(`/api/v1/${'namespaces/a/'.repeat(500)}secrets/closed`);
      assert.equal(deep.status, 403);
      const climbing = await get(`/api/v1/namespaces/a/configmaps/${'../'.repeat(2_000)}api/v1/secrets`);
      assert.ok([400, 403, 404].includes(climbing.status), String(climbing.status));
    });

    it('leads to an allowed object when it is spelled in full', async () => {
      assert.equal((await get('/api/v1/namespaces/a/secrets/open')).status, 200);
      assert.equal((await get('/api/v1/namespaces/a/secrets/%6fpen')).status, 200);
      const one = await get('/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Dopen');
      assert.equal(one.status, 200);
      assert.ok(one.body.includes('"name":"open"') && !one.body.includes('"name":"closed"'));
      const neither = await get(
        '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Dopen%2Cmetadata.name%3Dclosed',
      );
      assert.ok(!neither.body.includes(value), 'nothing has two names');
      // Of two selectors the first counts, both for the right and for the response.
      const two = await get(
        '/api/v1/namespaces/a/secrets?fieldSelector=metadata.name%3Dopen&fieldSelector=metadata.name%3Dclosed',
      );
      assert.ok(two.status !== 200 || !two.body.includes('"name":"closed"'), two.body);
      const watched = await get(
        '/api/v1/namespaces/a/secrets?timeoutSeconds=1&watch=1&fieldSelector=metadata.name%3Dopen&fieldSelector=metadata.name%3Dclosed',
      );
      assert.ok(!watched.body.includes('"name":"closed"'), watched.body);
    });
  });

  describe(`methods over HTTP/${http}`, () => {
    const call = (method: string, target: string, name?: string) =>
      http === 1
        ? http1(method, target, name === undefined ? '' : `${name}: GET\r\n`)
        : http2({ ':method': method, ':path': target, ...(name === undefined ? {} : { [name.toLowerCase()]: 'GET' }) });
    const closed = '/api/v1/namespaces/a/secrets/closed';

    it('are what they are called, in upper case', async () => {
      for (const method of ['get', 'Get', 'gEt', 'post', 'delete', 'GETX', 'FOO']) {
        const { status, body } = await call(method, closed);
        assert.ok([reset, 400, 403, 404, 405, 501].includes(status), `${method}: ${status}`);
        assert.ok(!body.includes(value));
      }
    });

    it('that no path supports are refused', async () => {
      for (const method of ['TRACE', 'OPTIONS', 'PROPFIND', 'MKCOL', 'LINK', 'PURGE', 'SEARCH', 'QUERY', 'HEAD']) {
        const { status, body } = await call(method, closed);
        assert.ok([reset, 400, 403, 404, 405, 501].includes(status), `${method}: ${status}`);
        assert.ok(!body.includes(value) && !body.includes(alice), `${method} gives something back`);
      }
    });

    it('are not overridden', async () => {
      for (const field of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
        // Alice may neither write the secret nor read the closed one.
        assert.equal((await call('DELETE', closed, field)).status, 403, field);
        assert.equal((await call('PUT', '/api/v1/namespaces/a/secrets/open', field)).status, 403, field);
      }
      assert.equal((await call('POST', '/api/v1/namespaces/a/secrets?_method=GET')).status, 403);
      for (const name of ['X-Original-URL', 'X-Rewrite-URL', 'X-Forwarded-Prefix']) {
        const answer =
          http === 1
            ? await http1('GET', '/healthz', `${name}: ${closed}\r\n`)
            : await http2({ ':path': '/healthz', [name.toLowerCase()]: closed });
        assert.equal(answer.body, 'ok', name);
      }
    });
  });
}

describe('tunnels and upgrades', () => {
  it('are not made', async () => {
    for (const [method, target, fields] of [
      ['CONNECT', 'example.com:443', ''],
      ['CONNECT', '/api/v1/namespaces/a/secrets/closed', ''],
      [
        'GET',
        '/api/v1/namespaces/a/secrets/closed',
        'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n',
      ],
      ['GET', '/api/v1/namespaces/a/secrets/closed', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'],
    ] as const) {
      const { status, body } = await http1(method, target, fields);
      assert.ok([reset, 400, 403, 404, 405].includes(status), `${method} ${target}: ${status}`);
      assert.ok(!body.includes(value));
    }
    const tunnel = await http2({ ':method': 'CONNECT', ':authority': 'example.com:443' });
    assert.ok([reset, 400, 403, 404, 405, 501].includes(tunnel.status), String(tunnel.status));
    assert.equal((await cluster.first.client.get('/readyz')).status, 200);
  });
});
