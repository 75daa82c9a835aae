import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls, type PeerCertificate } from 'node:tls';
import { encodePem } from '../../src/base/machinery/x509/pem.js';
import { replaceFile } from '../support/replace-file.js';
import { serverAuth, TestIdentity } from '../support/test-authority.js';
import { ApiClient } from './support/api-client.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const path = '/api/v1/namespaces/none/pods';

/** Nobody may read this path, so the response names the user. */
async function whoIs(client: ApiClient): Promise<string> {
  const { status, body } = await client.get(path);
  if (status === 401) return '401';
  assert.equal(status, 403);
  return /User "(.*?)" cannot/.exec(body.message)?.[1] ?? body.message;
}

describe('client certificates', () => {
  let cluster: TestCluster;
  let server: TestServer;
  let root: TestIdentity;
  let intermediate: TestIdentity;
  let stranger: TestIdentity;
  const clients: ApiClient[] = [];
  const file = (name: string) => join(cluster.directory, name);

  const replace = (name: string, content: string) => replaceFile(file(name), content);

  function clientWith(identity?: { chain: string; key: string }, token?: string): ApiClient {
    const credentials = identity === undefined ? {} : { cert: identity.chain, key: identity.key };
    const client = new ApiClient(server.url, {
      ca: cluster.pki.authority,
      ...credentials,
      ...(token === undefined ? {} : { token }),
    });
    clients.push(client);
    return client;
  }

  const user = (name: string, by = root) => by.issue({ subject: [{ CN: [name] }] });

  async function serve(name: string, ...names: readonly string[]): Promise<void> {
    const identity = await root.issue({
      subject: [{ CN: [name] }],
      usages: [serverAuth],
      names: names.map((value) => ({ type: 'dns', value })),
    });
    replace(`${name}.crt`, identity.chain);
    replace(`${name}.key`, identity.key);
  }

  /** The common name of the certificate that the server shows to clients that ask for a host name. */
  function shownTo(servername: string): Promise<unknown> {
    const { hostname, port } = new URL(server.url);
    return new Promise((resolve, reject) => {
      const socket = connectTls({ host: hostname, port: Number(port), servername, rejectUnauthorized: false }, () => {
        resolve(socket.getPeerCertificate().subject.CN);
        socket.end();
      });
      socket.on('error', reject);
    });
  }

  before(async () => {
    cluster = await TestCluster.start({ servers: 0 });
    root = await TestIdentity.root('clients');
    intermediate = await root.issue({ subject: [{ CN: ['department'] }], authority: true });
    stranger = await TestIdentity.root('strangers');
    replace('ca.pem', root.cert);
    replace('tls.crt', readFileSync(cluster.pki.serving.certificateFile, 'utf8'));
    replace('tls.key', readFileSync(cluster.pki.serving.privateKeyFile, 'utf8'));
    await serve('wide', 'wide.example.com');
    await serve('second', 'second.example.com', 'third.example.com');
    // Of a repeated flag the last one counts.
    server = await cluster.addServer(undefined, [
      `--client-ca-file=${file('ca.pem')}`,
      `--tls-cert-file=${file('tls.crt')}`,
      `--tls-private-key-file=${file('tls.key')}`,
      `--tls-sni-cert-key=${file('wide.crt')},${file('wide.key')}:*.example.com,second.example.com`,
      `--tls-sni-cert-key=${file('second.crt')},${file('second.key')}`,
      '--authorization-mode=RBAC',
      '--log-level=debug',
    ]);
  });
  after(async () => {
    for (const client of clients) client.close();
    await cluster?.stop();
  });

  it('that are revoked are refused, on open connections too, and accepted lists stay when a file is unusable', async () => {
    const [carol, dave] = await Promise.all([user('carol'), user('dave')]);
    const list = async (...revoked: TestIdentity[]) => encodePem('X509 CRL', await root.revocationList(revoked));
    replace('revoked.pem', await list());
    const own = await cluster.addServer(undefined, [
      `--client-ca-file=${file('ca.pem')}`,
      `--client-crl-file=${file('revoked.pem')}`,
      '--authorization-mode=RBAC',
    ]);
    const as = (identity: TestIdentity) => {
      const client = new ApiClient(own.url, { ca: cluster.pki.authority, cert: identity.chain, key: identity.key });
      clients.push(client);
      return client;
    };
    const [first, second] = [as(carol), as(dave)];
    assert.deepEqual([await whoIs(first), await whoIs(second)], ['carol', 'dave']);
    replace('revoked.pem', await list(carol));
    await eventually(async () => (await whoIs(first)) === '401', 'the open connection is refused', 30_000);
    assert.equal(await whoIs(second), 'dave');
    assert.equal(await whoIs(as(carol)), '401', 'a new connection');
    replace('revoked.pem', encodePem('X509 CRL', await stranger.revocationList([])));
    await eventually(
      () => own.log.includes('the changed revocation lists of client certificates cannot be used'),
      'the log',
      30_000,
    );
    assert.equal(await whoIs(first), '401');
    // An expired list vouches for no certificate.
    const nextUpdate = new Date(Date.now() - 60_000);
    replace('revoked.pem', encodePem('X509 CRL', await root.revocationList([carol], { nextUpdate })));
    await eventually(async () => (await whoIs(second)) === '401', 'the list has expired', 30_000);
    replace('revoked.pem', await list());
    await eventually(async () => (await whoIs(first)) === 'carol', 'nobody is revoked', 30_000);
    const { text } = await new ApiClient(own.url, { ca: cluster.pki.authority, token: tokens.admin }).get('/metrics');
    for (const use of ['serving', 'client-ca', 'client-crl']) {
      assert.match(
        text,
        new RegExp(`^plinth_certificate_expiration_timestamp_seconds\\{use="${use}",name="CN=[^"]+"\\} \\d+`, 'm'),
      );
    }
    await own.stop();
  });

  it('are users by their common name', async () => {
    assert.equal(await whoIs(clientWith(await user('carla'))), 'carla');
    assert.equal(await whoIs(clientWith()), 'system:anonymous');
  });

  it('are in the groups of their organizations', async () => {
    const several = await root.issue({ subject: [{ O: ['dev'] }, { O: ['system:masters'] }, { CN: ['dora'] }] });
    assert.equal((await clientWith(several).get('/api/v1/namespaces')).status, 200);
    const none = await root.issue({ subject: [{ OU: ['system:masters'] }, { CN: ['dora'] }] });
    assert.equal((await clientWith(none).get('/api/v1/namespaces')).status, 403);
  });

  it('may come through an intermediate authority that the client sends along', async () => {
    const below = await user('ines', intermediate);
    assert.equal(await whoIs(clientWith(below)), 'ines');
    assert.equal(await whoIs(clientWith({ chain: below.cert, key: below.key })), '401');
  });

  it('are refused when they are not good, and never anonymous then', async () => {
    const past = { notBefore: new Date(Date.now() - 2_000_000), notAfter: new Date(Date.now() - 1_000_000) };
    const future = { notBefore: new Date(Date.now() + 1_000_000), notAfter: new Date(Date.now() + 2_000_000) };
    const leaf = await user('leaf');
    const bad: Record<string, TestIdentity> = {
      expired: await root.issue({ subject: [{ CN: ['x'] }], ...past }),
      'not yet valid': await root.issue({ subject: [{ CN: ['x'] }], ...future }),
      'for servers only': await root.issue({ subject: [{ CN: ['x'] }], usages: [serverAuth] }),
      'for any use, which TLS takes for none': await root.issue({ subject: [{ CN: ['x'] }], usages: ['2.5.29.37.0'] }),
      'of another authority': await user('x', stranger),
      'signed by an end certificate': await leaf.issue({ subject: [{ CN: ['x'] }] }),
      'without a name': await root.issue({ subject: [{ O: ['system:masters'] }] }),
      'with two names': await root.issue({ subject: [{ CN: ['x'] }, { CN: ['y'] }] }),
    };
    for (const [what, identity] of Object.entries(bad)) assert.equal(await whoIs(clientWith(identity)), '401', what);
    const unlimited = await root.issue({ subject: [{ CN: ['unlimited'] }], usages: [] });
    assert.equal(await whoIs(clientWith(unlimited)), 'unlimited');
  });

  it('that are no good do not get in the way of a token', async () => {
    assert.equal(await whoIs(clientWith(await user('x', stranger), tokens.alice)), 'alice');
  });

  it('stop to count when they expire, on connections that are open', async () => {
    // Long enough for a busy machine to use the certificate before it expires.
    for (let life = 3_000; ; life *= 2) {
      const notAfter = new Date(Date.now() + life);
      const brief = await root.issue({ subject: [{ CN: ['brief'] }], notAfter });
      const agent = new Agent({
        keepAlive: true,
        maxSockets: 1,
        ca: cluster.pki.authority,
        cert: brief.chain,
        key: brief.key,
      });
      const ports = new Set<number | undefined>();
      const ask = () =>
        new Promise<number | undefined>((resolve, reject) => {
          const sent = request(`${server.url}${path}`, { agent }, (response) => {
            ports.add(response.socket.localPort);
            response.resume().on('end', () => resolve(response.statusCode));
          });
          sent.on('error', reject).end();
        });
      try {
        const status = await ask();
        if (status === 401 && Date.now() >= notAfter.getTime() - 1_000 && life < 60_000) continue;
        assert.equal(status, 403);
        await eventually(async () => (await ask()) === 401, 'the end of the certificate', life + 60_000);
        assert.equal(ports.size, 1);
        return;
      } finally {
        agent.destroy();
      }
    }
  });

  it('are judged by the present authorities of the file, even on open connections', async () => {
    const known = clientWith(await user('known'));
    const unknown = clientWith(await user('newcomer', stranger));
    assert.equal(await whoIs(known), 'known');
    assert.equal(await whoIs(unknown), '401');
    try {
      replace('ca.pem', stranger.cert);
      await eventually(async () => (await whoIs(unknown)) === 'newcomer', 'the new authority counts');
      assert.equal(await whoIs(known), '401');
      replace('ca.pem', 'no certificate');
      await eventually(() => server.log.includes('changed certificates are not used'), 'the bad file is logged');
      assert.equal(await whoIs(unknown), 'newcomer');
    } finally {
      replace('ca.pem', `${root.cert}${stranger.cert}`);
    }
    await eventually(async () => (await whoIs(known)) === 'known', 'both authorities count');
    assert.equal(await whoIs(unknown), 'newcomer');
  });

  it('get a new HTTP/2 connection when their authority has come or gone', async () => {
    const late = await TestIdentity.root('late');
    const identity = await user('lena', late);
    const tls = { ca: cluster.pki.authority, cert: identity.chain, key: identity.key };
    const ask = (session: ClientHttp2Session): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': path });
        stream.on('response', (headers) => resolve(headers[':status'])).on('error', reject);
        stream.resume().end();
      });
    const first = connect(server.url, tls);
    let second: ClientHttp2Session | undefined;
    try {
      assert.equal(await ask(first), 401);
      assert.equal(await ask(first), 401);
      replace('ca.pem', `${root.cert}${stranger.cert}${late.cert}`);
      const isGivenUp = async () => {
        // The certificate may expire between the check and the request.
        if (!first.closed) await ask(first).catch(() => undefined);
        return first.closed;
      };
      await eventually(isGivenUp, 'the old connection is given up');
      second = connect(server.url, tls);
      assert.equal(await ask(second), 403);
      assert.equal(await ask(second), 403);
    } finally {
      first.destroy();
      second?.destroy();
    }
  });

  it('of the server are chosen by the host name that the client asks for', async () => {
    const own = await shownTo('');
    const expected = {
      'any.example.com': 'wide',
      // A name that was given counts before the name of a certificate, a whole name before a pattern.
      'second.example.com': 'wide',
      'THIRD.example.com': 'second',
      'a.b.example.com': own,
      'example.com': own,
    };
    for (const [name, subject] of Object.entries(expected)) assert.equal(await shownTo(name), subject, name);

    await serve('second', 'third.example.com', 'fourth.test');
    await eventually(async () => (await shownTo('fourth.test')) === 'second', 'the new names are served');

    // A client's certificate counts whatever name the client asked for.
    const { chain, key } = await user('lara');
    const { hostname, port } = new URL(server.url);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: hostname, port, path, servername: 'fourth.test', ca: root.cert, cert: chain, key };
      request({ ...options, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
    const chunks = (await answer.toArray()) as Buffer[];
    assert.match(JSON.parse(Buffer.concat(chunks).toString()).message, /User "lara" cannot/);
  });

  it('of the server are renewed without a restart, and no connection is dropped', async () => {
    const serving = (): Promise<PeerCertificate> =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(server.url);
        const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
          resolve(socket.getPeerCertificate());
          socket.end();
        });
        socket.on('error', reject);
      });
    const before = await serving();
    const session = connect(server.url, { ca: cluster.pki.authority });
    const ask = () =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ':path': '/version' });
        stream.on('response', (headers) => resolve(headers[':status'])).on('error', reject);
        stream.resume().end();
      });
    try {
      assert.equal(await ask(), 200);
      const authority = await TestIdentity.root('servers');
      const renewed = await authority.issue({
        subject: [{ CN: ['renewed'] }],
        usages: [serverAuth],
        names: [{ type: 'ip', value: '127.0.0.1' }],
      });
      // Between the writes of the two files, certificate and key don't match.
      replace('tls.crt', renewed.chain);
      await eventually(
        () => server.log.split('changed certificates are not used').length > 2,
        'half a pair is refused',
      );
      assert.equal((await serving()).fingerprint256, before.fingerprint256);
      replace('tls.key', renewed.key);
      await eventually(async () => (await serving()).subject.CN === 'renewed', 'the new certificate is served');
      assert.equal(await ask(), 200);
    } finally {
      session.destroy();
    }
  });
});
