import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { mount } from '../cri/container-messages.js';
import { PodFolders } from '../pod-folders.js';
import { containerDevices, containerMounts } from './container-mounts.js';
import type { ReadyVolume } from './pod-volumes.js';

const pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: {} } as Pod;
const folders = new PodFolders('/root-of-tests', '/logs-of-tests');

describe('the mounts of a container', () => {
  it('show an image for reading only, from a folder in it', async () => {
    const volumeMounts = [{ name: 'tools', mountPath: '/tools', subPath: 'bin' }];
    const [found, ...others] = await containerMounts({
      ...{ pod, folders, volumes: new Map(), environment: new Map() },
      container: { name: 'main', volumeMounts } as Container,
      images: new Map([['tools', { image: 'sha256:1', userSpecifiedImage: 'tools:1' }]]),
    });
    assert.equal(others.length, 0);
    const image = { image: 'sha256:1', userSpecifiedImage: 'tools:1' };
    assert.deepEqual(found, { containerPath: '/tools', readonly: true, image, imageSubPath: 'bin' });
    assert.equal(mount.decode(mount.encode(found ?? {})).image?.image, 'sha256:1');
  });

  it('are refused for volumes that are not there, and devices for volumes that are none', async () => {
    const volumes = new Map<string, ReadyVolume>([
      ['disk', { path: '/d', isReadOnly: false, isDevice: true }],
      ['folder', { path: '/f', isReadOnly: false }],
    ]);
    const of = (name: string) => ({ volumeDevices: [{ name, devicePath: '/dev/x' }] }) as Container;
    assert.deepEqual(containerDevices({ container: of('disk'), volumes }), [
      { containerPath: '/dev/x', hostPath: '/d', permissions: 'mrw' },
    ]);
    assert.throws(() => containerDevices({ container: of('folder'), volumes }), /volume folder is no device/);
    const container = { name: 'main', volumeMounts: [{ name: 'none', mountPath: '/n' }] } as Container;
    const input = { pod, folders, volumes, container, images: new Map(), environment: new Map() };
    await assert.rejects(containerMounts(input), /volume none is not ready/);
  });
});
