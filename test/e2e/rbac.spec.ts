import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { formatKubeconfig } from '../../src/tools/cli/kubeconfig.js';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { Kubectl } from './support/kubectl.js';
import { questionsUntil } from './support/questions.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster, type TestServer, tokens } from './support/test-cluster.js';

const group = 'rbac.authorization.k8s.io';
const rbac = `/apis/${group}/v1`;
const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

let cluster: TestCluster;
let admin: ApiClient;

before(async () => {
  cluster = await sharedCluster('loops');
  admin = cluster.first.client;
});

after(() => cluster.stop());

/** Creates a namespace for one test. */
async function makeNamespace(name: string): Promise<string> {
  assert.equal((await admin.post('/api/v1/namespaces', { metadata: { name } })).status, 201);
  return name;
}

async function created(path: string, body: unknown): Promise<void> {
  const answer = await admin.post(path, body);
  assert.equal(answer.status, 201, answer.text);
}

function binding(name: string, role: string, ...subjects: string[]) {
  const [kind, roleName] = role.split(' ');
  return {
    metadata: { name },
    roleRef: { apiGroup: group, kind, name: roleName },
    subjects: subjects.map((subject) => {
      const [subjectKind, subjectName] = subject.split(' ');
      return { kind: subjectKind, apiGroup: group, name: subjectName };
    }),
  };
}

/** Resolves when every server answers with this code. */
async function everywhere(path: string, token: string, status: number): Promise<void> {
  for (const { client } of cluster.servers) {
    await eventually(async () => (await client.get(path, { token })).status === status, `${status} for ${path}`);
  }
}

function kubectlAs(
  server: TestServer,
  token: string,
): (args: readonly string[], input?: string) => ReturnType<Kubectl['run']> {
  const path = join(cluster.directory, `kubeconfig-${token}`);
  writeFileSync(path, formatKubeconfig({ server: server.url, authority: cluster.pki.authority, client: undefined }));
  const kubectl = new Kubectl(path);
  return (args, input) => kubectl.run([...args, `--token=${token}`], input);
}

function messageOf({ status, body }: ApiResponse): string {
  assert.equal(status, 403);
  assert.equal(body.reason, 'Forbidden');
  return body.message as string;
}

describe('the default policy', () => {
  it('lets everybody look around and nobody do anything', async () => {
    const { alice } = tokens;
    const anonymous = cluster.clientFor(cluster.second);
    for (const path of ['/version', '/healthz', '/livez', '/readyz']) {
      assert.equal((await anonymous.get(path)).status, 200, path);
    }
    for (const path of ['/api', '/apis', `/apis/${group}/v1`, '/openapi/v2']) {
      assert.equal((await admin.get(path, { token: alice })).status, 200, path);
      assert.equal((await anonymous.get(path)).status, 403, path);
    }
    assert.equal(
      messageOf(await anonymous.get('/metrics')),
      'forbidden: User "system:anonymous" cannot get path "/metrics"',
    );
    const denied = await admin.get('/api/v1/nodes/n', { token: alice });
    assert.deepEqual(denied.body, {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'nodes "n" is forbidden: User "alice" cannot get resource "nodes" in API group "" at the cluster scope',
      reason: 'Forbidden',
      details: { name: 'n', kind: 'nodes' },
      code: 403,
    });
    anonymous.close();
  });

  it('is there before a process is ready', async () => {
    const report = await cluster.second.client.get('/readyz?verbose');
    assert.match(report.text, /^\[\+\]poststarthook\/rbac\/bootstrap-roles ok$/m);
    const edit = await admin.get(`${rbac}/clusterroles/edit`);
    assert.equal(edit.body.metadata.labels['kubernetes.io/bootstrapping'], 'rbac-defaults');
    assert.ok(edit.body.rules.length > 10);
  });

  it('is not needed by system:masters', async () => {
    const removed = await admin.delete(`${rbac}/clusterrolebindings/cluster-admin`);
    assert.equal(removed.status, 200);
    await everywhere('/api/v1/secrets', tokens.admin, 200);
    const restarted = await cluster.restartServer(cluster.second);
    assert.equal((await restarted.client.get(`${rbac}/clusterrolebindings/cluster-admin`)).status, 200);
  });
});

