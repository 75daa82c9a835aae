import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { admissionAttributes } from '../../../../../test/support/admission-attributes.js';
import { fixedListers } from '../../../../../test/support/fixed-listers.js';
import { vendorNames } from '../../../../base/machinery/vendor.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import { DefaultIngressClass } from './default-ingress-class.js';
import { DefaultStorageClass } from './default-storage-class.js';

const names = vendorNames('k8s.io');

const kinds = [
  {
    title: 'DefaultStorageClass',
    classes: 'storageclasses.storage.k8s.io',
    mark: 'storageclass.kubernetes.io/is-default-class',
    others: ['storageclass.beta.kubernetes.io/is-default-class'],
    resource: 'persistentvolumeclaims',
    field: 'storageClassName',
    annotation: 'volume.beta.kubernetes.io/storage-class',
    kind: 'StorageClasses',
    make: (listers: ReturnType<typeof fixedListers>): AdmissionPlugin => new DefaultStorageClass(listers, names),
  },
  {
    title: 'DefaultIngressClass',
    classes: 'ingressclasses.networking.k8s.io',
    mark: 'ingressclass.kubernetes.io/is-default-class',
    others: [],
    resource: 'ingresses.networking.k8s.io',
    field: 'ingressClassName',
    annotation: 'kubernetes.io/ingress.class',
    kind: 'IngressClasses',
    make: (listers: ReturnType<typeof fixedListers>): AdmissionPlugin => new DefaultIngressClass(listers, names),
  },
] as const;

for (const { title, classes, mark, others, resource, field, annotation, kind, make } of kinds) {
  const aClass = (name: string, annotations?: Record<string, string>) => ({ metadata: { name, annotations } });
  const plain = aClass('plain');
  const chosen = aClass('chosen', { [mark]: 'true' });

  /** The class that an object gets, or the refusal. */
  const outcome = async (
    known: object[],
    { metadata = {}, spec = {}, request = {} }: { metadata?: object; spec?: object; request?: object } = {},
  ) => {
    const object = { metadata: { name: 'x', ...metadata }, spec: { ...spec } as Record<string, unknown> };
    try {
      await make(fixedListers({ [classes]: known })).admit?.(admissionAttributes({ resource, object, ...request }));
    } catch (error) {
      return (error as Error).message;
    }
    return object.spec[field];
  };

  describe(title, () => {
    it('gives the default class to objects that name none', async () => {
      assert.equal(await outcome([]), undefined);
      assert.equal(await outcome([plain]), undefined);
      assert.equal(await outcome([plain, aClass('no', { [mark]: 'false' })]), undefined);
      assert.equal(await outcome([plain, chosen]), 'chosen');
      for (const key of others) assert.equal(await outcome([aClass('older', { [key]: 'true' })]), 'older');
    });

    it('leaves a choice alone, even that of no class', async () => {
      assert.equal(await outcome([chosen], { spec: { [field]: 'mine' } }), 'mine');
      assert.equal(await outcome([chosen], { spec: { [field]: '' } }), '');
      assert.equal(await outcome([chosen], { metadata: { annotations: { [annotation]: 'mine' } } }), undefined);
      const several = [chosen, aClass('second', { [mark]: 'true' })];
      assert.equal(await outcome(several, { spec: { [field]: 'mine' } }), 'mine');
    });

    it('refuses objects that name no class while there are several defaults', async () => {
      const several = [chosen, plain, aClass('second', { [mark]: 'true' })];
      const detail = `Internal error occurred: 2 default ${kind} were found`;
      assert.equal(await outcome(several), `${resource} "x" is forbidden: ${detail}`);
      const unnamed = { request: { name: '' }, metadata: { name: undefined, generateName: 'web-' } };
      assert.equal(await outcome(several, unnamed), `${resource} "web-" is forbidden: ${detail}`);
    });

    it('looks only at new objects of its kind', async () => {
      assert.equal(await outcome([chosen], { request: { resource: 'configmaps' } }), undefined);
      assert.equal(await outcome([chosen], { request: { subresource: 'status' } }), undefined);
      const plugin = make(fixedListers({}));
      assert.deepEqual(
        (['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const).filter((operation) => plugin.handles(operation)),
        ['CREATE'],
      );
    });
  });
}

describe('the default classes', () => {
  it('go by the names of the vendor', () => {
    const own = vendorNames('example.dev');
    const marked = { metadata: { name: 'a', annotations: { 'storageclass.example.dev/is-default-class': 'true' } } };
    const plugin = new DefaultStorageClass(fixedListers({ 'storageclasses.storage.example.dev': [marked] }), own);
    const object = { metadata: {}, spec: {} as Record<string, unknown> };
    plugin.admit(admissionAttributes({ resource: 'persistentvolumeclaims', object }));
    assert.equal(object.spec.storageClassName, 'a');
  });
});
