import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { TestDevicePlugin } from '../../support/device-plugin.js';
import type { AgentScene } from './agent-scene.js';
import { eventually } from './test-cluster.js';

const resource = 'test.example/thing';

/** What a node agent does with devices that a plugin offers. */
export function deviceCases(scene: () => AgentScene): void {
  it('gives containers the devices of a plugin, with what comes with them, and refuses a user namespace', async () => {
    const { admin, nodeName, folder, create, untilPod, shell, kubectl } = scene();
    const all = { a: 'Healthy', b: 'Healthy', c: 'Unhealthy' } as const;
    const plugin = await TestDevicePlugin.start(resource, join(folder, 'device-plugins'), all, (ids) => ({
      envs: { THINGS: ids.join() },
      mounts: [{ containerPath: '/thing', hostPath: '/etc/hostname', readonly: true }],
      devices: [{ containerPath: '/dev/thing', hostPath: '/dev/zero', permissions: 'r' }],
    }));
    try {
      const amounts = async () => {
        const { status } = (await admin.get(`/api/v1/nodes/${nodeName}`)).body;
        return [status.capacity[resource], status.allocatable[resource]].join();
      };
      await eventually(async () => (await amounts()) === '3,2', 'the node has the devices');
      const resources = { limits: { [resource]: '2' } };
      const script = 'echo $THINGS; head -c 1 /dev/thing | wc -c; test -s /thing && echo mounted; sleep 1000';
      await create('devices', { containers: [{ name: 'main', ...shell(script), resources }] });
      await untilPod('devices', 'the pod with devices runs', ({ phase }) => phase === 'Running');
      await eventually(
        async () => kubectl.ok(['logs', 'devices']) === 'a,b\n1\nmounted\n',
        'the container has its devices',
      );
      assert.deepEqual(plugin.started, [['a', 'b']]);
      await create('others', { containers: [{ name: 'main', ...shell('sleep 1000'), resources }] });
      const { status } = await untilPod('others', 'a pod without devices fails', ({ phase }) => phase === 'Failed');
      assert.equal(status.reason, `OutOf${resource}`);
      await create('users', { hostUsers: false, containers: [{ name: 'main', ...shell('sleep 1000') }] });
      await eventually(
        async () => /can't set `spec.hostUsers: false`/.test(kubectl.ok(['get', 'events'])),
        'a pod that wants a user namespace is refused',
      );
      assert.deepEqual((await admin.get('/api/v1/namespaces/default/pods/users')).body.status.phase, 'Pending');
    } finally {
      await plugin.stop();
      for (const name of ['devices', 'others', 'users'])
        await admin.delete(`/api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=1`);
    }
  });
}