describe('roles and bindings', () => {
  it('are in force in every process within a second, and gone as fast', async () => {
    const ns = await makeNamespace('speed');
    const path = `/api/v1/namespaces/${ns}/pods`;
    const token = tokens.alice;
    await created(`${rbac}/namespaces/${ns}/roles`, { metadata: { name: 'r' }, rules: [readPods] });
    const pauseMs = 30;
    const questions: number[] = [];
    const ask = async (status: number): Promise<void> => {
      for (const { client } of cluster.servers) {
        const isSo = async () => (await client.get(path, { token })).status === status;
        questions.push(await questionsUntil(isSo, `${status} for ${path}`, pauseMs));
      }
    };
    for (let i = 0; i < 5; i++) {
      await created(`${rbac}/namespaces/${ns}/rolebindings`, binding('b', 'Role r', 'User alice'));
      await ask(200);
      assert.equal((await admin.delete(`${rbac}/namespaces/${ns}/rolebindings/b`)).status, 200);
      await ask(403);
    }
    await created(`${rbac}/namespaces/${ns}/rolebindings`, binding('g', 'Role r', 'Group devs'));
    await ask(200);
    await admin.patch(`${rbac}/namespaces/${ns}/roles/r`, 'merge', { rules: [] });
    await ask(403);
    assert.ok(Math.max(...questions) * pauseMs < 1000, questions.join());
  });

  it('grant by name, inside their namespace, to watchers too', async () => {
    const ns = await makeNamespace('narrow');
    const token = tokens.bob;
    const rules = [
      { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'] },
    ];
    await created(`${rbac}/namespaces/${ns}/roles`, { metadata: { name: 'one' }, rules });
    await created(`${rbac}/namespaces/${ns}/rolebindings`, binding('one', 'Role one', 'User bob'));
    await created(`${rbac}/namespaces/${ns}/rolebindings`, binding('v', 'ClusterRole view', 'User carol'));
    for (const name of ['one', 'two']) await created(`/api/v1/namespaces/${ns}/configmaps`, { metadata: { name } });
    const path = `/api/v1/namespaces/${ns}/configmaps`;
    await everywhere(`${path}/one`, token, 200);
    const get = async (where: string) => (await admin.get(where, { token })).status;
    assert.equal(await get(`${path}/two`), 403);
    assert.equal(await get(path), 403);
    assert.equal(await get(`${path}?fieldSelector=metadata.name%3Dtwo`), 403);
    assert.equal(await get(`/api/v1/configmaps?fieldSelector=metadata.name%3Done`), 403);
    const list = await admin.get(`${path}?fieldSelector=metadata.name%3Done`, { token });
    assert.deepEqual(
      list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name),
      ['one'],
    );
    const watch = await admin.watch(`${path}?watch=1&fieldSelector=metadata.name%3Done`, { token });
    assert.equal(watch.status, 200);
    assert.equal((await watch.next())?.object.metadata.name, 'one');
    watch.close();
    const all = await admin.watch(`${path}?watch=1`, { token });
    assert.equal(all.status, 403);
    all.close();
    assert.equal((await admin.delete(`${path}?fieldSelector=metadata.name%3Done`, undefined, { token })).status, 403);
  });
});

