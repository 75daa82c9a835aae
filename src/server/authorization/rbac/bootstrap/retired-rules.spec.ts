import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { rbacStores } from '../../../../../test/support/rbac-stores.js';
import { startTestPostgres, type TestPostgres } from '../../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../../test/support/test-storage.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { uncoveredPermissions } from '../../../../objects/apis/rbac/rules/rule-cover.js';
import type { ClusterRole, PolicyRule } from '../../../../objects/apis/rbac/v1/role.types.js';
import { bootstrapPolicy } from './bootstrap-policy.js';
import { ensureBootstrapPolicy } from './ensure-policy.js';
import { withoutRetired } from './retired-rules.js';

const names = vendorNames('k8s.io', 'kubernetes');
const change = ['create', 'delete', 'deletecollection', 'patch', 'update'];
/** The rule of editors as former releases wrote it. */
const formerRule = {
  verbs: change,
  apiGroups: [''],
  resources: [
    'configmaps',
    'endpoints',
    'persistentvolumeclaims',
    'replicationcontrollers',
    'replicationcontrollers/scale',
    'secrets',
    'serviceaccounts',
    'services',
    'services/proxy',
  ],
} satisfies PolicyRule;

const role = (name: string, rules: PolicyRule[], metadata: object = {}) =>
  ({ metadata: { name, ...metadata }, rules }) as unknown as ClusterRole;
const writesEndpoints = (rules: readonly PolicyRule[] | null | undefined) =>
  change.filter(
    (verb) =>
      uncoveredPermissions(rules ?? [], [{ verbs: [verb], apiGroups: [''], resources: ['endpoints'] }]).length === 0,
  );

describe('rules that former releases gave too much', () => {
  it('go from roles that have them, also where an administrator added values', () => {
    for (const name of ['system:aggregate-to-edit', 'edit', 'admin']) {
      const more = { ...formerRule, verbs: ['get', ...change], resources: [...formerRule.resources, 'mine'] };
      for (const rule of [formerRule, more]) {
        const { rules } = withoutRetired(role(name, [rule]), names);
        assert.deepEqual(writesEndpoints(rules), [], name);
        // The role still grants everything else.
        const others = { ...rule, resources: rule.resources.filter((resource) => resource !== 'endpoints') };
        assert.deepEqual(uncoveredPermissions(rules ?? [], [others]), []);
      }
      const { rules } = withoutRetired(role(name, [more]), names);
      assert.deepEqual(
        uncoveredPermissions(rules ?? [], [{ verbs: ['get'], apiGroups: [''], resources: ['endpoints'] }]),
        [],
      );
    }
  });

  it('stay where an administrator wrote them, and in other roles', () => {
    const own: PolicyRule = { verbs: change, apiGroups: [''], resources: ['endpoints', 'services'] };
    const everything: PolicyRule = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    const live = role('system:aggregate-to-edit', [own, everything]);
    assert.equal(withoutRetired(live, names), live);
    const other = role('mine', [formerRule]);
    assert.equal(withoutRetired(other, names), other);
    const both = withoutRetired(role('system:aggregate-to-edit', [formerRule, own]), names);
    assert.deepEqual(writesEndpoints(both.rules), change);
    // A rule for one name must not be taken for the rule without names.
    const named = role('system:kube-scheduler', [
      { verbs: ['create'], apiGroups: [''], resources: ['endpoints'], resourceNames: ['x'] },
    ]);
    assert.equal(withoutRetired(named, names), named);
  });

  it('split a rule that gives more verbs than go', () => {
    const binder = role('system:controller:persistent-volume-binder', [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['nodes'] },
    ]);
    assert.deepEqual(withoutRetired(binder, names).rules, [{ verbs: ['list'], apiGroups: [''], resources: ['nodes'] }]);
  });
});

