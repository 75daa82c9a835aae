import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { mount } from '../cri/container-messages.js';
import { PodFolders } from '../pod-folders.js';
import { containerDevices, containerMounts } from './container-mounts.js';
import { unmountBelow } from './mounts.js';
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
    assert.throws(() => containerDevices({ container: of('folder'), volumes }), /volume folder is not a device/);
    const container = { name: 'main', volumeMounts: [{ name: 'none', mountPath: '/n' }] } as Container;
    const input = { pod, folders, volumes, container, images: new Map(), environment: new Map() };
    await assert.rejects(containerMounts(input), /volume none is not ready/);
  });

  it("make folders in the volume of a group that are the group's, at every depth", async (context) => {
    if (process.getuid?.() !== 0) return context.skip('only root mounts');
    const root = await fs.mkdtemp(join(tmpdir(), 'plinth-mounts-'));
    try {
      const volume = join(root, 'volume');
      await fs.mkdir(volume);
      await fs.chown(volume, 0, 4242);
      await fs.chmod(volume, 0o2775);
      const volumeMounts = [{ name: 'v', mountPath: '/m', subPath: 'deep/er' }];
      const [found] = await containerMounts({
        ...{ pod, images: new Map(), environment: new Map() },
        folders: new PodFolders(root, root),
        volumes: new Map([['v', { path: volume, isReadOnly: false }]]),
        container: { name: 'main', volumeMounts } as Container,
      });
      for (const path of [join(volume, 'deep'), found?.hostPath ?? '']) {
        const { gid, mode } = await fs.stat(path);
        assert.deepEqual([gid, (mode & 0o7777).toString(8)], [4242, '2775'], path);
      }
    } finally {
      await unmountBelow(root);
      await fs.rm(root, { recursive: true, force: true });
    }
  });

  it('say in the words that people know why a place in a volume can not be had', async () => {
    const root = await fs.mkdtemp(join(tmpdir(), 'plinth-mounts-'));
    try {
      await fs.symlink('/etc', join(root, 'out'));
      const problemOf = (subPathExpr: string) =>
        containerMounts({
          ...{
            pod,
            folders,
            images: new Map(),
            environment: new Map([
              ['UP', '..'],
              ['ROOT', '/etc'],
            ]),
          },
          volumes: new Map([['v', { path: root, isReadOnly: false }]]),
          container: { name: 'main', volumeMounts: [{ name: 'v', mountPath: '/m', subPathExpr }] } as Container,
        }).catch((error: Error) => error.message);
      assert.equal(await problemOf('a/$(UP)/b'), "unable to provision SubPath `a/../b`: must not contain '..'");
      assert.equal(await problemOf('$(ROOT)'), 'error SubPath `/etc` must not be an absolute path');
      assert.equal(await problemOf('$(NONE)'), 'missing value for NONE');
      const words = 'failed to prepare subPath for volumeMount "v" of container "main": ';
      assert.equal(await problemOf('out'), `${words}out leads out of the volume`);
      await fs.writeFile(join(root, 'file'), '');
      await fs.symlink('round', join(root, 'round'));
      // Nothing of the path on the machine.
      assert.equal(await problemOf('file/x'), `${words}ENOTDIR: not a directory`);
      assert.equal(await problemOf('round'), `${words}ELOOP: too many symbolic links encountered`);
    } finally {
      await fs.rm(root, { recursive: true, force: true });
    }
  });
});