describe('escalation', () => {
  const { alice, bob } = tokens;
  let ns: string;

  // Alice may write roles and bindings, has pods, and lists nodes only through a cluster role.
  before(async () => {
    ns = await makeNamespace('escalation');
    const writeRoles = {
      verbs: ['get', 'create', 'update', 'patch'],
      apiGroups: [group],
      resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    };
    await created(`${rbac}/clusterroles`, { metadata: { name: 'writer' }, rules: [writeRoles, readPods] });
    await created(`${rbac}/clusterrolebindings`, binding('writer', 'ClusterRole writer', 'User alice'));
    const secrets = { verbs: ['get'], apiGroups: [''], resources: ['secrets'] };
    await created(`${rbac}/namespaces/${ns}/roles`, { metadata: { name: 'secrets' }, rules: [secrets] });
    await everywhere(`${rbac}/clusterroles/writer`, alice, 200);
  });

  const held =
    'user "alice" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:';

  it('is refused whichever way the role is written', async () => {
    const roles = `${rbac}/namespaces/${ns}/roles`;
    const token = alice;
    const rule = { verbs: ['get', 'delete'], apiGroups: [''], resources: ['pods', 'secrets'] };
    const missing = [
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
      '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
    ];
    const text = (name: string) => `roles.${group} "${name}" is forbidden: ${held}\n${missing.join('\n')}`;
    const more = { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name: 'more' }, rules: [rule] };
    const post = await admin.post(roles, more, { token });
    assert.equal(messageOf(post), text('more'));
    assert.deepEqual(post.body.details, { name: 'more', group, kind: 'roles' });
    assert.equal(messageOf(await admin.post(`${roles}?dryRun=All`, more, { token })), text('more'));
    assert.equal(messageOf(await admin.put(`${roles}/more`, more, { token })), text('more'));
    const applied = await admin.send('PATCH', `${roles}/more?fieldManager=x`, {
      raw: JSON.stringify(more),
      contentType: 'application/apply-patch+yaml',
      token,
    });
    assert.equal(messageOf(applied), text('more'));
    assert.equal((await admin.get(`${roles}/more`)).status, 404);

    const own = { ...more, metadata: { name: 'own' }, rules: [readPods] };
    assert.equal((await admin.post(roles, own, { token })).status, 201);
    assert.equal(messageOf(await admin.put(`${roles}/own`, { ...own, rules: [rule] }, { token })), text('own'));
    const merged = await admin.patch(`${roles}/own`, 'merge', { rules: [rule] }, { token });
    assert.equal(messageOf(merged), text('own'));
    const json = [{ op: 'replace', path: '/rules/0', value: rule }];
    assert.equal(messageOf(await admin.patch(`${roles}/own`, 'json', json, { token })), text('own'));
    assert.deepEqual((await admin.get(`${roles}/own`)).body.rules, [readPods]);
    // Not even a label: a user who could set it could make a role of others part of an aggregated one.
    const labelled = await admin.patch(`${roles}/secrets`, 'merge', { metadata: { labels: { a: 'b' } } }, { token });
    assert.match(messageOf(labelled), /not currently held/);
    const released = await admin.patch(`${roles}/secrets`, 'merge', { metadata: { finalizers: [] } }, { token });
    assert.equal(released.status, 200);
  });

  it('is refused by way of bindings', async () => {
    const bindings = `${rbac}/namespaces/${ns}/rolebindings`;
    const token = alice;
    const refused = await admin.post(bindings, binding('up', 'Role secrets', 'User alice'), { token });
    assert.equal(
      messageOf(refused),
      `rolebindings.${group} "up" is forbidden: ${held}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`,
    );
    const put = await admin.put(`${bindings}/up`, binding('up', 'ClusterRole cluster-admin', 'User alice'), { token });
    assert.match(messageOf(put), /\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}/);
    const nothing = await admin.post(bindings, binding('up', 'Role nothing', 'User alice'), { token });
    assert.equal(nothing.status, 404);
    assert.equal(nothing.body.message, `rolebindings.${group} "nothing" not found`);
    const unnamed = await admin.post(bindings, binding('up', 'Role ', 'User alice'), { token });
    assert.deepEqual([unnamed.status, unnamed.body.message], [400, 'Name parameter required.']);
    const whole = await admin.post(`${rbac}/clusterrolebindings`, binding('up', 'Role x', 'User alice'), { token });
    assert.deepEqual([whole.status, whole.body.message], [400, 'Namespace parameter required.']);
    const odd = await admin.post(bindings, binding('up', 'Rule nothing', 'User alice'), { token });
    assert.equal(odd.status, 422);
    assert.equal((await admin.get(`${bindings}/up`)).status, 404);

    await created(bindings, binding('theirs', 'Role secrets', 'User bob'));
    const joined = await admin.patch(`${bindings}/theirs`, 'merge', binding('theirs', 'Role secrets', 'User alice'), {
      token,
    });
    assert.match(messageOf(joined), /not currently held/);
    const own = await admin.post(`${rbac}/clusterrolebindings`, binding('own', 'ClusterRole writer', 'User bob'), {
      token,
    });
    assert.equal(own.status, 201, own.text);
  });

  it('is refused by way of aggregation', async () => {
    const token = alice;
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const message = 'must have cluster-admin privileges to use the aggregationRule';
    const post = await admin.post(`${rbac}/clusterroles`, { metadata: { name: 'agg' }, aggregationRule }, { token });
    assert.equal(messageOf(post), `clusterroles.${group} "agg" is forbidden: ${message}`);
    await created(`${rbac}/clusterroles`, { metadata: { name: 'collects' }, aggregationRule });
    const emptied = await admin.patch(`${rbac}/clusterroles/collects`, 'merge', { aggregationRule: null }, { token });
    assert.equal(messageOf(emptied), `clusterroles.${group} "collects" is forbidden: ${message}`);
  });

  it('is allowed by the verbs escalate and bind', async () => {
    const token = bob;
    const rules = [
      { verbs: ['create', 'escalate'], apiGroups: [group], resources: ['roles'] },
      { verbs: ['create'], apiGroups: [group], resources: ['rolebindings'] },
      { verbs: ['bind'], apiGroups: [group], resources: ['roles'], resourceNames: ['secrets'] },
    ];
    const home = await makeNamespace('verbs');
    const base = `${rbac}/namespaces/${home}`;
    await created(`${base}/roles`, { metadata: { name: 'verbs' }, rules });
    const nodes = { verbs: ['get'], apiGroups: [''], resources: ['nodes'] };
    await created(`${base}/roles`, { metadata: { name: 'secrets' }, rules: [nodes] });
    const services = { verbs: ['get'], apiGroups: [''], resources: ['services'] };
    await created(`${base}/roles`, { metadata: { name: 'others' }, rules: [services] });
    await created(`${base}/rolebindings`, binding('verbs', 'Role verbs', 'User bob'));
    const grant = () => admin.post(`${base}/roles?dryRun=All`, { metadata: { name: 'x' }, rules: [nodes] }, { token });
    await eventually(async () => (await grant()).status === 201, 'the verb escalate counts');
    assert.equal(
      (await admin.post(`${base}/rolebindings`, binding('ok', 'Role secrets', 'User bob'), { token })).status,
      201,
    );
    const other = await admin.post(`${base}/rolebindings`, binding('no', 'Role others', 'User bob'), { token });
    assert.match(messageOf(other), /not currently held/);
  });
});

