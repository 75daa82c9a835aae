import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import { fixedListers } from '../../../../../test/support/fixed-listers.js';
import type { ApiObject } from '../../../../base/machinery/api-object.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import { PersistentVolumeClaimResize } from './persistent-volume-claim-resize.js';

const unbound = 'Only bound persistent volume claims can be expanded';
const fixed =
  'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

function claim(size: string, className: string | undefined, phase = 'Bound', annotations = {}) {
  return {
    metadata: { name: 'x', annotations },
    spec: { storageClassName: className, resources: { requests: { storage: size } } },
    status: { phase },
  };
}

describe('PersistentVolumeClaimResize', () => {
  const listers = fixedListers({
    'storageclasses.storage.k8s.io': [
      { metadata: { name: 'grows' }, allowVolumeExpansion: true },
      { metadata: { name: 'fixed' }, allowVolumeExpansion: false },
      { metadata: { name: 'silent' } },
    ],
  });
  const fresh = { metadata: { name: 'fresh' }, allowVolumeExpansion: true } as ApiObject;
  const objects = {
    read: async (_resource: unknown, _namespace: string, name: string) => (name === 'fresh' ? fresh : undefined),
  };
  const plugin = new PersistentVolumeClaimResize(listers, objects, vendorNames('k8s.io'));
  const beta = (name: string) => ({ 'volume.beta.kubernetes.io/storage-class': name });
  type Claim = ReturnType<typeof claim>;
  const rows: readonly (readonly [string, Claim, Claim, string])[] = [
    ['the same size, written otherwise', claim('1Gi', 'fixed'), claim('1024Mi', 'fixed'), ''],
    ['a smaller claim', claim('2Gi', 'fixed'), claim('1Gi', 'fixed'), ''],
    ['a larger claim of a class that allows it', claim('1Gi', 'grows'), claim('2Gi', 'grows'), ''],
    ['a class that memory does not have yet', claim('1Gi', 'fresh'), claim('2Gi', 'fresh'), ''],
    [
      'a class by annotation',
      claim('1Gi', undefined, 'Bound', beta('grows')),
      claim('2Gi', undefined, 'Bound', beta('grows')),
      '',
    ],
    ['a larger claim that is not bound', claim('1Gi', 'grows', 'Pending'), claim('2Gi', 'grows', 'Pending'), unbound],
    ['a class that forbids it', claim('1Gi', 'fixed'), claim('2Gi', 'fixed'), fixed],
    ['a class that says nothing', claim('1Gi', 'silent'), claim('2Gi', 'silent'), fixed],
    ['a class that does not exist', claim('1Gi', 'gone'), claim('2Gi', 'gone'), fixed],
    ['a claim without a class', claim('1Gi', ''), claim('2Gi', ''), fixed],
    ['a class that comes with the size', claim('1Gi', undefined), claim('2Gi', 'grows'), fixed],
  ];

  for (const [what, oldObject, object, expected] of rows) {
    it(`${expected === '' ? 'accepts' : 'refuses'} ${what}`, async () => {
      const attributes = admissionAttributes({ resource: 'persistentvolumeclaims', object, oldObject });
      const message = await plugin.validate(attributes).then(
        () => '',
        (error: Error) => error.message,
      );
      assert.equal(message, expected === '' ? '' : `persistentvolumeclaims "x" is forbidden: ${expected}`);
    });
  }

  it('leaves other paths and kinds alone', async () => {
    const change = { object: claim('2Gi', 'fixed'), oldObject: claim('1Gi', 'fixed') };
    await plugin.validate(
      admissionAttributes({ resource: 'persistentvolumeclaims', subresource: 'status', ...change }),
    );
    await plugin.validate(admissionAttributes({ resource: 'persistentvolumeclaims.example.com', ...change }));
    assert.equal(plugin.handles('CREATE'), false);
  });
});
