import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { StoredResourceClaim } from '../resource-claim/pod-claims.js';

const claims = 'resourceclaims.resource';
const rules = 'devicetaintrules.resource';
const driver = 'gpu.example.com';
/** Set explicitly: by default taints begin at the server's time, which is later than the clock of the loops. */
const timeAdded = '2020-01-01T00:00:00Z';

describe('DeviceTaintEvictionController', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
    scene = await LoopScene.start({ postgres });
    await scene.run(['device-taint-eviction-controller']);
  });
  after(async () => {
    await scene?.end();
    await postgres?.stop();
  });

  /** A running pod with a device of the same name. */
  async function pod(name: string, tolerations: readonly object[] = []): Promise<StoredPod> {
    const made = await scene.create<StoredPod>('pods', {
      metadata: { name, namespace: 'default' },
      spec: {
        nodeName: 'a',
        containers: [{ name: 'c', image: 'i' }],
        resourceClaims: [{ name: 'gpu', resourceClaimName: name }],
      },
    } as object);
    await scene.create(claims, {
      metadata: { name, namespace: 'default' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
    } as object);
    await scene.update<StoredResourceClaim>(
      claims,
      'default',
      name,
      (live) => {
        live.status.allocation = {
          devices: { results: [{ request: 'r', driver, pool: 'a', device: name, tolerations }] },
        } as unknown as NonNullable<StoredResourceClaim['status']['allocation']>;
        live.status.reservedFor = [{ resource: 'pods', name, uid: made.metadata.uid ?? '' }];
      },
      'status',
    );
    return made;
  }

  const rule = (name: string, device: string, effect: string) =>
    scene.create(rules, {
      metadata: { name },
      spec: { deviceSelector: { driver, device }, taint: { key: 'broken', effect, timeAdded } },
    } as object);

  const leaves = (name: string) =>
    scene.until<StoredPod, true>('pods', `${name} leaves`, (pods) => {
      const found = pods.find(({ metadata }) => metadata.name === name);
      return found === undefined || found.metadata.deletionTimestamp !== undefined || undefined;
    });

  const condition = (name: string, reason: string) =>
    scene.until<DeviceTaintRule & ApiObject, string>(rules, `${name} says ${reason}`, (all) => {
      const found = all.find(({ metadata }) => metadata.name === name)?.status.conditions?.[0];
      return found?.reason === reason ? `${found.type} ${found.status} ${found.message}` : undefined;
    });

  it('deletes pods whose devices a rule taints, and reports that in the rule', async () => {
    await pod('tainted');
    await pod('other');
    await pod('tolerant', [{ key: 'broken', operator: 'Exists', effect: 'NoExecute' }]);
    await rule('evicts', 'tainted', 'NoExecute');
    await rule('tolerated', 'tolerant', 'NoExecute');
    await leaves('tainted');
    const said = await scene.until<Event & ApiObject, string | undefined>(
      'events',
      'the event',
      (events) => events.find(({ reason }) => reason === 'DeviceTaintManagerEviction')?.message,
    );
    assert.equal(said, 'Marking for deletion');
    assert.match(await condition('tolerated', 'NotStarted'), /^EvictionInProgress False $/);
    for (const name of ['other', 'tolerant']) {
      const { metadata } = await scene.get<StoredPod>('pods', 'default', name);
      assert.equal(metadata.deletionTimestamp, undefined, name);
    }
  });

  it('deletes pods whose devices their driver taints', async () => {
    await pod('driven');
    const devices = [{ name: 'driven', taints: [{ key: 'hot', effect: 'NoExecute', timeAdded }] }, { name: 'cool' }];
    await scene.create('resourceslices.resource', {
      metadata: { name: 's' },
      spec: { driver, nodeName: 'a', pool: { name: 'a', generation: 1, resourceSliceCount: 1 }, devices },
    } as object);
    await leaves('driven');
  });

  it('says what a rule without effect would do', async () => {
    await pod('looked-at');
    await rule('looks', 'looked-at', 'None');
    assert.equal(
      await condition('looks', 'NoEffect'),
      'EvictionInProgress False 0 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update.',
    );
    await rule('keeps-away', 'looked-at', 'NoSchedule');
    assert.equal(
      await condition('keeps-away', 'OtherEffect'),
      'EvictionInProgress False Eviction only happens for the NoExecute effect.',
    );
  });
});
