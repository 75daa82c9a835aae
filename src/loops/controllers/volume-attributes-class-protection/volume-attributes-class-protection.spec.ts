import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { StoredClaim } from '../ephemeral-volume/ephemeral-claims.js';

const classes = 'volumeattributesclasses.storage';
const finalizer = 'kubernetes.io/vac-protection';

describe('VolumeAttributesClassProtectionController', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  const held = (scene: LoopScene, name: string) =>
    scene.until<ApiObject, boolean>(classes, `${name} is held`, (all) =>
      all.some(({ metadata }) => metadata.name === name && metadata.finalizers?.includes(finalizer) === true),
    );
  const gone = (scene: LoopScene, name: string) =>
    scene.until<ApiObject, boolean>(classes, `${name} is gone`, (all) =>
      all.every(({ metadata }) => metadata.name !== name),
    );
  const add = (scene: LoopScene, name: string) =>
    scene.create(classes, { metadata: { name }, driverName: 'd.example.com', parameters: { iops: '1' } } as object);
  const claim = (name: string, volumeAttributesClassName?: string) => ({
    metadata: { name, namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...(volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName }),
    },
  });

  it('keeps classes until no claim wants, has or gets them, and no volume has them', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      await add(scene, 'early');
      await scene.run(['volumeattributesclass-protection-controller']);
      for (const name of ['wanted', 'present', 'target', 'free', 'of-volume']) await add(scene, name);
      for (const name of ['early', 'wanted', 'present', 'target', 'free', 'of-volume']) await held(scene, name);
      await scene.create('persistentvolumeclaims', claim('a', 'wanted') as object);
      await scene.create('persistentvolumeclaims', claim('b') as object);
      await scene.update<StoredClaim>(
        'persistentvolumeclaims',
        'default',
        'b',
        (live) => {
          live.status = {
            ...live.status,
            currentVolumeAttributesClassName: 'present',
            modifyVolumeStatus: { targetVolumeAttributesClassName: 'target', status: 'InProgress' },
          } as StoredClaim['status'];
        },
        'status',
      );
      await scene.create('persistentvolumes', {
        metadata: { name: 'v' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          csi: { driver: 'd.example.com', volumeHandle: 'h' },
          volumeAttributesClassName: 'of-volume',
        },
      } as object);
      for (const name of ['wanted', 'present', 'target', 'of-volume', 'free']) await scene.delete(classes, '', name);
      await gone(scene, 'free');
      await scene.rest();
      for (const name of ['wanted', 'present', 'target', 'of-volume']) {
        assert.ok((await scene.get(classes, '', name)).metadata.deletionTimestamp, name);
      }
      await scene.delete('persistentvolumeclaims', 'default', 'a');
      await gone(scene, 'wanted');
      await scene.delete('persistentvolumeclaims', 'default', 'b');
      await gone(scene, 'present');
      await gone(scene, 'target');
      await scene.delete('persistentvolumes', '', 'v');
      await gone(scene, 'of-volume');
      assert.deepEqual(scene.logged, []);
    } finally {
      await scene.end();
    }
  });
});
