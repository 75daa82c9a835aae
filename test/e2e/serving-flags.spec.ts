import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, type TestServer } from './support/test-cluster.js';

// Flags of the port and of browsers, and flags that other servers have: one server with all of them, compared with a
// plain one.

let cluster: TestCluster;
let plain: TestServer;
let strict: TestServer;

before(async () => {
  cluster = await sharedCluster('plain');
  plain = cluster.first;
  strict = await cluster.addServer(undefined, [
    '--tls-min-version=VersionTLS12',
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
    '--tls-curve-preferences=24,23',
    '--disable-http2-serving',
    '--cors-allowed-origins=//(www[.])?example[.]com(:|$)',
    '--strict-transport-security-directives=max-age=31536000,includeSubDomains',
    '--endpoint-reconciler-type=none',
    '--etcd-servers=http://127.0.0.1:2379',
    '--etcd-cafile=/none',
    '--logging-format=json',
    '--v=4',
  ]);
});

after(() => cluster.stop());

async function handshake({ url }: TestServer, options: ConnectionOptions): Promise<TLSSocket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ca: cluster.pki.authority, ...options });
  await once(socket, 'secureConnect');
  socket.destroy();
  return socket;
}

describe('a server with flags of its port', () => {
  it('speaks HTTP/1.1 only', async () => {
    const ALPNProtocols = ['h2', 'http/1.1'];
    assert.equal((await handshake(plain, { ALPNProtocols })).alpnProtocol, 'h2');
    assert.equal((await handshake(strict, { ALPNProtocols })).alpnProtocol, 'http/1.1');
    assert.equal((await strict.client.get('/api/v1/namespaces/default')).status, 200);
  });

  it('has the cipher suites and groups that are named, and no others', async () => {
    const weak = {
      maxVersion: 'TLSv1.2',
      ciphers: 'ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256',
    } as const;
    await handshake(plain, weak);
    await assert.rejects(handshake(strict, weak), /handshake failure/i);
    await handshake(strict, {
      maxVersion: 'TLSv1.2',
      ciphers: 'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-GCM-SHA384',
    });
    await handshake(plain, { ecdhCurve: 'X25519' });
    await assert.rejects(handshake(strict, { ecdhCurve: 'X25519' }), /handshake failure/i);
    await handshake(strict, { ecdhCurve: 'secp384r1', minVersion: 'TLSv1.3' });
  });

  it('lets pages of named origins in, and answers the question of their browsers without credentials', async () => {
    const ask = (server: TestServer, origin: string, method = 'GET') =>
      server.client.send(method, '/api/v1/namespaces/default', {
        headers: { origin },
        // Every place where tokens are checked refuses a wrong one.
        ...(method === 'OPTIONS' ? { token: 'nobody' } : {}),
      });
    const own = await ask(strict, 'https://www.example.com');
    assert.equal(own.status, 200);
    assert.equal(own.headers['access-control-allow-origin'], 'https://www.example.com');
    assert.equal(own.headers['access-control-allow-credentials'], 'true');
    const question = await ask(strict, 'https://example.com:8443', 'OPTIONS');
    assert.equal(question.status, 204);
    assert.match(String(question.headers['access-control-allow-methods']), /PATCH/);
    for (const [server, origin] of [
      [strict, 'https://example.com.evil.org'],
      [strict, 'https://evil-example.com'],
      [plain, 'https://example.com'],
    ] as const) {
      assert.equal((await ask(server, origin)).headers['access-control-allow-origin'], undefined, origin);
    }
  });

  it('sends the directives for browsers with every answer', async () => {
    for (const path of ['/api/v1/namespaces/default', '/nothing', '/healthz']) {
      const { headers } = await strict.client.get(path);
      assert.equal(headers['strict-transport-security'], 'max-age=31536000; includeSubDomains', path);
    }
    assert.equal((await plain.client.get('/healthz')).headers['strict-transport-security'], undefined);
  });

  it('publishes no address when told so', async () => {
    const port = (server: TestServer) => Number(new URL(server.url).port);
    const published = async () => {
      const { body } = await plain.client.get('/api/v1/namespaces/default/endpoints/kubernetes');
      const subsets = (body.subsets ?? []) as { ports: { port: number }[] }[];
      return subsets.flatMap(({ ports }) => ports.map((one) => one.port));
    };
    await eventually(async () => (await published()).includes(port(plain)), 'the plain server to be published');
    assert.ok(!(await published()).includes(port(strict)));
  });

  it('reports flags that have no effect with the reason, and takes the verbosity of other programs', () => {
    assert.match(
      strict.log,
      /--etcd-cafile, --etcd-servers have no effect: the store is PostgreSQL; see --database-url/,
    );
    assert.match(strict.log, /"level":"debug"/);
    assert.doesNotMatch(plain.log, /no effect/);
  });
});
