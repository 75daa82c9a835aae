import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeRequest } from '../support/certificate-requests.js';
import type { ApiClient } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { type FieldLines, type FieldsAnswer, sendFields } from './support/send-fields.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, tokens } from './support/test-cluster.js';

const rbacGroup = 'rbac.authorization.k8s.io';
const rbac = `/apis/${rbacGroup}/v1`;
const group = 'authentication.k8s.io';
const selfReviews = `/apis/${group}/v1/selfsubjectreviews`;
const missing = '/api/v1/namespaces/default/configmaps/none';

let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  cluster = await sharedCluster('rbac');
  admin = cluster.first.client;
});
after(() => cluster?.stop());

/** A role of its own and its binding. */
async function grant(name: string, rules: readonly object[], subject: object): Promise<void> {
  const role = await admin.post(`${rbac}/clusterroles`, { metadata: { name }, rules });
  assert.equal(role.status, 201, role.text);
  const binding = await admin.post(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name },
    subjects: [subject],
  });
  assert.equal(binding.status, 201, binding.text);
}

for (const http of [1, 2] as const) {
  describe(`impersonation over HTTP/${http === 1 ? '1.1' : '2'}`, () => {
    const send = (token: string, lines: FieldLines, path = missing, body?: unknown): Promise<FieldsAnswer> =>
      sendFields(http, `${cluster.first.url}${path}`, { ca: cluster.pki.authority, token }, lines, body);
    /** The impersonated user as the server sees it. The privileged group may make this review itself. */
    const become = async (...lines: FieldLines) => {
      const all: FieldLines = [...lines, ['Impersonate-Group', 'system:masters']];
      const { status, body } = await send(tokens.admin, all, selfReviews, {});
      assert.equal(status, 201, JSON.stringify(body));
      return body.status.userInfo;
    };
    const refusal = async (token: string, ...lines: FieldLines): Promise<string> => {
      const { status, body } = await send(token, lines);
      assert.equal(status, 403, JSON.stringify(body));
      return body.message as string;
    };

    it('gives a request the rights of the other user, and no others', async () => {
      assert.equal((await send(tokens.admin, [])).status, 404);
      assert.equal(
        await refusal(tokens.admin, ['Impersonate-User', 'carol']),
        'configmaps "none" is forbidden: User "carol" cannot get resource "configmaps" in API group "" in the namespace "default"',
      );
    });

    it('makes the whole user', async () => {
      const user = await become(
        ['Impersonate-User', 'jürgen, the "first"'],
        ['Impersonate-Group', 'devs, tests'],
        ['impersonate-group', 'ops'],
        ['IMPERSONATE-UID', 'u-1'],
        ['Impersonate-Extra-Scopes', 'view'],
        ['Impersonate-Extra-scopes', 'edit'],
        ['Impersonate-Extra-acme.com%2FProject', 'some-project'],
      );
      assert.deepEqual(user, {
        username: 'jürgen, the "first"',
        uid: 'u-1',
        groups: ['devs, tests', 'ops', 'system:masters', 'system:authenticated'],
        extra: { scopes: ['view', 'edit'], 'acme.com/project': ['some-project'] },
      });
    });

    it('is not left out for spaces and tabs around a name', async () => {
      for (const name of ['carol ', ' carol', '\tcarol', 'carol\t', ' \t carol \t ']) {
        const user = await become(['Impersonate-User', name], ['Impersonate-Group', name]);
        assert.deepEqual([user.username, user.groups[0]], ['carol', 'carol'], JSON.stringify(name));
        assert.match(await refusal(tokens.admin, ['Impersonate-User', name]), /User "carol" cannot get/);
      }
    });

    it('puts special users into their groups', async () => {
      const answer = await refusal(tokens.admin, ['Impersonate-User', 'system:serviceaccount:ns:robot']);
      assert.match(answer, /User "system:serviceaccount:ns:robot" cannot get/);
      const anonymous = await become(['Impersonate-User', 'system:anonymous']);
      assert.deepEqual(anonymous.groups, ['system:masters', 'system:unauthenticated']);
      const declared = await become(['Impersonate-User', 'x'], ['Impersonate-Group', 'system:unauthenticated']);
      assert.deepEqual(declared.groups, ['system:unauthenticated', 'system:masters']);
    });

    it('needs a right to the user, and to what is done as that user', async () => {
      const cannot = (mode: string, who = 'alice') =>
        `configmaps "none" is forbidden: User "${who}" cannot impersonate-on:${mode}:get resource "configmaps" in API group "" in the namespace "default"`;
      assert.equal(await refusal(tokens.alice, ['Impersonate-User', 'bob']), cannot('user-info'));
      const account = (namespace: string): FieldLines => [
        ['Impersonate-User', `system:serviceaccount:${namespace}:sa1`],
      ];
      assert.equal(await refusal(tokens.alice, ...account('ns1')), cannot('serviceaccount'));
      // A name that does not have the form of an account's belongs to an ordinary user.
      assert.equal(await refusal(tokens.alice, ...account('BAD')), cannot('user-info'));

      const name = `impersonator-${http}`;
      await grant(
        name,
        [
          { apiGroups: [''], resources: ['users'], resourceNames: ['carol', 'alice'], verbs: ['impersonate'] },
          { apiGroups: [group], resources: ['users'], resourceNames: ['dave'], verbs: ['impersonate:user-info'] },
          { apiGroups: [''], resources: ['configmaps'], verbs: ['impersonate-on:user-info:get'] },
        ],
        { kind: 'User', apiGroup: rbacGroup, name: 'bob' },
      );
      for (const user of ['carol', 'dave']) {
        await eventually(
          async () => (await refusal(tokens.bob, ['Impersonate-User', user])).includes(`User "${user}" cannot get`),
          `the right to be ${user}`,
        );
      }
      const secrets = '/api/v1/namespaces/default/secrets/none';
      const onSecret = await send(tokens.bob, [['Impersonate-User', 'dave']], secrets);
      assert.match(
        onSecret.body.message,
        /^secrets "none" is forbidden: User "bob" cannot impersonate-on:user-info:get/,
      );
      const other = await refusal(tokens.bob, ['Impersonate-User', 'admin']);
      assert.match(other, new RegExp(`^users\\.${group} "admin" is forbidden: .* cannot impersonate:user-info`));
      const parts: FieldLines = [
        ['Impersonate-Group', 'system:masters'],
        ['Impersonate-Uid', '7'],
        ['Impersonate-Extra-sco%2FPes', 'a'],
      ];
      for (const part of parts) {
        assert.match(await refusal(tokens.bob, ['Impersonate-User', 'carol'], part), /^users\..* "carol" is forbidden/);
        assert.match(await refusal(tokens.bob, ['Impersonate-User', 'dave'], part), /is forbidden: User "bob" cannot/);
      }
    });

    it('is refused when the fields do not name one user', async () => {
      const cases: readonly FieldLines[] = [
        [['Impersonate-User', '']],
        [['Impersonate-User', ' \t ']],
        [['Impersonate-Uid', '']],
        [['Impersonate-Group', 'devs']],
        [['Impersonate-Uid', '1']],
        [['Impersonate-Extra-a', 'b']],
        [
          ['Impersonate-User', ''],
          ['Impersonate-Group', 'devs'],
        ],
        [
          ['Impersonate-User', 'carol'],
          ['Impersonate-User', 'admin'],
        ],
        [
          ['Impersonate-User', 'carol'],
          ['impersonate-user', 'carol'],
        ],
        [
          ['Impersonate-User', 'carol'],
          ['Impersonate-Uid', '1'],
          ['Impersonate-Uid', '2'],
        ],
        [
          ['Impersonate-User', 'carol'],
          ['Impersonate-Extra-', '1'],
        ],
      ];
      for (const lines of cases) {
        const { status, body } = await send(tokens.admin, lines);
        assert.equal(status, 400, JSON.stringify(lines));
        assert.equal(body.reason, 'BadRequest');
      }
    });

    it('is not smuggled in by fields that only look alike', async () => {
      for (const name of ['Impersonate_User', 'X-Impersonate-User', 'Impersonate.User']) {
        assert.equal((await send(tokens.admin, [[name, 'carol']])).status, 404, name);
      }
      assert.equal((await send(tokens.admin, [['Impersonate-Users', 'carol']])).status, 404);
    });

    it('comes after authentication', async () => {
      const { status } = await send('wrong', [['Impersonate-User', 'carol']]);
      assert.equal(status, 401);
    });

    it('does not get lost behind many other fields', async () => {
      const fields = (count: number): FieldLines => Array.from({ length: count }, (_, i) => [`x${i}`, ''] as const);
      assert.match(
        await refusal(tokens.admin, ...fields(1200), ['Impersonate-User', 'carol']),
        /User "carol" cannot get/,
      );
      const groups = Array.from({ length: 500 }, (_, i) => ['Impersonate-Group', `group-${i}`] as const);
      assert.equal((await become(['Impersonate-User', 'carol'], ...groups)).groups.length, 502);
    });

    it('is bounded by the length of the head', async () => {
      const groups = Array.from({ length: 1500 }, (_, i) => ['Impersonate-Group', `group-${i}`] as const);
      const { status } = await send(tokens.admin, [['Impersonate-User', 'carol'], ...groups]);
      assert.equal(status, 431);
      assert.equal((await send(tokens.admin, [])).status, 404);
    });
  });
}

describe('impersonation', () => {
  it('is what objects are told about their creator', async () => {
    const request = Buffer.from(await makeRequest()).toString('base64');
    const spec = { request, signerName: 'example.com/any', usages: ['client auth'] };
    const headers = { 'Impersonate-User': 'carol', 'Impersonate-Group': 'system:masters', 'Impersonate-Uid': '7' };
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All';
    const answer = await admin.post(path, { metadata: { name: 'x' }, spec }, { headers });
    assert.equal(answer.status, 201, answer.text);
    const { username, uid, groups } = answer.body.spec;
    assert.deepEqual([username, uid, groups], ['carol', '7', ['system:masters', 'system:authenticated']]);
  });

  it('is for kubectl too', () => {
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    const refused = kubectl.run(['get', 'configmaps', '--as=carol', '--as-group=devs']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /User "carol" cannot list resource "configmaps"/);
    assert.match(kubectl.ok(['get', 'namespaces', '--as=carol', '--as-group=system:masters', '-o', 'name']), /default/);
  });
});
