import assert from 'node:assert/strict';
import { vendorNames } from '../../../src/base/machinery/vendor.js';
import { makeRequest, toBase64 } from '../../support/certificate-requests.js';
import { type Any, pretend, type Scenario, type Scene, template } from '../scene.js';

async function request(scene: Scene, name: string, fields: object = {}): Promise<string> {
  const full = `${name}-${scene.namespace}`;
  const spec = {
    request: toBase64(await makeRequest({ subject: 'CN=jane' })),
    signerName: (await namesOf(scene)).apiserverClientSigner,
    usages: ['client auth'],
    ...fields,
  };
  await scene.create('certificatesigningrequests', { metadata: { name: full }, spec });
  return full;
}

async function decide(scene: Scene, name: string, type: string): Promise<void> {
  const conditions = [{ type, status: 'True', reason: 'Asked', message: 'as asked' }];
  const live = await scene.get('certificatesigningrequests', name);
  const path = scene.path('certificatesigningrequests', `${name}/approval`);
  const answer = await scene.client.put(path, { ...live, status: { conditions } });
  assert.equal(answer.status, 200, answer.text);
}

const rules = (resource: string) => [{ apiGroups: ['example.com'], resources: [resource], verbs: ['get'] }];
const resourcesOf = ({ rules: all }: Any): string[] => (all ?? []).flatMap(({ resources }: Any) => resources).sort();
const quota = (name: string, spec: object) => ({ metadata: { name }, spec });
const pod = (name: string, fields: object = {}, resources: object = {}, annotations: object = {}) => ({
  metadata: { name, annotations },
  spec: { ...template({}).spec, containers: [{ name: 'main', image: 'web:1', resources }], ...fields },
});
const used = (scene: Scene, name: string, what: string, isSo: (used: Any) => boolean) =>
  scene.until('resourcequotas', name, what, ({ status }) => status?.used !== undefined && isSo(status.used));

