import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { ServiceCIDR } from '../../../objects/apis/networking/v1/service-cidr.types.js';
import { ManualTimers } from '../testing/manual-timers.js';
import { AddressRanges } from './address-ranges.js';

type StoredRange = ServiceCIDR & ApiObject;

const ranges = 'servicecidrs.networking';
const addresses = 'ipaddresses.networking';
/** A little more than the loop waits after a deletion. */
const graceMs = 12_000;
const finalizer = 'networking.k8s.io/service-cidr-finalizer';

describe('AddressRanges', () => {
  it('contain the addresses of their networks, of either family', () => {
    const set = new AddressRanges(['10.1.0.0/24', 'fd00::/120', 'x']);
    const inside = ['10.1.0.0', '10.1.0.255', 'fd00::ff'].map((address) => set.contain(address));
    const outside = ['10.1.1.0', 'fd00::100', '::ffff:10.2.0.1', 'y'].map((address) => set.contain(address));
    assert.deepEqual([inside, outside], [Array(3).fill(true), Array(4).fill(false)]);
  });
});

describe('ServiceCidrController', () => {
  let postgres: TestPostgres;
  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  const add = (scene: LoopScene, name: string, ...cidrs: string[]) =>
    scene.create(ranges, { metadata: { name }, spec: { cidrs } } as object);
  const address = (scene: LoopScene, name: string, labels: object = {}) =>
    scene.create(addresses, {
      metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io', ...labels } },
      spec: { parentRef: { resource: 'services', namespace: 'default', name: 's' } },
    } as object);
  /** Waits until an object has the condition `Ready` with this status and reason. */
  const ready = (scene: LoopScene, name: string, status: string, reason: string) =>
    scene.until<StoredRange, boolean>(ranges, `${name} is Ready ${status}`, (all) =>
      all.some(
        ({ metadata, status: { conditions = [] } }) =>
          metadata.name === name &&
          metadata.finalizers?.includes(finalizer) === true &&
          conditions.some((one) => one.type === 'Ready' && one.status === status && one.reason === reason),
      ),
    );
  const gone = (scene: LoopScene, name: string) =>
    scene.until<ApiObject, boolean>(ranges, `${name} is gone`, (all) =>
      all.every(({ metadata }) => metadata.name !== name),
    );

  it('keeps a range that is being deleted while services have addresses which no other range has', async () => {
    const timers = new ManualTimers(Date.now());
    const scene = await LoopScene.start({ postgres, timers });
    try {
      await scene.run(['service-cidr-controller']);
      await add(scene, 'used', '10.1.0.0/24');
      await add(scene, 'covered', '10.2.0.0/24');
      await add(scene, 'foreign', '10.3.0.0/24');
      await add(scene, 'wide', '10.2.0.0/16');
      for (const name of ['used', 'covered', 'foreign', 'wide']) await ready(scene, name, 'True', '');
      await address(scene, '10.1.0.7');
      await address(scene, '10.2.0.7');
      await address(scene, '10.3.0.7', { 'ipaddress.kubernetes.io/managed-by': 'somebody' });
      for (const name of ['used', 'covered', 'foreign']) await scene.delete(ranges, '', name);
      await ready(scene, 'used', 'False', 'Terminating');
      await scene.rest();
      // A service that was being written when the deletion came may still get an address.
      assert.ok(await scene.find(ranges, '', 'covered'));
      await scene.pass(graceMs);
      await gone(scene, 'covered');
      await gone(scene, 'foreign');
      await scene.delete(ranges, '', 'wide');
      await ready(scene, 'wide', 'False', 'Terminating');
      await scene.pass(graceMs);
      await scene.delete(addresses, '', '10.2.0.7');
      await gone(scene, 'wide');
      assert.ok(await scene.find(ranges, '', 'used'));
      await add(scene, 'successor', '10.1.0.0/20');
      await gone(scene, 'used');
    } finally {
      await scene.end();
    }
  });

  it('keeps two ranges of one address when both are being deleted', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      await scene.run(['service-cidr-controller']);
      for (const name of ['a', 'b']) await add(scene, name, '10.1.0.0/24');
      for (const name of ['a', 'b']) await ready(scene, name, 'True', '');
      await address(scene, '10.1.0.7');
      for (const name of ['a', 'b']) await scene.delete(ranges, '', name);
      for (const name of ['a', 'b']) await ready(scene, name, 'False', 'Terminating');
    } finally {
      await scene.end();
    }
  });
});
