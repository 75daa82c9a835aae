import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import type { StorageClass } from '../../objects/apis/storage/v1/storage-class.types.js';
import { asksForVolume, nextVolumeStep, type StoredClaim, type StoredVolume, volumeFor } from './volume-object.js';

const names = vendorNames('k8s.io');
const provisioner = 'sim.plinth.dev/volumes';
const finalizer = 'external-provisioner.volume.kubernetes.io/finalizer';

function claim(annotations: object = { 'volume.kubernetes.io/storage-provisioner': provisioner }, more: object = {}) {
  return {
    metadata: { name: 'data', namespace: 'n', uid: 'u', resourceVersion: '7', annotations, ...more },
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      storageClassName: 'c',
      resources: { requests: { storage: '3Gi' } },
    },
    status: {},
  } as unknown as StoredClaim;
}

const classOf = (fields: object) =>
  ({ metadata: { name: 'c' }, provisioner, ...fields }) as unknown as StorageClass & ApiObject;

describe('simulated volumes', () => {
  it('are made for claims that ask for them and have none', () => {
    assert.equal(asksForVolume(claim(), names), true);
    assert.equal(asksForVolume(claim({ 'volume.beta.kubernetes.io/storage-provisioner': provisioner }), names), true);
    assert.equal(asksForVolume(claim({}), names), false);
    assert.equal(asksForVolume(claim(undefined, { deletionTimestamp: 'x' }), names), false);
    const bound = claim();
    bound.spec.volumeName = 'v';
    assert.equal(asksForVolume(bound, names), false);
  });

  it('are as the claim and its class say', () => {
    const volume = volumeFor(claim(), classOf({ reclaimPolicy: 'Retain' }), names) as StoredVolume;
    assert.equal(volume.metadata.name, 'pvc-u');
    assert.deepEqual(volume.metadata.finalizers, [finalizer]);
    assert.deepEqual(volume.metadata.annotations, { 'pv.kubernetes.io/provisioned-by': provisioner });
    const { spec } = volume;
    assert.deepEqual(
      [spec.capacity, spec.accessModes, spec.persistentVolumeReclaimPolicy, spec.storageClassName, spec.claimRef?.uid],
      [{ storage: '3Gi' }, ['ReadWriteOnce'], 'Retain', 'c', 'u'],
    );
  });

  it('wait for the node of the first pod where the class says so', () => {
    const waits = classOf({ volumeBindingMode: 'WaitForFirstConsumer' });
    assert.equal(volumeFor(claim({}), waits, names), undefined);
    assert.ok(volumeFor(claim({ 'volume.kubernetes.io/selected-node': 'a' }), waits, names));
    assert.equal(volumeFor(claim(), classOf({ provisioner: 'other.com/x' }), names), undefined);
  });

  const table: [string, string, string, boolean, string, string | undefined][] = [
    ['of a claim', 'Delete', 'Bound', false, provisioner, undefined],
    ['of a claim that is gone', 'Delete', 'Released', false, provisioner, 'delete'],
    ['of others', 'Delete', 'Released', false, 'other.com/x', undefined],
    ['deleted and free', 'Delete', 'Released', true, provisioner, 'let go'],
    ['deleted and bound', 'Delete', 'Bound', true, provisioner, undefined],
    ['to keep', 'Retain', 'Bound', false, provisioner, 'let go'],
  ];
  for (const [title, policy, phase, isDeleted, maker, step] of table) {
    it(`get their next step: ${title}`, () => {
      const volume = {
        metadata: {
          finalizers: [finalizer],
          annotations: { 'pv.kubernetes.io/provisioned-by': maker },
          ...(isDeleted ? { deletionTimestamp: 'x' } : {}),
        },
        spec: { persistentVolumeReclaimPolicy: policy },
        status: { phase },
      } as unknown as StoredVolume;
      assert.equal(nextVolumeStep(volume, names), step);
    });
  }
});
