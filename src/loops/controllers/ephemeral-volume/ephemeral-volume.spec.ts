import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredPod } from '../frame/indexes.js';
import { ManualTimers } from '../testing/manual-timers.js';
import type { StoredClaim } from './ephemeral-claims.js';

type StoredEvent = Event & ApiObject;

const namespace = 'default';
const claims = 'persistentvolumeclaims';

const pod = (name: string, ...volumes: string[]) => ({
  metadata: { name, namespace },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: volumes.map((volume) => ({
      name: volume,
      ephemeral: {
        volumeClaimTemplate: {
          metadata: { labels: { of: volume }, annotations: { why: 'test' } },
          spec: {
            accessModes: ['ReadWriteOnce'],
            storageClassName: 'fast',
            resources: { requests: { storage: '1Gi' } },
          },
        },
      },
    })),
  },
});

describe('EphemeralVolumeController', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  async function withScene(timers: ManualTimers | undefined, use: (scene: LoopScene) => Promise<void>) {
    const scene = await LoopScene.start({ postgres, ...(timers === undefined ? {} : { timers }) });
    try {
      await use(scene);
    } finally {
      await scene.end();
    }
  }

  const claimOf = (scene: LoopScene, name: string, isWanted: (claim: StoredClaim) => boolean = () => true) =>
    scene.until<StoredClaim, StoredClaim>(claims, `the claim ${name}`, (all) =>
      all.find((claim) => claim.metadata.name === name && isWanted(claim)),
    );

  it('makes the claims of pods that are there and of new ones, and those that somebody deletes', async () => {
    await withScene(undefined, async (scene) => {
      const early = await scene.create<StoredPod>('pods', pod('early', 'data'));
      await scene.run(['ephemeral-volume-controller']);
      const { metadata, spec } = await claimOf(scene, 'early-data');
      assert.deepEqual(
        [metadata.namespace, metadata.labels, metadata.annotations, spec.storageClassName, spec.resources],
        [namespace, { of: 'data' }, { why: 'test' }, 'fast', { requests: { storage: '1Gi' } }],
      );
      assert.deepEqual(metadata.ownerReferences, [
        {
          apiVersion: 'v1',
          kind: 'Pod',
          name: 'early',
          uid: early.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
      await scene.create('pods', pod('late', 'a', 'b'));
      await claimOf(scene, 'late-a');
      const first = await claimOf(scene, 'late-b');
      await scene.delete(claims, namespace, 'late-b');
      await claimOf(scene, 'late-b', (claim) => claim.metadata.uid !== first.metadata.uid);
      assert.deepEqual(scene.logged, []);
    });
  });

  it("leaves a claim alone that is not the pod's, says so, and goes on when it is gone", async () => {
    const timers = new ManualTimers();
    await withScene(timers, async (scene) => {
      await scene.create(claims, {
        metadata: { name: 'p-data', namespace },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      } as object);
      const foreign = await scene.get(claims, namespace, 'p-data');
      const { metadata } = await scene.create<StoredPod>('pods', pod('p', 'data'));
      await scene.run(['ephemeral-volume-controller']);
      const event = await scene.until<StoredEvent, StoredEvent>('events', 'the warning', ([first]) => first);
      assert.deepEqual(
        [event.type, event.reason, event.message, event.source.component, event.involvedObject.uid],
        [
          'Warning',
          'FailedBinding',
          'ephemeral volume data: PVC default/p-data was not created for pod default/p (pod is not owner)',
          'ephemeral_volume',
          metadata.uid,
        ],
      );
      const still = await scene.get(claims, namespace, 'p-data');
      assert.equal(still.metadata.uid, foreign.metadata.uid);
      assert.equal(still.metadata.ownerReferences, undefined);
      await scene.delete(claims, namespace, 'p-data');
      await claimOf(scene, 'p-data', (claim) => claim.metadata.ownerReferences?.[0]?.uid === metadata.uid);
    });
  });

  it('makes nothing for pods that are being deleted', async () => {
    await withScene(undefined, async (scene) => {
      const doomed = pod('doomed', 'data');
      await scene.create('pods', { ...doomed, metadata: { ...doomed.metadata, finalizers: ['example.com/stay'] } });
      await scene.delete('pods', namespace, 'doomed', { gracePeriodSeconds: 0 });
      await scene.run(['ephemeral-volume-controller']);
      await scene.create('pods', pod('other', 'data'));
      await claimOf(scene, 'other-data');
      await scene.rest();
      assert.equal(await scene.find(claims, namespace, 'doomed-data'), undefined);
    });
  });
});
