import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { systemClock } from '../../src/base/machinery/clock.js';
import { ensurePki } from '../../src/tools/cli/pki/pki.js';
import type { ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, type TestServer, tokens } from './support/test-cluster.js';

let cluster: TestCluster;

before(async () => {
  cluster = await sharedCluster('plain');
});

after(() => cluster.stop());

function portOf(server: TestServer): number {
  return Number(new URL(server.url).port);
}

describe('authentication', () => {
  it('knows tokens of the token file and refuses others', async () => {
    const client = cluster.clientFor(cluster.first);
    assert.equal((await client.get('/api', { token: tokens.bob })).status, 200);
    const wrong = await client.get('/api', { token: 'nonsense' });
    assert.equal(wrong.status, 401);
    assert.deepEqual(wrong.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
    // No method here accepts passwords, so none refuses them: their sender is anonymous.
    const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const basic = await client.post(review, {}, { headers: { authorization: 'Basic YTpi' } });
    assert.equal(basic.body.status.userInfo.username, 'system:anonymous');
    client.close();
  });

  it('says at the start which features lack a file', () => {
    assert.match(
      cluster.first.log,
      /WARN +service accounts get no tokens.* missing=--service-account-signing-key-file/,
    );
  });

  it('knows client certificates of the client CA only', async () => {
    const admin = cluster.clientFor(cluster.first, cluster.adminCertificate);
    assert.equal((await admin.get('/api')).status, 200);
    admin.close();
    const foreign = await ensurePki({
      directory: `${cluster.directory}/foreign`,
      bindAddress: '127.0.0.1',
      serviceClusterIpRange: '10.0.0.0/16',
      clock: systemClock,
    });
    const stranger = cluster.clientFor(cluster.first, {
      cert: foreign.admin.certificate,
      key: foreign.admin.privateKey,
    });
    assert.equal((await stranger.get('/api')).status, 401);
    stranger.close();
  });

  it('refuses a serving certificate as a client certificate', async () => {
    const { readFileSync } = await import('node:fs');
    const server = cluster.clientFor(cluster.first, {
      cert: readFileSync(cluster.pki.serving.certificateFile, 'utf8'),
      key: readFileSync(cluster.pki.serving.privateKeyFile, 'utf8'),
    });
    assert.equal((await server.get('/api')).status, 401);
    server.close();
  });

  it('lets anonymous requests in only when they are switched on', async () => {
    const anonymous = cluster.clientFor(cluster.first);
    assert.equal((await anonymous.get('/api')).status, 200);
    anonymous.close();
    const closed = await cluster.addServer(undefined, ['--anonymous-auth=false']);
    const refused = cluster.clientFor(closed);
    assert.equal((await refused.get('/api')).status, 401);
    assert.equal((await refused.get('/no/such/path')).status, 401);
    refused.close();
    assert.equal((await closed.client.get('/api')).status, 200);
  });
});

describe('authorization', () => {
  it('refuses everything in mode AlwaysDeny, known and unknown paths alike', async () => {
    const server = await cluster.addServer(undefined, ['--authorization-mode=AlwaysDeny'], 403);
    for (const path of ['/api/v1/namespaces', '/api/v1/namespaces/default/secrets/x', '/nope', '/metrics']) {
      const answer = await server.client.get(path);
      assert.equal(answer.status, 403, path);
      assert.equal(answer.body.reason, 'Forbidden');
    }
    const secret = await server.client.get('/api/v1/namespaces/default/secrets/x');
    assert.equal(
      secret.body.message,
      'secrets "x" is forbidden: User "admin" cannot get resource "secrets" in API group "" in the namespace "default": alwaysdeny: Everything is forbidden.',
    );
    const created = await server.client.post('/api/v1/namespaces', { metadata: { name: 'denied' } });
    assert.equal(created.status, 403);
    assert.equal((await cluster.first.client.get('/api/v1/namespaces/denied')).status, 404);
  });
});

describe('limits', () => {
  const path = '/api/v1/namespaces/default/configmaps';

  it('answers 413 above 3 MiB, announced or not', async () => {
    const raw = `{"metadata":{"name":"big"},"data":{"a":"${'x'.repeat(3 * 1024 * 1024)}"}}`;
    const announced = await cluster.first.client.send('POST', path, { raw }).catch((e) => e);
    assert.equal(announced.status, 413, String(announced));
    assert.equal(announced.body.reason, 'RequestEntityTooLarge');
    assert.equal((await cluster.first.client.get(`${path}/big`)).status, 404);
  });

  it('speaks TLS only', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connectTcp(portOf(cluster.first), '127.0.0.1', () =>
        socket.write('GET /api HTTP/1.1\r\nHost: x\r\n\r\n'),
      );
      let text = '';
      socket.on('data', (d) => {
        text += d;
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    assert.doesNotMatch(answer, /APIVersions/);
  });

  it('refuses old TLS versions', async () => {
    const result = await new Promise<string>((resolve) => {
      const socket = connectTls(
        {
          port: portOf(cluster.first),
          host: '127.0.0.1',
          rejectUnauthorized: false,
          maxVersion: 'TLSv1.1',
          minVersion: 'TLSv1',
        },
        () => resolve('connected'),
      );
      socket.on('error', (e) => resolve(e.message));
    });
    assert.notEqual(result, 'connected');
  });

  it('refuses headers that are too large', async () => {
    const huge = await cluster.first.client
      .get('/api', { headers: { 'x-large': 'a'.repeat(200 * 1024) } })
      .catch((e: Error) => e);
    if (huge instanceof Error) assert.match(huge.message, /hang up|ECONNRESET|EPIPE/);
    else assert.equal(huge.status, 431);
  });

  it('answers 429 with Retry-After above the in-flight limit', async () => {
    const small = await cluster.addServer(undefined, [
      '--max-mutating-requests-inflight=1',
      '--enable-priority-and-fairness=false',
    ]);
    const answers: ApiResponse[] = [];
    const write = async () => {
      const bodies = Array.from({ length: 60 }, () => ({ metadata: { generateName: 'c-' } }));
      const asked = bodies.map((body) => small.client.post(path, body, { token: tokens.alice }));
      answers.push(...(await Promise.all(asked)));
      return answers.some(({ status }) => status === 429);
    };
    await eventually(write, 'some of 60 concurrent writes to be refused');
    const refused = answers.filter(({ status }) => status === 429);
    assert.ok(answers.some(({ status }) => status === 201));
    for (const answer of refused) {
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal(answer.body.reason, 'TooManyRequests');
    }
  });
});

describe('bad input', () => {
  const path = '/api/v1/namespaces/default/configmaps';
  const post = (raw: string | Buffer, contentType = 'application/json') =>
    cluster.first.client.send('POST', path, { raw, contentType });

  const bodies: [string, string | Buffer, string, number][] = [
    ['cut JSON', '{"metadata":{"na', 'application/json', 400],
    ['an array', '[]', 'application/json', 400],
    ['a string', '"x"', 'application/json', 400],
    ['no body', '', 'application/json', 400],
    ['wrong UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), 'application/json', 400],
    [
      'deep nesting',
      `{"metadata":{"name":"deep"},"data":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`,
      'application/json',
      400,
    ],
    ['a wrong type', '{"metadata":{"name":"t"},"data":{"a":1}}', 'application/json', 400],
    ['another kind', '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"t"}}', 'application/json', 400],
    ['broken YAML', 'a: b: c', 'application/yaml', 400],
    [
      'an alias bomb',
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...'bcdefghi'.split('').map((c, i) => `${c}: &${c} [${Array(9).fill(`*${'abcdefghi'[i]}`).join(',')}]`),
      ].join('\n'),
      'application/yaml',
      400,
    ],
    ['an unknown media type', '<a/>', 'application/xml', 415],
    ['a bad name', '{"metadata":{"name":"Not_Valid"}}', 'application/json', 422],
  ];
  for (const [what, raw, type, status] of bodies) {
    it(`answers ${status} to ${what}`, async () => {
      const answer = await post(raw, type);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.kind, 'Status');
      assert.doesNotMatch(answer.text, /\bat [\w.]+ \(/);
    });
  }

  it('keeps a map entry named __proto__ as data and pollutes nothing', async () => {
    const answer = await post(
      '{"metadata":{"name":"proto","labels":{"x":"y"}},"data":{"__proto__":"x"},"__proto__":{"a":1}}',
    );
    assert.ok(answer.status === 201 || answer.status === 422, answer.text);
    assert.equal((await cluster.first.client.get('/readyz')).status, 200);
  });

  it('answers every unknown path and method with a Status, and paths outside of all groups with text as the release does', async () => {
    for (const [method, target, status] of [
      ['GET', '/nothing/here', 404],
      ['GET', '/apis/nope.example/v1/widgets', 404],
      ['GET', '/apis/apps/v7/deployments', 404],
      ['GET', '/api/v1//secrets', 404],
      ['GET', '/api/v1/%zz', 400],
      ['PUT', path, 405],
      ['POST', `${path}/x`, 405],
      ['POST', '/api/v1/configmaps', 405],
      ['PATCH', path, 405],
      ['GET', '/api/v1/namespaces/default/nodes', 404],
    ] as const) {
      const answer = await cluster.first.client.send(method, target);
      assert.equal(answer.status, status, `${method} ${target}: ${answer.text}`);
      if (/^\/(nothing|apis\/nope)/.test(target)) assert.equal(answer.text, '404 page not found\n', target);
      else assert.equal(answer.body.kind, 'Status', target);
    }
  });
});
