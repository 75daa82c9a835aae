import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { NamespaceAutoProvision } from './namespace-auto-provision.js';
import { NamespaceExists } from './namespace-exists.js';

const namespaces = {
  state: (name: string) =>
    name === 'live' ? 'active' : name === 'ending' ? ('terminating' as const) : Promise.resolve('missing' as const),
} as const;
const object = { metadata: { name: 'x' } };

describe('NamespaceExists', () => {
  const rows: readonly (readonly [string, TestRequest, boolean])[] = [
    ['a live namespace', { namespace: 'live', object }, true],
    ['a terminating namespace', { namespace: 'ending', object }, true],
    ['a missing namespace', { namespace: 'gone', object }, false],
    ['an update there', { namespace: 'gone', object, oldObject: object }, false],
    ['a delete there', { namespace: 'gone', oldObject: object }, false],
    ['an object of the cluster', { namespace: '', resource: 'nodes', object }, true],
    ['a namespace itself', { namespace: 'gone', resource: 'namespaces', object }, true],
  ];
  for (const [what, request, isAccepted] of rows) {
    it(`${isAccepted ? 'accepts' : 'refuses'} ${what}`, async () => {
      const validated = new NamespaceExists(namespaces).validate(admissionAttributes(request));
      if (isAccepted) await validated;
      else await assert.rejects(validated, { code: 404, message: 'namespaces "gone" not found' });
    });
  }

  it('refuses to delete a collection in a missing namespace, however few objects it has', async () => {
    const plugin = new NamespaceExists(namespaces);
    await assert.rejects(plugin.admitCollection('gone'), { code: 404, message: 'namespaces "gone" not found' });
    for (const namespace of ['live', 'ending', '']) await plugin.admitCollection(namespace);
  });
});

describe('NamespaceAutoProvision', () => {
  const rows: readonly (readonly [string, TestRequest, readonly string[]])[] = [
    ['a missing namespace', { namespace: 'gone' }, ['gone']],
    ['a live namespace', { namespace: 'live' }, []],
    ['a terminating namespace', { namespace: 'ending' }, []],
    ['a dry run', { namespace: 'gone', dryRun: true }, []],
    ['an object of the cluster', { namespace: '', resource: 'nodes' }, []],
    ['a namespace itself', { namespace: 'gone', resource: 'namespaces' }, []],
    ['a question about access', { namespace: 'gone', resource: 'localsubjectaccessreviews.authorization.k8s.io' }, []],
  ];
  for (const [what, request, expected] of rows) {
    it(`creates ${expected.join() || 'nothing'} for ${what}`, async () => {
      const made: string[] = [];
      const plugin = new NamespaceAutoProvision(namespaces, async (name) => void made.push(name));
      await plugin.admit(admissionAttributes({ object, ...request }));
      assert.deepEqual(made, expected);
      assert.equal(plugin.handles('UPDATE'), false);
    });
  }
});
