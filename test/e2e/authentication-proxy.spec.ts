import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { replaceFile } from '../support/replace-file.js';
import { TestIdentity } from '../support/test-authority.js';
import { type FieldLines, type FieldsAnswer, sendFields } from './support/send-fields.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const mapPath = '/api/v1/namespaces/control-system/configmaps/extension-apiserver-authentication';

let cluster: TestCluster;
let server: TestServer;
let proxies: TestIdentity;
let front: TestIdentity;
const file = (name: string) => join(cluster.directory, name);

const proxyFlags = () => [
  `--requestheader-client-ca-file=${file('proxies.pem')}`,
  '--requestheader-username-headers=X-Remote-User,X-Also-User',
  '--requestheader-uid-headers=X-Remote-Uid',
  '--requestheader-group-headers=X-Remote-Group',
  '--requestheader-extra-headers-prefix=X-Remote-Extra-',
];

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  proxies = await TestIdentity.root('proxies');
  front = await proxies.issue({ subject: [{ CN: ['front-proxy'] }] });
  writeFileSync(file('proxies.pem'), proxies.cert);
  server = await cluster.addServer(undefined, [
    ...proxyFlags(),
    '--requestheader-allowed-names=front-proxy,spare-proxy',
  ]);
});
after(() => cluster?.stop());

for (const http of [1, 2] as const) {
  describe(`an authenticating proxy over HTTP/${http === 1 ? '1.1' : '2'}`, () => {
    const send = (
      identity: TestIdentity | { chain: string; key: string } | undefined,
      lines: FieldLines,
      token?: string,
      to = server,
    ): Promise<FieldsAnswer> => {
      const tls = identity === undefined ? {} : { cert: identity.chain, key: identity.key };
      const credentials = { ca: cluster.pki.authority, ...tls, ...(token === undefined ? {} : { token }) };
      return sendFields(http, `${to.url}${selfReviews}`, credentials, lines, {});
    };
    const whoIs = async (...args: Parameters<typeof send>) => {
      const { status, body } = await send(...args);
      return status === 201 ? body.status.userInfo : status;
    };
    const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] };

    it('is trusted to name the sender of a request', async () => {
      const user = await whoIs(front, [
        ['X-Remote-User', 'jürgen'],
        ['x-remote-uid', '17'],
        ['X-Remote-Group', 'devs, all'],
        ['X-REMOTE-GROUP', 'ops'],
        ['X-Remote-Group', ''],
        ['X-Remote-Extra-Acme.com%2Fproject', 'one'],
        ['X-Remote-Extra-acme.com%2FProject', 'two'],
        ['X-Remote-Extra-Scopes', 'view'],
        ['X-Remote-Extra-odd%zz', 'kept'],
      ]);
      assert.deepEqual(user, {
        username: 'jürgen',
        uid: '17',
        groups: ['devs, all', 'ops', 'system:authenticated'],
        extra: { 'acme.com/project': ['one', 'two'], scopes: ['view'], 'odd%zz': ['kept'] },
      });
    });

    it('may use another header when the first is empty', async () => {
      assert.equal((await whoIs(front, [['X-Also-User', 'ada']])).username, 'ada');
      const both: FieldLines = [
        ['X-Remote-User', ' '],
        ['X-Also-User', 'ada'],
      ];
      assert.equal((await whoIs(front, both)).username, 'ada');
      const first: FieldLines = [
        ['X-Also-User', 'ada'],
        ['X-Remote-User', 'eve'],
      ];
      assert.equal((await whoIs(front, first)).username, 'eve');
    });

    it('takes precedence over the other credentials of a request', async () => {
      assert.equal((await whoIs(front, [['X-Remote-User', 'eve']], tokens.alice)).username, 'eve');
    });

    it('is no user of its own, but may pass on a token', async () => {
      assert.equal(await whoIs(front, []), 401);
      assert.equal((await whoIs(front, [], tokens.alice)).username, 'alice');
    });

    it('is anybody without its certificate: its fields are ignored', async () => {
      const lines: FieldLines = [
        ['X-Remote-User', 'eve'],
        ['X-Remote-Group', 'system:masters'],
        ['X-Remote-Extra-scopes', 'all'],
      ];
      assert.deepEqual(await whoIs(undefined, lines), anonymous);
      const alice = await whoIs(undefined, lines, tokens.alice);
      assert.deepEqual(alice, { username: 'alice', uid: 'alice-uid', groups: ['devs', 'system:authenticated'] });
      // A user's certificate is from another authority.
      const { cert, key } = cluster.adminCertificate;
      const admin = await whoIs({ chain: cert, key }, lines);
      assert.equal(admin.username, 'admin');
      assert.equal(admin.extra?.scopes, undefined);
    });

    it('is refused with a certificate that is not for it', async () => {
      const lines: FieldLines = [['X-Remote-User', 'admin']];
      const stranger = await TestIdentity.root('strangers');
      const yesterday = new Date(Date.now() - 3_600_000);
      const wrong: readonly (readonly [string, TestIdentity])[] = [
        ['from another authority', await stranger.issue({ subject: [{ CN: ['front-proxy'] }] })],
        ['with another name', await proxies.issue({ subject: [{ CN: ['back-proxy'] }] })],
        ['with two names', await proxies.issue({ subject: [{ CN: ['front-proxy'] }, { CN: ['admin'] }] })],
        ['with the name elsewhere', await proxies.issue({ subject: [{ O: ['front-proxy'] }] })],
        ['which has expired', await proxies.issue({ subject: [{ CN: ['front-proxy'] }], notAfter: yesterday })],
        ['for servers', await proxies.issue({ subject: [{ CN: ['front-proxy'] }], usages: ['1.3.6.1.5.5.7.3.1'] })],
      ];
      for (const [what, identity] of wrong) assert.equal(await whoIs(identity, lines), 401, what);
      const spare = await proxies.issue({ subject: [{ CN: ['spare-proxy'] }] });
      assert.equal((await whoIs(spare, lines)).username, 'admin');
    });

    it('is refused when it lets fields of its clients through beside its own', async () => {
      const twice: readonly FieldLines[] = [
        [
          ['X-Remote-User', 'mallory'],
          ['X-Remote-User', 'admin'],
        ],
        [
          ['x-remote-user', 'admin'],
          ['X-Remote-User', 'admin'],
        ],
        [
          ['X-Remote-User', 'mallory'],
          ['X-Remote-Uid', '1'],
          ['X-Remote-Uid', '2'],
        ],
      ];
      for (const lines of twice) assert.equal(await whoIs(front, lines), 401, JSON.stringify(lines));
    });

    it('is not misled by fields that only look alike', async () => {
      const lines: FieldLines = [
        ['X_Remote_User', 'admin'],
        ['X-Remote_User', 'admin'],
        ['X-Remote-User-', 'admin'],
        ['X_Remote_Group', 'system:masters'],
        ['X-Remote-Groups', 'system:masters'],
      ];
      assert.equal(await whoIs(front, lines), 401);
      assert.deepEqual((await whoIs(front, [['X-Remote-User', 'eve'], ...lines])).groups, ['system:authenticated']);
    });

    it('may let its user be somebody else, by the rights of that user', async () => {
      const lines: FieldLines = [
        ['X-Remote-User', 'eve'],
        ['X-Remote-Group', 'system:masters'],
        ['Impersonate-User', 'carol'],
      ];
      assert.equal((await whoIs(front, lines)).username, 'carol');
    });
  });
}

