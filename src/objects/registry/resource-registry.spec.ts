import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { always, kind, string, struct } from '../../base/machinery/schema/index.js';
import { defineResource, type ServedVersion, type StoredResource } from './resource-definition.js';
import { type RegistryChange, ResourceRegistry } from './resource-registry.js';

const objectMeta = struct('meta.v1.Meta', { name: always(1, string) });
const spec = struct('shop.v1.ThingSpec', { size: always(1, string) });

function version(name: string, more: Partial<ServedVersion> = {}): ServedVersion {
  const type = kind(
    { group: 'shop', version: name, kind: 'Thing' },
    { metadata: always(1, objectMeta), spec: always(2, spec) },
  );
  return { version: name, type, ...more };
}

function things(
  versions: readonly [ServedVersion, ...ServedVersion[]],
  more: Partial<StoredResource> = {},
): StoredResource {
  return defineResource({
    group: 'shop',
    resource: 'things',
    singular: 'thing',
    kind: 'Thing',
    namespaced: true,
    versions,
    strategy: {},
    ...more,
  });
}

describe('the registry', () => {
  it('replaces a definition at once and tells about it', () => {
    const registry = new ResourceRegistry();
    const before = things([version('v1'), version('v1beta1')]);
    const after = things([version('v2'), version('v1')]);
    registry.register(before);
    const old = registry.findServed('shop', 'v1', 'things');
    const reported: RegistryChange[] = [];
    const leave = registry.onChange((change) => {
      assert.equal(registry.find('shop', 'v1', 'things')?.definition, after);
      reported.push(change);
    });
    const count = registry.changes;
    registry.replace(before, after, 7n);
    assert.deepEqual(reported, [{ before, after, at: 7n }]);
    assert.equal(registry.changedAt, 7n);
    assert.ok(registry.changes > count);
    assert.deepEqual(registry.group('shop'), { group: 'shop', versions: ['v2', 'v1'] });
    assert.equal(registry.findStored('things.shop')?.served.version, 'v2');
    assert.equal(registry.find('shop', 'v1beta1', 'things'), undefined);
    assert.ok(old !== undefined && !registry.isCurrent(old));
    assert.equal(registry.servedViews(old).length, 2);
    assert.deepEqual(registry.definitions(), [after]);
    leave();
    registry.unregister(after);
    assert.equal(reported.length, 1);
  });

  it('forgets everything about a definition that is removed', () => {
    const registry = new ResourceRegistry();
    const other = things([version('v1')], { resource: 'others', kind: 'Other' });
    const definition = things([version('v1'), version('v1beta1')]);
    registry.register(other);
    registry.register(definition);
    assert.deepEqual(registry.group('shop')?.versions, ['v1', 'v1beta1']);
    registry.unregister(definition);
    assert.deepEqual(registry.group('shop')?.versions, ['v1']);
    assert.deepEqual(
      registry.resourcesOf('shop', 'v1').map((resource) => resource.definition),
      [other],
    );
    registry.unregister(other);
    assert.equal(registry.hasGroup('shop'), false);
    assert.deepEqual([registry.groups(), registry.definitions()], [[], []]);
    assert.equal(registry.findStored('things.shop'), undefined);
    assert.throws(() => registry.unregister(other), /not registered/);
  });

  it('changes nothing when a version is taken', () => {
    const registry = new ResourceRegistry();
    const definition = things([version('v1')]);
    registry.register(definition);
    const before = registry.changes;
    assert.throws(() => registry.register(things([version('v2'), version('v1')])), /registered twice/);
    assert.throws(() => registry.replace(definition, things([version('v2'), version('v2')])), /registered twice/);
    assert.equal(registry.find('shop', 'v2', 'things'), undefined);
    assert.equal(registry.findServed('shop', 'v1', 'things')?.definition, definition);
    assert.equal(registry.changes, before);
  });

  it('knows versions that clients may not use', () => {
    const registry = new ResourceRegistry();
    registry.register(things([version('v2', { isServed: false }), version('v1')]));
    assert.equal(registry.findServed('shop', 'v2', 'things'), undefined);
    assert.equal(registry.find('shop', 'v2', 'things')?.isStored, true);
    assert.deepEqual(registry.group('shop')?.versions, ['v1']);
    assert.equal(registry.findKind('shop', 'v1', 'Thing')?.served.version, 'v1');
    assert.equal(registry.findKind('shop', 'v2', 'Thing'), undefined);
  });

  it('shows the definition that a version has for itself', () => {
    const registry = new ResourceRegistry();
    const own = things([version('v1')], { columns: [] });
    registry.register(things([version('v1'), version('v1beta1', { definition: own })]));
    assert.equal(registry.find('shop', 'v1beta1', 'things')?.definition, own);
    assert.notEqual(registry.find('shop', 'v1', 'things')?.definition, own);
    assert.equal(registry.definitions().length, 1);
  });

  it('leaves a shared place to the definition that remains', () => {
    const registry = new ResourceRegistry();
    const owner = things([version('v1')]);
    const alias = things([version('v1')], { group: 'market', storedAs: { group: 'shop', resource: 'things' } });
    registry.register(owner);
    registry.register(alias);
    registry.unregister(owner);
    assert.equal(registry.findStored('things.shop')?.definition, alias);
    assert.equal(registry.servedViews(registry.find('market', 'v1', 'things') as never).length, 1);
  });
});
