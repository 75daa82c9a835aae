import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { ServiceScene } from '../../../../test/support/service-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Endpoints } from '../../../objects/apis/core/v1/endpoints.types.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredSlice } from './pack-slices.js';
import type { StoredService } from './service-pods.js';

type StoredEndpoints = Endpoints & ApiObject;

const slices = 'endpointslices.discovery';
const all = ['endpoint', 'endpointslice', 'endpointslicemirroring'] as const;
const mirroringLoop = 'endpointslicemirroring-controller.k8s.io';

function endpointCount(list: readonly StoredSlice[]): number {
  return list.reduce((sum, { endpoints }) => sum + (endpoints ?? []).length, 0);
}

describe('the loop about mirrored slices', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;
  let services: ServiceScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
    services = new ServiceScene(scene);
  });
  afterEach(() => scene.end());

  const bare = (name: string, metadata: object = {}) =>
    scene.create('services', {
      metadata: { name, namespace: 'default', ...metadata },
      spec: { ports: [{ port: 80 }] },
    });
  const write = (name: string, addresses: readonly string[], metadata: object = {}, notReady: readonly string[] = []) =>
    scene.create<StoredEndpoints>('endpoints', {
      metadata: { name, namespace: 'default', ...metadata },
      subsets: [
        {
          addresses: addresses.map((ip) => ({ ip })),
          notReadyAddresses: notReady.map((ip) => ({ ip })),
          ports: [{ port: 80 }],
        },
      ],
    });

  it('follow Endpoints of a service without a selector', async () => {
    await scene.run(all);
    await bare('ext');
    const labels = { team: 'a' };
    const annotations = { note: 'b', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    const endpoints = await write('ext', ['192.0.2.1', '2001:db8::1'], { labels, annotations }, ['192.0.2.2']);
    const found = await services.untilSlices('ext', '192.0.2.1 192.0.2.2! | 2001:db8::1', 2);
    const four = found.find(({ addressType }) => addressType === 'IPv4');
    assert.deepEqual(four?.metadata.labels, {
      team: 'a',
      'kubernetes.io/service-name': 'ext',
      'endpointslice.kubernetes.io/managed-by': mirroringLoop,
    });
    assert.deepEqual(four?.metadata.annotations, { note: 'b' });
    assert.deepEqual(four?.ports, [{ name: '', protocol: 'TCP', port: 80 }]);
    const owner = { apiVersion: 'v1', kind: 'Endpoints', name: 'ext', uid: endpoints.metadata.uid };
    assert.deepEqual(four?.metadata.ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    await scene.update<StoredEndpoints>('endpoints', 'default', 'ext', (object) => {
      object.subsets = [{ addresses: [{ ip: '192.0.2.7' }], ports: [{ port: 81, protocol: 'TCP' }] }];
      object.metadata.annotations = {};
    });
    const [changed] = await services.untilSlices('ext', '192.0.2.7');
    assert.equal(changed?.ports?.[0]?.port, 81);
    assert.equal(changed?.metadata.annotations, undefined);
    await scene.update<StoredEndpoints>('endpoints', 'default', 'ext', (object) => {
      object.subsets = [];
    });
    await services.untilSlices('ext', '', 0);
  });

  it('are not made of what others keep', async () => {
    await scene.run(['endpointslicemirroring']);
    await bare('skipped');
    await write('skipped', ['192.0.2.1'], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } });
    await bare('lock');
    await write('lock', ['192.0.2.1'], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } });
    await write('lonely', ['192.0.2.1']);
    await services.createService('selects');
    await write('selects', ['192.0.2.1']);
    await bare('last');
    await write('last', ['192.0.2.1']);
    await services.untilSlices('last', '192.0.2.1');
    for (const name of ['skipped', 'lock', 'lonely', 'selects']) await services.untilSlices(name, '', 0);
    // The reasons not to mirror Endpoints may change.
    await bare('lonely');
    await services.untilSlices('lonely', '192.0.2.1');
    await scene.delete('services', 'default', 'lonely');
    await services.untilSlices('lonely', '', 0);
    await scene.update<StoredService>('services', 'default', 'last', ({ spec }) => {
      spec.selector = { app: 'x' };
    });
    await services.untilSlices('last', '', 0);
  });

  it('end with the Endpoints, even while no loop ran', async () => {
    await bare('ext');
    await write('ext', ['192.0.2.1']);
    const running = await scene.run(all);
    await services.untilSlices('ext', '192.0.2.1');
    await running.stop();
    await scene.delete('endpoints', 'default', 'ext');
    await scene.run(all);
    await services.untilSlices('ext', '', 0);
  });

  it('have at most a thousand addresses, which an event says', async () => {
    await bare('big');
    const addresses = Array.from({ length: 1_002 }, (_, i) => `10.7.${Math.floor(i / 250)}.${1 + (i % 250)}`);
    await write('big', addresses);
    await scene.run(all);
    await scene.until<StoredSlice, true>(
      slices,
      'ten full slices',
      (list) => list.length === 10 && endpointCount(list) === 1_000,
    );
    const event = await scene.until<Event & ApiObject, Event>('events', 'an event', (list) =>
      list.find(({ reason }) => reason === 'TooManyAddressesToMirror'),
    );
    assert.match(event.message ?? '', /2 addresses were skipped$/);
  });

  it('come out once when two processes write them', async () => {
    await bare('ext');
    await scene.run(all);
    await scene.run(all);
    await write('ext', ['192.0.2.1', '192.0.2.2']);
    await services.untilSlices('ext', '192.0.2.1 192.0.2.2');
    await services.untilEndpoints('ext', '192.0.2.1 192.0.2.2/');
  });
});
