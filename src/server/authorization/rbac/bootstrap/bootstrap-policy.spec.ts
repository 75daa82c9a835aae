import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { testNames } from '../../../../../test/support/definition-tester.js';
import { rbacStores } from '../../../../../test/support/rbac-stores.js';
import { registeredGroups } from '../../../../../test/support/registered-groups.js';
import { startTestPostgres, type TestPostgres } from '../../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import type { ClusterRole } from '../../../../objects/apis/rbac/v1/role.types.js';
import type { RoleBinding } from '../../../../objects/apis/rbac/v1/role-binding.types.js';
import { verbsOf } from '../../../../objects/registry/resource-definition.js';
import { bootstrapPolicy } from './bootstrap-policy.js';
import { ensureBootstrapPolicy } from './ensure-policy.js';
import { isOptedOut, reconciledBinding, reconciledRole } from './reconcile.js';

const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';

describe('bootstrapPolicy', () => {
  it('binds only roles that it has, and names everything once', () => {
    for (const names of [vendorNames('k8s.io'), vendorNames('example.dev'), vendorNames('k8s.io', 'kubernetes')]) {
      const { clusterRoles, clusterRoleBindings, roles, roleBindings } = bootstrapPolicy(names);
      const keys = (objects: readonly { metadata: { name?: string; namespace?: string } }[]) =>
        objects.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
      const clusterKeys = keys(clusterRoles);
      const roleKeys = keys(roles);
      for (const list of [clusterKeys, keys(clusterRoleBindings), roleKeys, keys(roleBindings)]) {
        assert.equal(new Set(list).size, list.length);
      }
      for (const { roleRef } of clusterRoleBindings) assert.ok(clusterKeys.includes(`/${roleRef.name}`), roleRef.name);
      for (const { roleRef, metadata } of roleBindings) {
        assert.ok(roleKeys.includes(`${metadata.namespace}/${roleRef.name}`), roleRef.name);
      }
      for (const { metadata } of [...clusterRoles, ...roles])
        assert.equal(Object.keys(metadata.labels ?? {}).length > 0, true);
    }
  });

  it('is spelled with the names of the vendor', () => {
    const text = JSON.stringify(bootstrapPolicy(vendorNames('example.dev')));
    assert.doesNotMatch(text, /k8s\.io|kubernetes\.io|kube-system/);
    assert.match(text, /"apiGroups":\["networking\.example\.dev"\]/);
    assert.match(text, /"rbac\.authorization\.example\.dev\/aggregate-to-view":"true"/);
    assert.match(text, /system:certificates\.example\.dev:certificatesigningrequests:nodeclient/);
    assert.match(text, /"resourceNames":\["example\.dev\/apiserver-client"\]/);
  });

  it('fills aggregated roles, including those that collect from others', () => {
    const { clusterRoles } = bootstrapPolicy(vendorNames('k8s.io'));
    const resources = (name: string) => {
      const role = clusterRoles.find(({ metadata }) => metadata.name === name);
      return new Set(role?.rules?.flatMap(({ verbs, resources: list = [] }) => list.map((r) => `${verbs?.[0]} ${r}`)));
    };
    const view = resources('view');
    assert.ok(view.has('get pods/log') && !view.has('get secrets'));
    for (const one of view) assert.ok(resources('edit').has(one), one);
    for (const one of resources('edit')) assert.ok(resources('admin').has(one), one);
    assert.ok(resources('admin').has('create rolebindings') && !resources('edit').has('create rolebindings'));
  });
});

