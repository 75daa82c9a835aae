import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually, TestCluster } from './support/test-cluster.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const flows = '/apis/flowcontrol.apiserver.k8s.io/v1';

interface Entry {
  readonly manager: string;
  readonly subresource?: string;
  readonly fieldsV1: Readonly<Record<string, unknown>>;
}

for (const compat of ['kubernetes', '']) {
  const named = (upstream: string) => (compat === 'kubernetes' ? upstream : 'plinth');
  const system = compat === 'kubernetes' ? 'kube-system' : 'control-system';

  describe(`the fields of objects that the server makes, ${compat || 'with our own names'}`, () => {
    let cluster: TestCluster;
    before(async () => {
      const flags = ['--authorization-mode=RBAC', `--compat=${compat}`];
      cluster = await TestCluster.start({ servers: 1, flags, controllers: true, controllerFlags: flags });
    });
    after(() => cluster?.stop());

    const owners = async (path: string): Promise<string[]> => {
      const { status, body, text } = await cluster.first.client.get(path);
      assert.equal(status, 200, text);
      const entries: readonly Entry[] = (body.items?.[0] ?? body).metadata.managedFields ?? [];
      return entries.map(({ manager, subresource }) => `${manager} ${subresource ?? ''}`.trimEnd()).sort();
    };
    const become = (path: string, expected: readonly string[]) =>
      eventually(async () => {
        const found = await owners(path);
        return expected.every((one) => found.includes(one));
      }, `the owners of ${path}`);

    it('have owners from the start', async () => {
      const server = named('kube-apiserver');
      const service = '/api/v1/namespaces/default/services/kubernetes';
      for (const path of [service, '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical']) {
        assert.deepEqual(await owners(path), [server], path);
      }
      await become(`/api/v1/namespaces/${system}`, [server]);
      await become('/apis/networking.k8s.io/v1/servicecidrs/kubernetes', [server]);
      await become('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes', [server]);
      await become(`${rbac}/clusterroles/cluster-admin`, [server]);
      await become(`${rbac}/clusterrolebindings/cluster-admin`, [server]);
      const defaults = named('api-priority-and-fairness-config-producer-v1');
      await become(`${flows}/prioritylevelconfigurations/catch-all`, [defaults]);
      await become(`${flows}/flowschemas/catch-all`, [
        defaults,
        `${named('api-priority-and-fairness-config-consumer-v1')} status`,
      ]);
      const leases = `/apis/coordination.k8s.io/v1/namespaces/${system}/leases`;
      await become(`${leases}?labelSelector=apiserver.kubernetes.io%2Fidentity`, [server]);
    });

    it('get another owner where a loop collects the rules of a role', async () => {
      const { client } = cluster.first;
      const path = `${rbac}/clusterroles/view`;
      await become(path, [named('kube-apiserver')]);
      const [selector] = (await client.get(path)).body.aggregationRule.clusterRoleSelectors;
      const rules = [{ apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }];
      const metadata = { name: 'things', labels: selector.matchLabels };
      assert.equal((await client.post(`${rbac}/clusterroles`, { metadata, rules })).status, 201);
      await eventually(async () => {
        const { body } = await client.get(path);
        const collector = (body.metadata.managedFields as Entry[]).find((one) => 'f:rules' in one.fieldsV1);
        return (
          JSON.stringify(body.rules).includes('things') &&
          collector?.manager === named('clusterrole-aggregation-controller')
        );
      }, 'the owner of the collected rules');
    });

    it('are taken from their owner by force only', async () => {
      const path = `${rbac}/clusterroles/system:basic-user`;
      await become(path, [named('kube-apiserver')]);
      const raw = JSON.stringify({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: 'system:basic-user' },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
      });
      const apply = (force: boolean) =>
        cluster.first.client.send('PATCH', `${path}?fieldManager=probe&force=${force}`, {
          raw,
          contentType: 'application/apply-patch+yaml',
        });
      const refused = await apply(false);
      assert.equal(refused.status, 409, refused.text);
      const [cause] = refused.body.details.causes;
      assert.equal(cause.field, '.rules');
      assert.ok(cause.message.startsWith(`conflict with "${named('kube-apiserver')}"`), cause.message);
      assert.equal((await apply(true)).status, 200);
    });
  });
}