describe('aggregation', () => {
  it('makes rules of labelled roles part of a role that collects them, and of admin', async () => {
    const ns = await makeNamespace('aggregation');
    const widgets = { verbs: ['get', 'list'], apiGroups: ['example.dev'], resources: ['widgets'] };
    const path = `/apis/example.dev/v1/namespaces/${ns}/widgets`;
    await created(`${rbac}/namespaces/${ns}/rolebindings`, binding('a', 'ClusterRole admin', 'User bob'));
    await everywhere(`/api/v1/namespaces/${ns}/pods`, tokens.bob, 200);
    await everywhere(path, tokens.bob, 403);
    const labels = { [`${group}/aggregate-to-view`]: 'true' };
    await created(`${rbac}/clusterroles`, { metadata: { name: 'widgets', labels }, rules: [widgets] });
    // Nothing is served there, but only users with the right to read learn that.
    await everywhere(path, tokens.bob, 404);
    await admin.delete(`${rbac}/clusterroles/widgets`);
    await everywhere(path, tokens.bob, 403);
  });
});

describe('kubectl', () => {
  it('creates roles and bindings that work at once', async () => {
    const ns = await makeNamespace('by-hand');
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    kubectl.ok(['create', 'role', 'reader', '-n', ns, '--verb=get,list', '--resource=pods,deployments.apps']);
    kubectl.ok(['create', 'rolebinding', 'reader', '-n', ns, '--role=reader', '--user=bob']);
    await everywhere(`/apis/apps/v1/namespaces/${ns}/deployments`, tokens.bob, 200);
    const bob = kubectlAs(cluster.second, tokens.bob);
    assert.equal(bob(['get', 'pods', '-n', ns]).code, 0);
    const denied = bob(['get', 'secrets', '-n', ns]);
    assert.equal(denied.code, 1);
    assert.match(
      denied.stderr,
      /^Error from server \(Forbidden\): secrets is forbidden: User "bob" cannot list resource/,
    );
    assert.match(kubectl.ok(['describe', 'clusterrole', 'view']), /pods\/log/);
  });

  it('reconciles the roles of a file, as far as its user may', async () => {
    const ns = await makeNamespace('reconciled');
    const kubectl = new Kubectl(cluster.first.kubeconfig);
    const role = (verbs: string[]) =>
      JSON.stringify({
        apiVersion: `${group}/v1`,
        kind: 'Role',
        metadata: { name: 'r', namespace: ns },
        rules: [{ ...readPods, verbs }],
      });
    kubectl.ok(['auth', 'reconcile', '-f', '-'], role(['get']));
    kubectl.ok(['auth', 'reconcile', '-f', '-'], role(['list']));
    const { body } = await admin.get(`${rbac}/namespaces/${ns}/roles/r`);
    assert.deepEqual(
      body.rules.map(({ verbs }: { verbs: string[] }) => verbs),
      [['get'], ['list']],
    );
    await created(
      `${rbac}/namespaces/${ns}/rolebindings`,
      binding('w', 'ClusterRole admin', 'User carol', 'Group devs'),
    );
    await everywhere(`${rbac}/namespaces/${ns}/roles/r`, tokens.alice, 200);
    const alice = kubectlAs(cluster.first, tokens.alice);
    assert.equal(alice(['auth', 'reconcile', '-f', '-'], role(['watch'])).code, 0);
    const refused = alice(['auth', 'reconcile', '-f', '-'], role(['approve']));
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["pods"\], Verbs:\["approve"\]\}/,
    );
  });
});
