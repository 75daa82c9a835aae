import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { TestDevicePlugin } from '../../../../test/support/test-device-plugin.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { Logger } from '../../../base/observability/logger.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { DeviceManager } from './device-manager.js';
import { DeviceRegistration, registrationProblem } from './device-registration.js';
import { DeviceStore } from './device-store.js';

const resource = 'test.example/thing';

function pod(uid: string, counts: Readonly<Record<string, number>>, inits: Readonly<Record<string, number>> = {}) {
  const container = ([name, count]: [string, number]) => ({
    name,
    resources: { limits: { [resource]: String(count) } },
  });
  const metadata = { name: uid, namespace: 'default', uid };
  const spec = {
    containers: Object.entries(counts).map(container),
    initContainers: Object.entries(inits).map(container),
  };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata, spec }).value;
}

describe('devices of plugins', () => {
  let folder: string;
  let devices: DeviceManager;
  let registration: DeviceRegistration;
  let plugin: TestDevicePlugin;
  const active = new Set<string>();
  let onChange: () => void = () => undefined;

  const open = async () => {
    devices = new DeviceManager({
      store: new DeviceStore(join(folder, 'devices.json')),
      isActive: () => (uid) => active.has(uid),
      onChange: () => onChange(),
    });
    await devices.open();
    registration = new DeviceRegistration({
      ...{ devices, timers: systemTimers, logger: new Logger('error', 'text', () => undefined) },
      folder: join(folder, 'plugins'),
    });
    await registration.start();
  };
  /** Resolves when this many devices can be assigned. */
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      onChange = () => {
        if (devices.allocatable()[resource] === String(count)) resolve();
      };
      onChange();
    });
  const prepare = (each: ReturnType<typeof pod>) => {
    active.add(each.metadata.uid ?? '');
    return devices.prepare(each);
  };

  beforeEach(async () => {
    folder = await fs.mkdtemp(join(tmpdir(), 'plinth-devices-'));
    active.clear();
    await open();
    const all = { a: 'Healthy', b: 'Healthy', c: 'Unhealthy', d: 'Healthy' } as const;
    plugin = await TestDevicePlugin.start(resource, join(folder, 'plugins'), all, (ids) => ({
      envs: { THINGS: ids.join() },
    }));
    await until(3);
  });
  afterEach(async () => {
    await plugin.stop();
    registration.stop();
    await fs.rm(folder, { recursive: true, force: true });
  });

  const envOf = (uid: string, container: string) =>
    devices.allocationsOf(uid, container).map(({ envs }) => envs?.THINGS);

  it('count as capacity, and as allocatable while they are healthy and their plugin is there', async () => {
    assert.deepEqual([devices.capacity(), devices.allocatable()], [{ [resource]: '4' }, { [resource]: '3' }]);
    plugin.change({ a: 'Healthy', c: 'Healthy' });
    await until(2);
    assert.deepEqual(devices.capacity(), { [resource]: '2' });
    await plugin.stop();
    await until(0);
    assert.deepEqual(devices.capacity(), { [resource]: '2' });
    plugin = await TestDevicePlugin.start(resource, join(folder, 'plugins'), { a: 'Healthy' }, () => ({}));
    await until(1);
  });

  it('go to one container at a time, those first that the plugin prefers', async () => {
    assert.equal(await prepare(pod('one', { main: 1, more: 1 })), undefined);
    assert.deepEqual([envOf('one', 'main'), envOf('one', 'more')], [['d'], ['b']]);
    await devices.preStart('one', 'main');
    assert.deepEqual(plugin.started, [['d']]);
    assert.deepEqual(await prepare(pod('two', { main: 2 })), {
      reason: 'UnexpectedAdmissionError',
      message:
        'Allocate failed due to requested number of devices unavailable for test.example/thing. Requested: 2, ' +
        'Available: 1, which is unexpected',
    });
    active.delete('one');
    assert.equal(await prepare(pod('two', { main: 2 })), undefined);
    assert.deepEqual(envOf('two', 'main'), ['b,d']);
    assert.equal(await prepare(pod('three', { main: 0 })), undefined);
  });

  it('never go to two pods that ask at the same time', async () => {
    const outcomes = await Promise.all(['1', '2', '3', '4', '5'].map((uid) => prepare(pod(uid, { main: 1 }))));
    assert.equal(outcomes.filter((outcome) => outcome === undefined).length, 3);
    assert.deepEqual(plugin.allocated.flat().sort(), ['a', 'b', 'd']);
  });

  it('pass from init containers to later containers', async () => {
    assert.equal(await prepare(pod('one', { main: 3 }, { first: 2, second: 1 })), undefined);
    assert.deepEqual(envOf('one', 'second'), ['b']);
    assert.deepEqual(envOf('one', 'main').join().split(',').sort(), ['a', 'b', 'd']);
  });

  it('stay with their containers when the agent starts again', async () => {
    await prepare(pod('one', { main: 2 }));
    registration.stop();
    await open();
    assert.deepEqual(devices.allocatable(), { [resource]: '0' });
    assert.deepEqual(envOf('one', 'main'), ['b,d']);
    await plugin.stop();
    plugin = await TestDevicePlugin.start(
      resource,
      join(folder, 'plugins'),
      { a: 'Healthy', b: 'Healthy' },
      () => ({}),
    );
    await until(2);
    assert.equal(await prepare(pod('one', { main: 2 })), undefined);
    assert.deepEqual(plugin.allocated, [], 'it has them already');
    assert.notEqual(await prepare(pod('two', { main: 2 })), undefined);
  });

  it('are not given where the plugin fails, and nothing of the pod stays', async () => {
    plugin.failure = 'it burns';
    const { message } = (await prepare(pod('one', { main: 1 }))) ?? { message: '' };
    assert.match(message, /^Allocate failed due to rpc error: code = Unknown desc = it burns, which is unexpected$/);
    plugin.failure = undefined;
    assert.equal(await prepare(pod('two', { main: 3 })), undefined);
  });

  it('come only from plugins of the right version with a socket in the folder', async () => {
    await assert.rejects(plugin.register('v1alpha1'), /API version "v1alpha1" is not supported/);
    await assert.rejects(plugin.register(undefined, '../other.sock'), /"..\/other.sock" is not a name of a socket/);
    const request = { version: 'v1beta1', endpoint: 'a.sock', options: undefined };
    for (const resourceName of ['thing', 'kubernetes.io/a', 'x.kubernetes.io/a', 'requests.a/b', 'a/b/c', '/a'])
      assert.match(registrationProblem({ ...request, resourceName }) ?? '', /is invalid$/);
    assert.equal(registrationProblem({ ...request, resourceName: 'test.example/Thing_1' }), undefined);
  });
});
