import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { StoredDeviceClaim } from '../../scheduler/devices/device-objects.js';

type StoredPod = Pod & ApiObject;

const claims = 'resourceclaims.resource';
const driver = 'gpu.example.com';
const finalizer = 'resource.kubernetes.io/delete-protection';

describe('devices of pods', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
    await scene.create('deviceclasses.resource', { metadata: { name: 'gpu' }, spec: {} } as object);
  });
  afterEach(() => scene.end());

  async function node(name: string, devices: readonly (string | object)[] = []) {
    await scene.create('nodes', {
      metadata: { name, labels: { 'kubernetes.io/hostname': name } },
      status: { allocatable: { cpu: '40', memory: '8Gi', pods: '110' } },
    } as object);
    await scene.create('resourceslices.resource', {
      metadata: { name },
      spec: {
        driver,
        pool: { name, generation: 1, resourceSliceCount: 1 },
        nodeName: name,
        devices: devices.map((each) => (typeof each === 'string' ? { name: each } : each)),
      },
    } as object);
  }

  const claim = (name: string, request: object = {}) =>
    scene.create(claims, {
      metadata: { name, namespace: 'default' },
      spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', ...request } }] } },
    } as object);

  const pod = (name: string, claimRef?: object, resources: object = {}) =>
    scene.create<StoredPod>('pods', {
      metadata: { name, namespace: 'default' },
      spec: {
        containers: [{ name: 'c', image: 'i', resources }],
        ...(claimRef === undefined ? {} : { resourceClaims: [{ name: 'gpu', ...claimRef }] }),
      },
    } as object);
  const using = (resourceClaimName: string) => ({ resourceClaimName });

  const placed = (name: string) =>
    scene.until<StoredPod, string>('pods', `${name} gets a node`, (pods) => {
      return pods.find(({ metadata }) => metadata.name === name)?.spec.nodeName;
    });
  const refused = (name: string) =>
    scene.until<StoredPod, string>('pods', `${name} is refused`, (pods) => {
      const found = pods.find(({ metadata }) => metadata.name === name);
      return found?.status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
        ?.message;
    });
  const devicesOf = ({ status }: StoredDeviceClaim) =>
    (status.allocation?.devices.results ?? []).map(({ pool, device }) => `${pool}/${device}`);

  it('are allocated and reserved before a pod is bound, and shared by those that name the same claim', async () => {
    await scene.run(['scheduler']);
    await node('a');
    await node('b', ['d0']);
    await claim('one');
    const first = await pod('first', using('one'));
    assert.equal(await placed('first'), 'b');
    const written = await scene.get<StoredDeviceClaim>(claims, 'default', 'one');
    assert.deepEqual(devicesOf(written), ['b/d0']);
    assert.deepEqual(written.metadata.finalizers, [finalizer]);
    assert.ok(written.status.allocation?.allocationTimestamp);
    assert.deepEqual(written.status.reservedFor, [{ resource: 'pods', name: 'first', uid: first.metadata.uid }]);
    await pod('second', using('one'));
    assert.equal(await placed('second'), 'b');
    const shared = await scene.get<StoredDeviceClaim>(claims, 'default', 'one');
    assert.deepEqual(
      shared.status.reservedFor?.map(({ name }) => name),
      ['first', 'second'],
    );
  });

  it('go to the next pod when the one before has ended', async () => {
    await scene.run(['scheduler', 'resourceclaim-controller']);
    await node('a', ['d0']);
    await scene.create('resourceclaimtemplates.resource', {
      metadata: { name: 't', namespace: 'default' },
      spec: { spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu' } }] } } },
    } as object);
    await pod('first', { resourceClaimTemplateName: 't' });
    assert.equal(await placed('first'), 'a');
    await pod('next', { resourceClaimTemplateName: 't' });
    assert.match(await refused('next'), /^0\/1 nodes are available: 1 cannot allocate all claims\./);
    await scene.delete('pods', 'default', 'first', { gracePeriodSeconds: 0 });
    assert.equal(await placed('next'), 'a');
  });

  it('wait for claims, classes and slices without a word, or with the reason', async () => {
    await scene.run(['scheduler']);
    await node('a');
    const waiting = await pod('early', using('late'));
    await claim('other', { deviceClassName: 'tpu' });
    await pod('classless', using('other'));
    assert.match(await refused('classless'), /request r: device class tpu does not exist/);
    const early = await scene.get<StoredPod>('pods', 'default', 'early');
    assert.deepEqual([early.status.conditions, waiting.metadata.name], [undefined, 'early']);
    await claim('late');
    assert.match(await refused('early'), /1 cannot allocate all claims/);
    await node('b', ['d0', 'd1']);
    assert.equal(await placed('early'), 'b');
    await scene.create('deviceclasses.resource', { metadata: { name: 'tpu' }, spec: {} } as object);
    assert.equal(await placed('classless'), 'b');
  });

  it('are taken back when they keep their pod from all nodes', async () => {
    await scene.run(['scheduler']);
    await node('a', ['d0']);
    await claim('one');
    await scene.update<StoredDeviceClaim>(
      claims,
      'default',
      'one',
      (live) => {
        const values = ['gone'];
        live.status.allocation = {
          devices: { results: [{ request: 'r', driver, pool: 'gone', device: 'd' }] },
          nodeSelector: { nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values }] }] },
        } as NonNullable<StoredDeviceClaim['status']['allocation']>;
      },
      'status',
    );
    await pod('p', using('one'));
    assert.equal(await placed('p'), 'a');
    assert.deepEqual(devicesOf(await scene.get(claims, 'default', 'one')), ['a/d0']);
  });

  it('are prepared before the pod is bound', async () => {
    await scene.run(['scheduler']);
    await node('a', [
      { name: 'd0', bindsToNode: true, bindingConditions: ['ready'], bindingFailureConditions: ['no'] },
    ]);
    await claim('one');
    await pod('p', using('one'));
    await scene.until<StoredDeviceClaim, true>(claims, 'the claim is reserved', ([one]) =>
      one?.status.reservedFor === undefined ? undefined : true,
    );
    assert.equal((await scene.get<StoredPod>('pods', 'default', 'p')).spec.nodeName, undefined);
    await scene.update<StoredDeviceClaim>(
      claims,
      'default',
      'one',
      (live) => {
        const condition = {
          type: 'ready',
          status: 'True',
          reason: 'Done',
          message: '',
          lastTransitionTime: '2030-01-01T00:00:00Z',
        };
        live.status.devices = [{ driver, pool: 'a', device: 'd0', conditions: [condition] }] as NonNullable<
          StoredDeviceClaim['status']['devices']
        >;
      },
      'status',
    );
    assert.equal(await placed('p'), 'a');
  });

  it('stand for extended resources, with a claim made for the pod', async () => {
    await scene.run(['scheduler']);
    await scene.create('deviceclasses.resource', {
      metadata: { name: 'named' },
      spec: { extendedResourceName: 'example.com/gpu' },
    } as object);
    await node('a', ['d0', 'd1']);
    const amounts = { 'example.com/gpu': '2' };
    const made = await pod('p', undefined, { requests: amounts, limits: amounts });
    assert.equal(await placed('p'), 'a');
    const { status } = await scene.get<StoredPod>('pods', 'default', 'p');
    assert.deepEqual(status.extendedResourceClaimStatus?.requestMappings, [
      { containerName: 'c', resourceName: 'example.com/gpu', requestName: 'container-0-request-0' },
    ]);
    const name = status.extendedResourceClaimStatus?.resourceClaimName ?? '';
    const extended = await scene.get<StoredDeviceClaim>(claims, 'default', name);
    assert.deepEqual(devicesOf(extended), ['a/d0', 'a/d1']);
    assert.deepEqual(extended.metadata.annotations, { 'resource.kubernetes.io/extended-resource-claim': 'true' });
    assert.equal(extended.metadata.ownerReferences?.[0]?.uid, made.metadata.uid);
  });

  it('are given up where a scheduler that stopped has allocated those of another claim', async () => {
    await scene.run(['scheduler']);
    await node('a', ['d0', 'd1']);
    await claim('one');
    await pod('first', using('one'));
    assert.equal(await placed('first'), 'a');
    const { status } = await scene.get<StoredDeviceClaim>(claims, 'default', 'one');
    await claim('two');
    await scene.update<StoredDeviceClaim>(
      claims,
      'default',
      'two',
      (live) => {
        live.status.allocation = status.allocation as NonNullable<typeof status.allocation>;
      },
      'status',
    );
    await pod('second', using('two'));
    assert.equal(await placed('second'), 'a');
    const [one, two] = await Promise.all(
      ['one', 'two'].map((name) => scene.get<StoredDeviceClaim>(claims, 'default', name)),
    );
    assert.deepEqual(devicesOf(one as StoredDeviceClaim), devicesOf({ status } as StoredDeviceClaim));
    assert.notDeepEqual(devicesOf(two as StoredDeviceClaim), devicesOf(one as StoredDeviceClaim));
  });

  it('are never given twice by two schedulers of which one stops in the middle', async () => {
    const first = await scene.run(['scheduler']);
    await scene.run(['scheduler']);
    const each = 8;
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names)
      await node(
        name,
        Array.from({ length: each }, (_, i) => `d${i}`),
      );
    const all = each * names.length;
    const created = (async () => {
      for (let i = 0; i < all; i++) {
        await claim(`c${i}`);
        await pod(`p${i}`, using(`c${i}`));
      }
    })();
    const countPlaced = (pods: readonly StoredPod[]) => pods.filter(({ spec }) => spec.nodeName).length;
    await scene.until<StoredPod, true>('pods', 'some are placed', (pods) => countPlaced(pods) > 6 || undefined);
    await first.stop();
    await created;
    await scene.until<StoredPod, true>('pods', 'all are placed', (pods) => countPlaced(pods) === all || undefined);
    const given = await scene.until<StoredDeviceClaim, readonly string[]>(claims, 'all have devices', (found) => {
      const devices = found.flatMap(devicesOf);
      return devices.length === all ? devices : undefined;
    });
    assert.equal(new Set(given).size, all, 'one device for each claim');
  });
});