export const accounts: readonly Scenario[] = [
  {
    name: 'the account default comes back when it is deleted',
    run: async (scene) => {
      const { metadata } = await scene.get('serviceaccounts', 'default');
      await scene.delete('serviceaccounts', 'default');
      await scene.until('serviceaccounts', 'default', 'another', (made) => made.metadata.uid !== metadata.uid);
    },
  },
  {
    name: 'a secret for a token of an account is filled, and goes with the account',
    run: async (scene) => {
      const names = await namesOf(scene);
      await scene.create('serviceaccounts', { metadata: { name: 'robot' } });
      await scene.create('secrets', {
        metadata: { name: 'robot-token', annotations: { [names.serviceAccountNameAnnotation]: 'robot' } },
        type: names.serviceAccountTokenSecretType,
      });
      const { data } = await scene.until('secrets', 'robot-token', 'a token', (secret) => secret.data?.token);
      assert.equal(Buffer.from(data.namespace, 'base64').toString(), scene.namespace);
      assert.match(Buffer.from(data['ca.crt'], 'base64').toString(), /BEGIN CERTIFICATE/);
      await scene.delete('serviceaccounts', 'robot');
      await scene.untilGone('secrets', 'robot-token');
    },
  },
  {
    name: 'a namespace has the authority of the API, again after somebody changes it',
    run: async (scene) => {
      const isAuthority = ({ metadata, data }: Any) =>
        /root-ca\.crt$/.test(metadata.name) && /BEGIN CERTIFICATE/.test(data?.['ca.crt'] ?? '');
      const [map] = await scene.untilAll('configmaps', 'the authority', (all) => all.some(isAuthority));
      await scene.patch('configmaps', map.metadata.name, { data: { 'ca.crt': 'mine' } });
      await scene.untilAll('configmaps', 'the authority again', (all) => all.some(isAuthority));
      await scene.delete('configmaps', map.metadata.name);
      await scene.untilAll('configmaps', 'the authority once more', (all) => all.some(isAuthority));
    },
  },
  {
    name: 'an aggregated role has the rules of the roles with its label',
    run: async (scene) => {
      const label = `aggregate.example/${scene.namespace}`;
      const name = (suffix: string) => `${suffix}-${scene.namespace}`;
      await scene.create('clusterroles', {
        metadata: { name: name('whole') },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'yes' } }] },
        rules: [],
      });
      for (const part of ['apples', 'pears']) {
        const metadata = { name: name(part), labels: { [label]: 'yes' } };
        await scene.create('clusterroles', { metadata, rules: rules(part) });
      }
      const has = (...resources: string[]) =>
        scene.until(
          'clusterroles',
          name('whole'),
          resources.join(),
          (role) => resourcesOf(role).join() === `${resources}`,
        );
      await has('apples', 'pears');
      await scene.patch('clusterroles', name('pears'), { metadata: { labels: null } });
      await has('apples');
      await scene.patch('clusterroles', name('apples'), { rules: rules('figs') });
      await has('figs');
      for (const part of ['whole', 'apples', 'pears']) await scene.delete('clusterroles', name(part));
    },
  },
  {
    name: 'an approved request for a client certificate is signed',
    run: async (scene) => {
      const name = await request(scene, 'good');
      await decide(scene, name, 'Approved');
      const { status } = await scene.until(
        'certificatesigningrequests',
        name,
        'signed',
        (one) => one.status?.certificate,
      );
      assert.match(Buffer.from(status.certificate, 'base64').toString(), /BEGIN CERTIFICATE/);
    },
  },
  {
    name: 'a denied request and one for another signer get no certificate',
    run: async (scene) => {
      const denied = await request(scene, 'bad');
      await decide(scene, denied, 'Denied');
      const foreign = await request(scene, 'foreign', { signerName: 'example.com/signer' });
      await decide(scene, foreign, 'Approved');
      await scene.stays('no certificate', async () => {
        const both = [denied, foreign].map((name) => scene.get('certificatesigningrequests', name));
        return (await Promise.all(both)).every(({ status }) => status.certificate === undefined);
      });
    },
  },
  {
    name: 'a request that breaks the rules of its signer gets no certificate',
    run: async (scene) => {
      const name = await request(scene, 'usages', { usages: ['client auth', 'server auth'] });
      await decide(scene, name, 'Approved');
      const live = () => scene.get('certificatesigningrequests', name);
      await scene.stays('no certificate', async () => (await live()).status.certificate === undefined);
    },
  },
  {
    name: 'quota counts requests and limits of pods',
    run: async (scene) => {
      const hard = { 'requests.cpu': '4', 'limits.memory': '8Gi', pods: '10' };
      await scene.create('resourcequotas', quota('compute', { hard }));
      await used(scene, 'compute', 'nothing', ({ pods }) => pods === '0');
      const resources = { requests: { cpu: '250m', memory: '1Gi' }, limits: { cpu: '1', memory: '2Gi' } };
      await scene.create('pods', pod('a', {}, resources));
      await scene.create('pods', pod('b', {}, resources));
      await used(scene, 'compute', 'two', (all) => all['requests.cpu'] === '500m' && all['limits.memory'] === '4Gi');
      await scene.delete('pods', 'a');
      await used(scene, 'compute', 'one', (all) => all['requests.cpu'] === '250m' && all['limits.memory'] === '2Gi');
    },
  },
  {
    name: 'quota of a scope counts only pods in it',
    run: async (scene) => {
      await scene.create('resourcequotas', quota('best', { hard: { pods: '5' }, scopes: ['BestEffort'] }));
      await scene.create('resourcequotas', quota('others', { hard: { pods: '5' }, scopes: ['NotBestEffort'] }));
      await scene.create('pods', pod('plain'));
      await scene.create('pods', pod('sized', {}, { requests: { cpu: '1m' } }));
      await scene.create('pods', pod('sized-too', {}, { requests: { cpu: '1m' } }));
      await used(scene, 'best', 'one', ({ pods }) => pods === '1');
      await used(scene, 'others', 'two', ({ pods }) => pods === '2');
    },
  },
  {
    name: 'pods that have ended count no more',
    run: async (scene) => {
      await scene.create('resourcequotas', quota('few', { hard: { pods: '5' } }));
      const task = pod('task', { restartPolicy: 'Never' }, {}, pretend({ 'run-seconds': '0.5' }));
      await scene.create('pods', task);
      await scene.until('pods', 'task', 'ended', ({ status }) => status.phase === 'Succeeded');
      await used(scene, 'few', 'none', ({ pods }) => pods === '0');
    },
  },
  {
    name: 'quota counts objects of any kind',
    run: async (scene) => {
      const hard = { 'count/deployments.apps': '2', services: '3', 'count/secrets': '5' };
      await scene.create('resourcequotas', quota('objects', { hard }));
      await used(scene, 'objects', 'nothing', (all) => all['count/deployments.apps'] === '0');
      const spec = { replicas: 0, selector: { matchLabels: { app: 'web' } }, template: template({ app: 'web' }) };
      await scene.create('deployments', { metadata: { name: 'web' }, spec });
      await scene.create('services', { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
      await used(scene, 'objects', 'one each', (all) => all['count/deployments.apps'] === '1' && all.services === '1');
      await scene.delete('deployments', 'web');
      await scene.delete('services', 'web');
      await used(scene, 'objects', 'none', (all) => all['count/deployments.apps'] === '0' && all.services === '0');
    },
  },
  {
    name: 'the status of a quota follows its limits',
    run: async (scene) => {
      await scene.create('resourcequotas', quota('limits', { hard: { pods: '1' } }));
      await scene.until('resourcequotas', 'limits', 'one', ({ status }) => status?.hard?.pods === '1');
      await scene.patch('resourcequotas', 'limits', { spec: { hard: { pods: '7', services: '2' } } });
      const { status } = await scene.until('resourcequotas', 'limits', 'seven', (one) => one.status.hard.pods === '7');
      assert.deepEqual(Object.keys(status.used).sort(), ['pods', 'services']);
    },
  },
];

/** The names of the server's vendor, which are upstream's when it is compatible. */
async function namesOf(scene: Scene) {
  const { status } = await scene.client.get('/api/v1/namespaces/kube-system');
  return vendorNames('k8s.io', status === 200 ? 'kubernetes' : '');
}
