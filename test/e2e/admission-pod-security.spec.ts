import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ApiClient, ApiResponse } from './support/api-client.js';
import { sharedCluster } from './support/shared-cluster.js';
import { eventually, type TestCluster } from './support/test-cluster.js';

const label = (name: string) => `pod-security.kubernetes.io/${name}`;
const container = { name: 'a', image: 'example/image:1' };
const privileged = { ...container, securityContext: { privileged: true } };
const strict = {
  ...container,
  securityContext: {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ['ALL'] },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};
const violation =
  'PodSecurity "baseline:latest": privileged (container "a" must not set securityContext.privileged=true)';

let cluster: TestCluster;
let client: ApiClient;
let other: ApiClient;
let namespaces = 0;

before(async () => {
  cluster = await sharedCluster('plain');
  client = cluster.first.client;
  other = cluster.second.client;
});
after(() => cluster.stop());

/** Creates a namespace with these labels for pod security. */
async function namespace(labels: Readonly<Record<string, string>>): Promise<string> {
  const name = `pods-${++namespaces}`;
  const own = Object.fromEntries(Object.entries(labels).map(([key, value]) => [label(key), value]));
  const made = await client.post('/api/v1/namespaces', { metadata: { name, labels: own } });
  assert.equal(made.status, 201, made.text);
  return name;
}

function pod(name: string, ...containers: readonly object[]) {
  return { metadata: { name }, spec: { containers } };
}

/** The texts of a response's warnings. */
function warnings({ headers }: ApiResponse): string[] {
  const text = ([] as string[]).concat(headers.warning ?? []).join(', ');
  return [...text.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, warning = '']) => warning.replaceAll(/\\(.)/g, '$1'));
}