describe('authorities of clients', () => {
  it('are sent to extension servers', async () => {
    const { data } = (await server.client.get(mapPath)).body;
    assert.deepEqual(data, {
      'client-ca-file': readFileSync(cluster.pki.authorityFile, 'utf8'),
      'requestheader-client-ca-file': proxies.cert,
      'requestheader-allowed-names': '["front-proxy","spare-proxy"]',
      'requestheader-username-headers': '["X-Remote-User","X-Also-User"]',
      'requestheader-uid-headers': '["X-Remote-Uid"]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    });
  });

  it('are added to those of other processes, and restored when the map is gone', async () => {
    const before = (await server.client.get(mapPath)).body;
    await cluster.addServer(undefined, proxyFlags().slice(0, 2));
    const after = (await server.client.get(mapPath)).body;
    assert.equal(after.data['requestheader-allowed-names'], '[]', 'a process without names accepts all');
    assert.equal(after.data['requestheader-client-ca-file'], proxies.cert);
    assert.equal(after.data['requestheader-uid-headers'], before.data['requestheader-uid-headers']);
    await cluster.addServer(undefined, proxyFlags().slice(0, 2));
    const again = (await server.client.get(mapPath)).body;
    assert.equal(again.metadata.resourceVersion, after.metadata.resourceVersion, 'nothing is written without need');
    assert.equal((await server.client.delete(mapPath)).status, 200);
    await cluster.addServer();
    const restored = (await server.client.get(mapPath)).body;
    assert.deepEqual(Object.keys(restored.data), ['client-ca-file']);
  });
});

describe('a server that knows proxies', () => {
  it('takes a new authority of them while it runs', async () => {
    const next = await TestIdentity.root('next proxies');
    const { chain, key } = await next.issue({ subject: [{ CN: ['front-proxy'] }] });
    const client = cluster.clientFor(server, { cert: chain, key });
    try {
      const ask = () => client.post(selfReviews, {}, { headers: { 'X-Remote-User': 'eve' } });
      assert.equal((await ask()).status, 401);
      replaceFile(file('proxies.pem'), proxies.cert + next.cert);
      const body = await eventually(async () => {
        const answer = await ask();
        return answer.status === 201 && answer.body;
      }, 'the new authority');
      assert.equal(body.status.userInfo.username, 'eve');
    } finally {
      replaceFile(file('proxies.pem'), proxies.cert);
      client.close();
    }
  });

  it('starts although it can not tell others', async () => {
    const frozen = { immutable: true, data: null };
    assert.equal((await server.client.patch(mapPath, 'merge', frozen)).status, 200);
    const started = await cluster.addServer();
    const reported = /the authorities of clients cannot be published for extension servers/;
    await eventually(() => reported.test(started.log), 'a word in the log');
  });

  it('needs to know their headers', async () => {
    const flags = [`--requestheader-client-ca-file=${file('proxies.pem')}`];
    await assert.rejects(
      cluster.addServer(undefined, flags),
      /requestheader-client-ca-file .*needs --requestheader-username-headers/,
    );
    const odd = [...proxyFlags(), '--requestheader-group-headers=:path'];
    await assert.rejects(cluster.addServer(undefined, odd), /requestheader-group-headers .*has ":path"/);
    const alone = ['--requestheader-username-headers=X-Remote-User'];
    await assert.rejects(cluster.addServer(undefined, alone), /needs --requestheader-client-ca-file as well/);
  });
});