describe('the default policy', () => {
  it('gives no right that the same role of release 1.37 does not give', () => {
    const info = JSON.parse(readFileSync('test/facts/released-roles.json', 'utf8')) as {
      roles: Record<string, readonly string[]>;
    };
    const released = (key: string): PolicyRule[] => {
      const lines = Object.hasOwn(info.roles, key) ? info.roles[key] : undefined;
      assert.ok(lines, `release 1.37 has no role ${key}`);
      return lines.map((line) => {
        const [verbs = [], second = [], resources, resourceNames] = line.split(' | ').map((part) => part.split(' '));
        if (resources === undefined) return { verbs, nonResourceURLs: second };
        const apiGroups = second.map((group) => (group === 'core' ? '' : group));
        return { verbs, apiGroups, resources, ...(resourceNames === undefined ? {} : { resourceNames }) };
      });
    };
    const { clusterRoles, roles } = bootstrapPolicy(names);
    assert.ok(clusterRoles.length > 50 && roles.length > 5);
    for (const { metadata, rules } of [...clusterRoles, ...roles]) {
      const key = metadata.namespace === undefined ? `${metadata.name}` : `${metadata.namespace}/${metadata.name}`;
      assert.deepEqual(uncoveredPermissions(released(key), rules ?? []), [], key);
    }
  });
});

describe('a database whose roles a former release wrote', () => {
  const { signal } = new AbortController();
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres.stop());

  it('lets editors no longer write endpoints, and keeps what administrators added or closed to updates', async () => {
    const storage = await openTestStorage(await postgres.createTestDatabase());
    const key = (name: string) => ({ resource: 'clusterroles.rbac.authorization.k8s.io', namespace: '', name });
    const read = async (name: string) => JSON.parse((await storage.get(key(name)))?.json ?? '{}') as ClusterRole;
    const edit = (name: string, update: (live: ClusterRole) => void) =>
      storage.guaranteedUpdate(key(name), {}, (current) => {
        const object = JSON.parse(current?.json ?? '') as ClusterRole;
        update(object);
        return { kind: 'write', json: JSON.stringify(object), uid: current?.uid ?? '' };
      });
    const former = (live: ClusterRole) => {
      const isNew = ({ verbs, resources }: PolicyRule) => verbs?.length === 5 && resources?.includes('configmaps');
      live.rules = (live.rules ?? []).map((rule) => (isNew(rule) ? formerRule : rule));
    };
    const mine: PolicyRule = { verbs: ['get'], apiGroups: ['example.com'], resources: ['things'] };
    try {
      await ensure(storage);
      for (const name of ['edit', 'admin']) await edit(name, former);
      await edit('system:aggregate-to-edit', (live) => {
        former(live);
        live.rules?.push(mine);
      });
      await edit('system:kube-scheduler', (live) => {
        live.rules?.push({ verbs: ['create'], apiGroups: [''], resources: ['endpoints'] });
        live.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
      });
      assert.deepEqual(writesEndpoints((await read('edit')).rules), change);
      await ensure(storage);
      for (const name of ['edit', 'admin', 'system:aggregate-to-edit']) {
        const { rules } = await read(name);
        assert.deepEqual(writesEndpoints(rules), [], name);
        const secrets = [{ verbs: change, apiGroups: [''], resources: ['secrets', 'configmaps'] }];
        assert.deepEqual(uncoveredPermissions(rules ?? [], secrets), []);
      }
      assert.ok(
        (await read('system:aggregate-to-edit')).rules?.some(({ apiGroups }) => apiGroups?.[0] === 'example.com'),
      );
      assert.deepEqual(writesEndpoints((await read('system:kube-scheduler')).rules), ['create']);
      const head = await storage.head();
      await ensure(storage);
      assert.equal(await storage.head(), head, 'the next start writes nothing');
    } finally {
      await storage.stop();
    }
  });

  function ensure(storage: TestStorage) {
    return ensureBootstrapPolicy(names, rbacStores(storage), signal);
  }
});