describe('default roles of people', () => {
  /** Resources that viewers of a namespace can't see, and why. */
  const unseen: Readonly<Record<string, string>> = {
    'csistoragecapacities.storage.k8s.io': 'told to the scheduler',
    'leases.coordination.k8s.io': 'elections among components',
    podtemplates: 'no component uses them',
    'rolebindings.rbac.authorization.k8s.io': 'for admins',
    'roles.rbac.authorization.k8s.io': 'for admins',
    secrets: 'hold tokens of accounts that may more',
    'compositepodgroups.scheduling.k8s.io': 'off by default',
    'evictionrequests.lifecycle.k8s.io': 'off by default',
    'evictions.lifecycle.k8s.io': 'off by default',
    'leasecandidates.coordination.k8s.io': 'elections among components',
    'podcertificaterequests.certificates.k8s.io': 'made by nodes for their pods',
    'pods.metrics.k8s.io': 'off by default',
    'podgroups.scheduling.k8s.io': 'off by default',
    'workloads.scheduling.k8s.io': 'off by default',
  };
  /** Resources that editors of a namespace can't create, and why. */
  const unmade: Readonly<Record<string, string>> = {
    bindings: 'the scheduler decides where pods run',
    'controllerrevisions.apps': 'made by a control loop',
    'csistoragecapacities.storage.k8s.io': 'made by storage drivers',
    endpoints: 'would send the traffic of services anywhere (CVE-2021-25740)',
    'endpointslices.discovery.k8s.io': 'made by a control loop',
    limitranges: 'bind the editors themselves',
    'localsubjectaccessreviews.authorization.k8s.io': 'for admins',
    podtemplates: 'no component uses them',
    resourcequotas: 'bind the editors themselves',
    'rolebindings.rbac.authorization.k8s.io': 'for admins',
    'roles.rbac.authorization.k8s.io': 'for admins',
    'compositepodgroups.scheduling.k8s.io': 'off by default',
    'evictionrequests.lifecycle.k8s.io': 'off by default',
    'evictions.lifecycle.k8s.io': 'off by default',
    'leasecandidates.coordination.k8s.io': 'elections among components',
    'podcertificaterequests.certificates.k8s.io': 'made by nodes for their pods',
    'podgroups.scheduling.k8s.io': 'off by default',
    'workloads.scheduling.k8s.io': 'off by default',
  };

  it('cover every namespaced kind, except for a reason', async () => {
    const { registry } = await registeredGroups();
    const { clusterRoles } = bootstrapPolicy(testNames);
    const without = (role: string, verb: 'list' | 'create') => {
      const rules = clusterRoles.find(({ metadata }) => metadata.name === role)?.rules ?? [];
      return [...registry.definitions()]
        .filter((definition) => definition.namespaced && verbsOf(definition).includes(verb))
        .filter(
          ({ group, resource }) =>
            !rules.some(
              ({ verbs, apiGroups, resources }) =>
                verbs?.includes(verb) && apiGroups?.includes(group) && resources?.includes(resource),
            ),
        )
        .map(({ group, resource }) => (group === '' ? resource : `${resource}.${group}`))
        .sort();
    };
    assert.deepEqual(without('view', 'list'), Object.keys(unseen).sort());
    assert.deepEqual(without('edit', 'create'), Object.keys(unmade).sort());
  });
});

describe('reconcile', () => {
  const role = (rest: object) => ({ metadata: { name: 'r' }, rules: [], ...rest }) as unknown as ClusterRole;
  const rule = (verbs: string, resources: string) => ({
    verbs: verbs.split(' '),
    apiGroups: [''],
    resources: resources.split(' '),
  });

  it('adds missing parts of a role and keeps additional ones', () => {
    const live = role({ rules: [rule('get', 'pods'), rule('get', 'secrets')] });
    const wanted = role({ rules: [rule('get list', 'pods nodes')] });
    assert.deepEqual(reconciledRole(live, wanted).rules, [
      ...(live.rules ?? []),
      rule('list', 'pods'),
      rule('get list', 'nodes'),
    ]);
    assert.equal(reconciledRole(wanted, wanted), wanted);
    const wide = role({ rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] });
    assert.equal(reconciledRole(wide, wanted), wide);
  });

  it('adds labels and annotations without changing any', () => {
    const live = role({ metadata: { name: 'r', labels: { a: 'mine', x: 'y' } } });
    const wanted = role({ metadata: { name: 'r', labels: { a: 'b', c: 'd' }, annotations: { e: 'f' } } });
    const { metadata } = reconciledRole(live, wanted);
    assert.deepEqual(metadata, { name: 'r', labels: { a: 'mine', x: 'y', c: 'd' }, annotations: { e: 'f' } });
  });

  it('adds selectors and leaves collected rules alone', () => {
    const selector = { matchLabels: { a: 'b' } };
    const wanted = role({ aggregationRule: { clusterRoleSelectors: [selector] }, rules: [rule('get', 'pods')] });
    const live = role({ aggregationRule: { clusterRoleSelectors: [{ matchLabels: { c: 'd' } }] } });
    const { aggregationRule, rules } = reconciledRole(live, wanted);
    assert.deepEqual(aggregationRule, { clusterRoleSelectors: [{ matchLabels: { c: 'd' } }, selector] });
    assert.deepEqual(rules, []);
    assert.equal(reconciledRole(wanted, wanted), wanted);
  });

  it('adds subjects', () => {
    const subject = (name: string) => ({ kind: 'User', apiGroup: 'g', name });
    const binding = (...subjects: object[]) => ({ metadata: {}, subjects, roleRef: {} }) as unknown as RoleBinding;
    const live = binding(subject('a'), subject('b'));
    assert.deepEqual(reconciledBinding(live, binding(subject('c'), subject('b'))).subjects, [
      subject('a'),
      subject('b'),
      subject('c'),
    ]);
    assert.equal(reconciledBinding(live, binding(subject('a'))), live);
  });

  it('does not change objects that opted out', () => {
    assert.equal(isOptedOut(role({ metadata: { annotations: { [autoUpdate]: 'false' } } }), autoUpdate), true);
    assert.equal(isOptedOut(role({ metadata: { annotations: { [autoUpdate]: 'true' } } }), autoUpdate), false);
    assert.equal(isOptedOut(role({}), autoUpdate), false);
  });
});