describe('pod security', () => {
  it('refuses pods through every server at once, whoever labelled the namespace', async () => {
    const path = `/api/v1/namespaces/${await namespace({ enforce: 'baseline' })}/pods`;
    for (const server of [client, other]) {
      const refused = await server.post(path, pod('bad', privileged));
      assert.equal(refused.status, 403);
      assert.equal(refused.body.message, `pods "bad" is forbidden: violates ${violation}`);
      assert.equal(refused.body.reason, 'Forbidden');
    }
    assert.equal((await other.post(`${path}?dryRun=All`, pod('bad', privileged))).status, 403);
    assert.equal((await other.post(path, pod('good', container))).status, 201);
    assert.equal((await client.get(`${path}/bad`)).status, 404);
  });

  it('admits a restricted pod, and judges images and ephemeral containers, but no labels', async () => {
    const name = await namespace({});
    const path = `/api/v1/namespaces/${name}/pods`;
    assert.equal((await client.post(path, pod('old', container))).status, 201);
    const labels = { [label('enforce')]: 'restricted' };
    const raised = await client.patch(`/api/v1/namespaces/${name}`, 'merge', { metadata: { labels } });
    assert.deepEqual(warnings(raised), [
      `existing pods in namespace "${name}" violate the new PodSecurity enforce level "restricted:latest"`,
      'old: allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, seccompProfile',
    ]);
    await eventually(
      async () => (await client.post(`${path}?dryRun=All`, pod('x', container))).status === 403,
      'the level',
    );
    assert.equal((await client.post(path, pod('new', strict))).status, 201);
    const relabelled = await client.patch(`${path}/old`, 'merge', { metadata: { labels: { a: 'b' } } });
    assert.equal(relabelled.status, 200, relabelled.text);
    const image = { spec: { containers: [{ name: 'a', image: 'other' }] } };
    assert.equal((await client.patch(`${path}/old`, 'strategic-merge', image)).status, 403);
    assert.equal((await client.patch(`${path}/new`, 'strategic-merge', image)).status, 200);
    const debug = (ephemeral: object) => ({ spec: { ephemeralContainers: [{ name: 'e', image: 'x', ...ephemeral }] } });
    const refused = await client.patch(`${path}/new/ephemeralcontainers`, 'strategic-merge', debug({}));
    assert.equal(refused.status, 403, refused.text);
    assert.match(
      refused.body.message,
      /pods "new" is forbidden: violates PodSecurity "restricted:latest": .*container "e"/,
    );
    const { securityContext } = strict;
    const added = await client.patch(`${path}/new/ephemeralcontainers`, 'strategic-merge', debug({ securityContext }));
    assert.equal(added.status, 200, added.text);
    assert.equal((await client.patch(`${path}/old/status`, 'merge', { status: { phase: 'Running' } })).status, 200);
  });

  it('warns about templates and never refuses them', async () => {
    const name = await namespace({ enforce: 'baseline' });
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [privileged] } };
    const spec = { selector: { matchLabels: { a: 'b' } }, template };
    const made = await client.post(`/apis/apps/v1/namespaces/${name}/deployments`, { metadata: { name: 'd' }, spec });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(warnings(made), [`would violate ${violation}`]);
    const job = { restartPolicy: 'Never', containers: [privileged] };
    const cron = { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: job } } } };
    const cronMade = await client.post(`/apis/batch/v1/namespaces/${name}/cronjobs`, {
      metadata: { name: 'c' },
      spec: cron,
    });
    assert.deepEqual([cronMade.status, warnings(cronMade)], [201, [`would violate ${violation}`]]);
  });

  it('refuses labels that it could not apply', async () => {
    const name = await namespace({});
    const labels = { [label('enforce')]: 'strict', [label('warn-version')]: '1.30' };
    const refused = await client.patch(`/api/v1/namespaces/${name}`, 'merge', { metadata: { labels } });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.body.details.causes, [
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "strict": must be one of privileged, baseline, restricted',
        field: `metadata.labels[${label('enforce')}]`,
      },
      {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "1.30": must be "latest" or "v1.x"',
        field: `metadata.labels[${label('warn-version')}]`,
      },
    ]);
  });

  it('looks at many pods in groups, and at no more than there is time for', async () => {
    const name = await namespace({});
    const path = `/api/v1/namespaces/${name}/pods`;
    for (let i = 0; i < 3; i++) assert.equal((await client.post(path, pod(`p${i}`, privileged))).status, 201);
    assert.equal((await client.post(path, pod('plain', container))).status, 201);
    const labels = { [label('enforce')]: 'baseline' };
    const change = { metadata: { labels } };
    const tried = await other.patch(`/api/v1/namespaces/${name}?dryRun=All`, 'merge', change);
    assert.deepEqual(warnings(tried), [
      `existing pods in namespace "${name}" violate the new PodSecurity enforce level "baseline:latest"`,
      'p0 (and 2 other pods): privileged',
    ]);
    assert.equal((await client.get(`/api/v1/namespaces/${name}`)).body.metadata.labels[label('enforce')], undefined);
  });

  it('counts what it judged', async () => {
    const text = (await client.get('/metrics')).text;
    assert.match(
      text,
      /pod_security_evaluations_total\{decision="deny",policy_level="baseline",policy_version="latest",mode="enforce",request_operation="create",resource="pod",subresource=""\} [1-9]/,
    );
    assert.match(text, /apiserver_admission_controller_admission_duration_seconds_count\{[^}]*name="PodSecurity"/);
  });

  it('has defaults and exemptions by configuration, and does not start with a wrong one', async () => {
    const file = join(cluster.directory, 'admission.yaml');
    const write = (configuration: object) =>
      writeFileSync(
        file,
        JSON.stringify({
          apiVersion: 'apiserver.config.k8s.io/v1',
          kind: 'AdmissionConfiguration',
          plugins: [{ name: 'PodSecurity', configuration }],
        }),
      );
    const head = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };
    const free = await namespace({ enforce: 'restricted' });
    const bound = await namespace({});
    write({ ...head, defaults: { enforce: 'baseline' }, exemptions: { namespaces: [free], usernames: ['bob'] } });
    const server = await cluster.addServer(undefined, [`--admission-control-config-file=${file}`]);
    const create = async (namespaceName: string, token?: string) =>
      (await server.client.post(`/api/v1/namespaces/${namespaceName}/pods?dryRun=All`, pod('p', privileged), { token }))
        .status;
    assert.deepEqual([await create(free), await create(bound)], [201, 403]);
    assert.equal(await create(bound, 'bob-token'), 201);
    write({ ...head, defaults: { enforce: 'none', 'audit-version': '7' }, extra: true });
    await assert.rejects(cluster.addServer(undefined, [`--admission-control-config-file=${file}`]), (error: Error) => {
      for (const part of ['defaults.enforce', 'defaults.audit-version', 'extra'])
        assert.match(error.message, new RegExp(part));
      return true;
    });
  });
});
