import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { attributesOfRequest } from '../../../../test/support/request-attributes.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { PolicyIndex } from './policy-index.js';
import { PolicyInformer } from './policy-informer.js';
import { PolicyMemory } from './policy-memory.js';
import { RbacAuthorizer } from './rbac.authorizer.js';

const group = 'rbac.authorization.k8s.io';
const rolesResource = `roles.${group}`;

describe('the informer of the access policy', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  const stop = new AbortController();
  const memory = new PolicyMemory(160_000);
  const index = new PolicyIndex(memory);
  const authorizer = new RbacAuthorizer(index, group);
  let informer: PolicyInformer;

  async function put(resource: string, name: string, object: object): Promise<bigint> {
    const metadata = { name, namespace: 'n' };
    const key = { resource: `${resource}.${group}`, namespace: 'n', name };
    const made = await storage.create(key, `${resource}-${name}`, JSON.stringify({ metadata, ...object }));
    return made.resourceVersion;
  }

  const allows = (request: string) =>
    authorizer.authorize(
      attributesOfRequest({ name: 'alice', uid: '', groups: [], extra: {} }, `GET /api/v1/namespaces/n/${request}`),
    ).decision === 'allow';

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
    // More text than is kept unpacked, and more memory than a namespace may have for two of them.
    for (const name of ['a', 'b']) {
      const rules = Array.from({ length: 30 }, (_, i) => ({
        apiGroups: [''],
        verbs: ['get'],
        resources: [`${name}${i}`],
        resourceNames: Array.from({ length: 50 }, (_, k) => `object-${k}`),
      }));
      await put('roles', name, { rules });
      const roleRef = { apiGroup: group, kind: 'Role', name };
      await put('rolebindings', name, { roleRef, subjects: [{ kind: 'User', apiGroup: group, name: 'alice' }] });
    }
    informer = new PolicyInformer(
      { storage, registry: new ResourceRegistry(), group, onFault: () => undefined },
      index,
    );
    await informer.start(stop.signal);
  });

  after(async () => {
    stop.abort();
    await informer?.stopped();
    await storage?.stop();
    await postgres?.stop();
  });

  it('leaves out what finds no room at the start, and takes it in when there is room', async () => {
    const [one, other] = allows('a0/object-7') ? ['a', 'b'] : ['b', 'a'];
    assert.equal(allows(`${one}29/object-49`), true);
    assert.equal(allows(`${other}0/object-7`), false);
    assert.equal(memory.leftOutCount, 1);
    await informer.readLeftOut('n', stop.signal);
    assert.equal(allows(`${other}0/object-7`), false, 'there is no room yet');
    const { rules } =
      index
        .scope('n')
        ?.ofUser('alice')
        .find(({ slot }) => slot.name === one)?.slot.role ?? {};
    assert.equal(rules?.length, 30, 'the rules as they were written are unpacked');
    index.deleteRole('Role', 'n', one);
    await informer.readLeftOut('n', stop.signal);
    assert.equal(allows(`${other}29/object-49`), true);
    assert.equal(memory.leftOutCount, 0);
  });

  it('leaves an object that is gone, or has changed meanwhile, to the change log', async () => {
    const key = 'Role/n/gone';
    assert.equal(memory.take('n', key, 1_000_000), false);
    await informer.readLeftOut('n', stop.signal);
    assert.equal(memory.leftOutCount, 1);
    memory.give('n', key);
    const version = await put('roles', 'late', { rules: [{ apiGroups: [''], verbs: ['get'], resources: ['late'] }] });
    await informer.reached(new Map([['roles', version]]));
    assert.equal(memory.leftOutCount, 0);
    assert.equal((await storage.get({ resource: rolesResource, namespace: 'n', name: 'late' })) !== undefined, true);
  });
});
