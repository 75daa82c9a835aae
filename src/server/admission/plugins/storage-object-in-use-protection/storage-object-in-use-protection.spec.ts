import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes, type TestRequest } from '../../../../../test/support/admission-attributes.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { StorageObjectInUseProtection } from './storage-object-in-use-protection.js';

describe('StorageObjectInUseProtection', () => {
  const rows: readonly (readonly [string, TestRequest, readonly string[] | undefined])[] = [
    ['a claim', { resource: 'persistentvolumeclaims' }, ['kubernetes.io/pvc-protection']],
    ['a volume', { resource: 'persistentvolumes' }, ['kubernetes.io/pv-protection']],
    ['a status', { resource: 'persistentvolumes', subresource: 'status' }, undefined],
    ['another kind', { resource: 'configmaps' }, undefined],
    ['another group', { resource: 'persistentvolumes.example.com' }, undefined],
  ];
  const plugin = new StorageObjectInUseProtection(vendorNames('k8s.io'));

  for (const [what, request, expected] of rows) {
    it(`gives ${what} ${expected?.join() ?? 'nothing'}`, () => {
      const object = { metadata: { name: 'x' } as { name: string; finalizers?: string[] } };
      plugin.admit(admissionAttributes({ ...request, object }));
      assert.deepEqual(object.metadata.finalizers, expected);
    });
  }

  it('keeps other finalizers and adds its own once', () => {
    const object = { metadata: { name: 'x', finalizers: ['a/b'] } };
    const attributes = admissionAttributes({ resource: 'persistentvolumeclaims', object });
    plugin.admit(attributes);
    plugin.admit(attributes);
    assert.deepEqual(object.metadata.finalizers, ['a/b', 'kubernetes.io/pvc-protection']);
    assert.equal(plugin.handles('UPDATE'), false);
  });
});