describe('ensureBootstrapPolicy', () => {
  const group = 'rbac.authorization.k8s.io';
  const { signal } = new AbortController();
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });

  after(() => postgres.stop());

  async function withStorages(use: (one: TestStorage, two: TestStorage) => Promise<void>): Promise<void> {
    const databaseUrl = await postgres.createTestDatabase();
    const one = await openTestStorage(databaseUrl);
    const two = await openTestStorage(databaseUrl);
    try {
      await use(one, two);
    } finally {
      await one.stop();
      await two.stop();
    }
  }

  const key = (resource: string, name: string) => ({ resource: `${resource}.${group}`, namespace: '', name });

  async function change(storage: TestStorage, resource: string, name: string, edit: (object: ApiObject) => void) {
    await storage.guaranteedUpdate(key(resource, name), {}, (current) => {
      const object = JSON.parse(current?.json ?? '') as ApiObject;
      edit(object);
      return { kind: 'write', json: JSON.stringify(object), uid: current?.uid ?? '' };
    });
  }

  async function read<T>(storage: TestStorage, resource: string, name: string): Promise<T | undefined> {
    const found = await storage.get(key(resource, name));
    return found === undefined ? undefined : (JSON.parse(found.json) as T);
  }

  it('makes everything once, by two processes at the same time, and writes nothing the next time', () =>
    withStorages(async (one, two) => {
      const stores = [rbacStores(one), rbacStores(two)];
      await Promise.all(stores.map((each) => ensureBootstrapPolicy(testNames, each, signal)));
      const policy = bootstrapPolicy(vendorNames('k8s.io'));
      const newest = new Map<string, bigint>();
      for (const [resource, expected] of [
        ['clusterroles', policy.clusterRoles],
        ['roles', policy.roles],
        ['clusterrolebindings', policy.clusterRoleBindings],
        ['rolebindings', policy.roleBindings],
      ] as const) {
        const { items } = await one.list({ resource: `${resource}.${group}` });
        assert.equal(items.length, expected.length);
        newest.set(
          resource,
          items.map(({ resourceVersion }) => resourceVersion).reduce((a, b) => (a > b ? a : b)),
        );
      }
      const head = await one.head();
      assert.deepEqual(await ensureBootstrapPolicy(testNames, rbacStores(two), signal), newest);
      assert.equal(await one.head(), head);
    }));

  it('reports the newest versions, also of what it has just written', () =>
    withStorages(async (one) => {
      await ensureBootstrapPolicy(testNames, rbacStores(one), signal);
      await change(one, 'clusterrolebindings', 'system:discovery', (binding) => {
        delete binding.subjects;
      });
      const versions = await ensureBootstrapPolicy(testNames, rbacStores(one), signal);
      const repaired = await one.get(key('clusterrolebindings', 'system:discovery'));
      assert.equal(versions.get('clusterrolebindings'), repaired?.resourceVersion);
    }));

  it('repairs damaged objects, except those that opted out', () =>
    withStorages(async (one, two) => {
      await ensureBootstrapPolicy(testNames, rbacStores(one), signal);
      await change(one, 'clusterroles', 'system:discovery', (role) => {
        role.rules = [{ verbs: ['get'], nonResourceURLs: ['/mine'] }];
      });
      await change(one, 'clusterroles', 'system:basic-user', (role) => {
        role.rules = [];
        role.metadata.annotations = { [autoUpdate]: 'false' };
      });
      await change(one, 'clusterrolebindings', 'system:discovery', (binding) => {
        delete binding.subjects;
      });
      await change(one, 'clusterrolebindings', 'system:monitoring', (binding) => {
        binding.roleRef = { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' };
      });
      await Promise.all([one, two].map((storage) => ensureBootstrapPolicy(testNames, rbacStores(storage), signal)));

      const discovery = await read<ClusterRole>(one, 'clusterroles', 'system:discovery');
      const paths = discovery?.rules?.flatMap(({ nonResourceURLs = [] }) => nonResourceURLs) ?? [];
      assert.ok(paths.includes('/mine') && paths.includes('/version') && paths.includes('/api/*'), paths.join());
      assert.deepEqual((await read<ClusterRole>(one, 'clusterroles', 'system:basic-user'))?.rules, []);
      const bound = await read<RoleBinding>(one, 'clusterrolebindings', 'system:discovery');
      assert.deepEqual(
        bound?.subjects?.map(({ name }) => name),
        ['system:authenticated'],
      );
      const monitoring = await read<RoleBinding>(one, 'clusterrolebindings', 'system:monitoring');
      assert.equal(monitoring?.roleRef.name, 'system:monitoring');
    }));
});
