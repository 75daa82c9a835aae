import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  nameOfType,
  rawCertificate,
  rawExtension,
  rawName,
  textNode,
  textTags,
  tlv,
} from '../support/raw-certificates.js';
import { replaceFile } from '../support/replace-file.js';
import { TestIdentity } from '../support/test-authority.js';
import { Http2Client } from './support/http2-client.js';
import { type FieldLines, sendFields } from './support/send-fields.js';
import { eventually, TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

let cluster: TestCluster;
let server: TestServer;
/** The authority for users' certificates. */
let users: TestIdentity;
/** Another authority of the same name, as during a rotation. */
let twin: TestIdentity;
/** The authority for proxies' certificates, each of which may speak for users. */
let proxies: TestIdentity;

type Pair = { readonly chain: string; readonly key: string };

/** A certificate with the chain that an attacker sends along. */
function withChain(identity: TestIdentity, ...others: readonly TestIdentity[]): Pair {
  return { chain: [identity, ...others].map(({ cert }) => cert).join(''), key: identity.key };
}

/** Name and groups of the authenticated user, or the code of the refusal. */
async function whoIs(http: 1 | 2, identity: Pair | undefined, lines: FieldLines = [], token?: string): Promise<string> {
  const credentials = {
    ca: cluster.pki.authority,
    ...(identity === undefined ? {} : { cert: identity.chain, key: identity.key }),
    ...(token === undefined ? {} : { token }),
  };
  const { status, body } = await sendFields(http, `${server.url}${selfReviews}`, credentials, lines, {});
  if (status !== 201) return String(status);
  const { username, groups } = body.status.userInfo;
  return `${username} ${groups.join()}`;
}

before(async () => {
  cluster = await TestCluster.start({ servers: 0 });
  users = await TestIdentity.root('users', true);
  twin = await TestIdentity.root('users', true);
  proxies = await TestIdentity.root('proxies');
  writeFileSync(join(cluster.directory, 'users.pem'), users.cert + twin.cert);
  writeFileSync(join(cluster.directory, 'proxies.pem'), proxies.cert);
  server = await cluster.addServer(undefined, [
    '--authorization-mode=RBAC',
    `--client-ca-file=${join(cluster.directory, 'users.pem')}`,
    `--requestheader-client-ca-file=${join(cluster.directory, 'proxies.pem')}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  ]);
});
after(() => cluster?.stop());

const asAdmin: FieldLines = [
  ['X-Remote-User', 'root'],
  ['X-Remote-Group', 'system:masters'],
];
/** A client without a valid identity may not even read who it is. */
const anonymous = '403';

for (const http of [1, 2] as const) {
  describe(`certificates that are not what they seem, over HTTP/${http}`, () => {
    it('the two authorities are kept apart', async () => {
      const user = await users.issue({ subject: [{ CN: ['eve'] }] });
      assert.equal(await whoIs(http, user), 'eve system:authenticated');
      assert.equal(await whoIs(http, user, asAdmin), 'eve system:authenticated');
      const proxy = await proxies.issue({ subject: [{ O: ['system:masters'] }, { CN: ['root'] }] });
      assert.equal(await whoIs(http, proxy), '401', 'groups in the certificate of a proxy are none');
      assert.equal(await whoIs(http, proxy, asAdmin), 'root system:masters,system:authenticated');
    });

    it('a name from a proxy is not shortened to that of another user', async () => {
      const proxy = await proxies.issue({ subject: [{ CN: ['proxy'] }] });
      for (const mark of ['\u3000', '\u00a0', '\ufeff', '\u2028', '\u0085', '\u200b']) {
        for (const spelled of [(text: string) => `${mark}${text}`, (text: string) => `${text}${mark}`]) {
          const fields: FieldLines = [
            ['X-Remote-User', spelled('root')],
            ['X-Remote-Group', spelled('system:masters')],
          ];
          const seen = await whoIs(http, proxy, fields);
          assert.equal(seen, `${spelled('root')} ${spelled('system:masters')},system:authenticated`);
        }
      }
    });

    it('authorities of the same name are both believed', async () => {
      for (const authority of [users, twin]) {
        const user = await authority.issue({ subject: [{ CN: ['eve'] }], keyIdentifiers: true });
        assert.equal(await whoIs(http, user), 'eve system:authenticated');
      }
    });

    it('a chain of names without signatures leads to no authority', async () => {
      // TLS finds the true issuer by itself and ignores the chain that was sent along, which names the other authority.
      const forger = await TestIdentity.root('proxies');
      const toProxies = await forger.issue({ subject: [{ CN: ['users'] }], authority: true });
      const user = await users.issue({ subject: [{ CN: ['eve'] }] });
      const answer = await whoIs(http, withChain(user, toProxies), asAdmin);
      assert.ok(['401', 'eve system:authenticated'].includes(answer), answer);

      const other = await TestIdentity.root('users');
      const toUsers = await other.issue({ subject: [{ CN: ['proxies'] }], authority: true });
      const proxy = await proxies.issue({ subject: [{ O: ['system:masters'] }, { CN: ['root'] }] });
      assert.equal(await whoIs(http, withChain(proxy, toUsers)), '401');
    });

    it('a chain through a certificate that is no authority leads to none', async () => {
      // The same key and name, once as an authority below that of proxies, once as an ordinary certificate below that
      // of users.
      const department = await proxies.issue({ subject: [{ CN: ['department'] }], authority: true });
      const ordinary = await users.issueFor(department, { subject: [{ CN: ['department'] }] });
      const leaf = await department.issue({ subject: [{ O: ['system:masters'] }, { CN: ['root'] }] });
      assert.equal(await whoIs(http, withChain(leaf, ordinary, department)), '401');
      assert.equal(await whoIs(http, withChain(leaf, department)), '401');
      assert.equal(await whoIs(http, withChain(leaf, department), asAdmin), 'root system:masters,system:authenticated');
    });

    it('an authority that only has the name is a stranger', async () => {
      for (const name of ['users', 'proxies']) {
        const stranger = await TestIdentity.root(name);
        const forged = await stranger.issue({ subject: [{ O: ['system:masters'] }, { CN: ['root'] }] });
        for (const identity of [forged, withChain(forged, stranger), withChain(forged, stranger, users, proxies)]) {
          // The TLS library may close an HTTP/2 connection because of a wrong signature, without any response.
          const answer = await whoIs(http, identity, asAdmin).catch((error) => {
            if (http === 2 && error.code === 'ERR_HTTP2_SESSION_ERROR') return '401';
            throw error;
          });
          assert.equal(answer, '401', name);
        }
      }
      const itself = await TestIdentity.root('system:masters');
      assert.equal(await whoIs(http, withChain(itself)), '401');
    });

    it('forged certificates do not disturb the connections of others', async () => {
      const stranger = await TestIdentity.root('users');
      const forged = await stranger.issue({ subject: [{ CN: ['root'] }] });
      const victim = await Http2Client.connect(server.url, cluster.pki.authority, tokens.admin);
      try {
        for (let i = 0; i < 20; i++) {
          await whoIs(http, forged).catch(() => undefined);
          assert.equal((await victim.send('GET', '/api/v1/namespaces/default')).status, 200);
          assert.equal((await server.client.get('/api/v1/namespaces/default')).status, 200);
        }
        assert.equal(victim.session.closed, false);
      } finally {
        await victim.close();
      }
    });

    it('odd names name nobody, or just the one they spell', async () => {
      for (const [cn, seen] of [
        ['', '401'],
        ['root\0.example', 'root\0.example system:authenticated'],
        ['system:masters', 'system:masters system:authenticated'],
        // Cyrillic a and o, a zero-width space: names with other letters are other users.
        ['аdmin', 'аdmin system:authenticated'],
        ['ad\u200bmin', 'ad\u200bmin system:authenticated'],
        [' admin', ' admin system:authenticated'],
        ['admin\nO=system:masters', 'admin\nO=system:masters system:authenticated'],
        ['admin, O=system:masters', 'admin, O=system:masters system:authenticated'],
        ['admin/O=system:masters', 'admin/O=system:masters system:authenticated'],
      ] as const) {
        const identity = await users.issue({ subject: [{ CN: [cn] }] });
        const answer = await whoIs(http, identity);
        assert.ok(answer === seen || answer === '401', JSON.stringify([cn, answer]));
      }
    });

    it('names are what they spell in every type of text, or nobody', async () => {
      const twoTexts = rawName([['O', textNode('utf8', 'a')]], [['CN', tlv(textTags.teletex, Buffer.of(0xc3, 0xb6))]]);
      const twoNames = rawName([
        ['CN', textNode('utf8', 'eve')],
        ['CN', textNode('utf8', 'root')],
      ]);
      const cases: readonly (readonly [Buffer, string])[] = [
        ...(['utf8', 'printable', 'teletex', 'ia5', 'bmp', 'universal'] as const).map(
          (type) => [nameOfType(type, 'eve', 'devs'), 'eve devs,system:authenticated'] as const,
        ),
        [
          rawName([['O', tlv(textTags.bmp, Buffer.from('system:masters'))]], [['CN', textNode('utf8', 'eve')]]),
          'eve 獹獴敭㩭慳瑥牳,system:authenticated',
        ],
        [twoTexts, '401'],
        [twoNames, '401'],
        [nameOfType('utf8', 'root\u0000.example'), '401'],
        [nameOfType('utf8', 'eve', 'system:masters\u0000'), '401'],
      ];
      for (const [subject, expected] of cases) {
        const { pem, key } = rawCertificate(users, subject);
        const seen = await whoIs(http, { chain: pem, key });
        assert.ok(expected === '401' ? seen === expected : seen.includes(expected), `${expected}: ${seen}`);
      }
      const usage = rawExtension('551d25', Buffer.from('300a06082b06010505070302', 'hex'));
      const twice = rawCertificate(users, nameOfType('utf8', 'eve'), usage, usage);
      // The TLS library may close an HTTP/2 connection because of such a certificate, without any response.
      const seen = await whoIs(http, { chain: twice.pem, key: twice.key }).catch((error) => error.code);
      assert.ok(['401', 'ERR_HTTP2_SESSION_ERROR'].includes(seen), `an extension is there twice: ${seen}`);
    });

    it('groups that only look like a privileged one have no rights', async () => {
      for (const group of [
        'system:masters\0',
        'System:Masters',
        'system:mаsters',
        ' system:masters',
        'a,system:masters',
      ]) {
        const identity = await users.issue({ subject: [{ O: [group] }, { CN: ['eve'] }] });
        const credentials = { ca: cluster.pki.authority, cert: identity.chain, key: identity.key };
        const { status } = await sendFields(http, `${server.url}/api/v1/secrets`, credentials, []);
        assert.ok(status === 403 || status === 401, `${JSON.stringify(group)}: ${status}`);
      }
    });
  });

  describe(`fields of proxies from those who are none, over HTTP/${http}`, () => {
    const spellings: readonly FieldLines[] = [
      asAdmin,
      [...asAdmin, ...asAdmin],
      asAdmin.map(([name, value]) => [name.toUpperCase(), value] as const),
      asAdmin.map(([name, value]) => [name.replaceAll('-', '_'), value] as const),
      [['X-Remote-User', 'root, system:admin'], ['X-Remote-Extra-%2f', 'x'], ...asAdmin],
    ];
    for (const [i, lines] of spellings.entries()) {
      it(`count for nothing (spelling ${i + 1})`, async () => {
        const user = await users.issue({ subject: [{ CN: ['eve'] }] });
        assert.equal(await whoIs(http, undefined, lines), anonymous);
        assert.equal(await whoIs(http, undefined, lines, tokens.bob), 'bob system:authenticated');
        assert.equal(await whoIs(http, user, lines), 'eve system:authenticated');
      });
    }
  });
}

describe('a server whose configuration would make every user a proxy', () => {
  it('does not start', async () => {
    const both = join(cluster.directory, 'both.pem');
    writeFileSync(both, proxies.cert + twin.cert);
    const flags = [
      `--client-ca-file=${join(cluster.directory, 'users.pem')}`,
      `--requestheader-client-ca-file=${both}`,
      '--requestheader-username-headers=X-Remote-User',
    ];
    await assert.rejects(cluster.addServer(undefined, flags), /needs --requestheader-allowed-names as well/);
    await cluster.addServer(undefined, [...flags, '--requestheader-allowed-names=front-proxy']);
  });
});

describe('authorities that change', () => {
  it('stay apart: files that would make every user a proxy are not used', async () => {
    const path = (name: string) => join(cluster.directory, `apart-${name}.pem`);
    const write = (name: string, pem: string) => replaceFile(path(name), pem);
    write('users', users.cert);
    write('proxies', proxies.cert);
    const apart = await cluster.addServer(undefined, [
      '--authorization-mode=RBAC',
      `--client-ca-file=${path('users')}`,
      `--requestheader-client-ca-file=${path('proxies')}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
    ]);
    const user = await users.issue({ subject: [{ CN: ['eve'] }] });
    const credentials = { ca: cluster.pki.authority, cert: user.chain, key: user.key };
    const listed = async () => (await sendFields(1, `${apart.url}/api/v1/secrets`, credentials, asAdmin)).status;
    assert.equal(await listed(), 403);
    const refusals = () => apart.log.split('changed certificates are not used').length - 1;
    const department = await proxies.issue({ subject: [{ CN: ['department'] }], authority: true });
    const states: readonly (readonly [string, string])[] = [
      ['proxies', proxies.cert + users.cert],
      ['users', users.cert + proxies.cert],
      ['users', users.cert + department.cert],
    ];
    for (const [i, [name, pem]] of states.entries()) {
      write(name, pem);
      await eventually(() => refusals() > i, 'a word in the log');
      assert.equal(await listed(), 403);
      const map = '/api/v1/namespaces/control-system/configmaps/extension-apiserver-authentication';
      const { data } = (await apart.client.get(map)).body;
      assert.ok(!data['requestheader-client-ca-file'].includes(users.cert.trim()), 'nobody else is told either');
      write(name, name === 'users' ? users.cert : proxies.cert);
    }
    assert.match(apart.log, /needs --requestheader-allowed-names as well/);
  });
});
