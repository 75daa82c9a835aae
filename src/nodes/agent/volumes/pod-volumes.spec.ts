import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { PodFolders } from '../pod-folders.js';
import { mountsBelow, unmount } from './mounts.js';
import { preparePodVolumes, type VolumeInput } from './pod-volumes.js';

function inputOf(root: string, emptyDir: object, fsGroup?: number): VolumeInput {
  const pod = {
    metadata: { uid: 'u1', name: 'web', namespace: 'default' },
    spec: { containers: [], volumes: [{ name: 'v', emptyDir }], securityContext: { fsGroup } },
  } as unknown as Pod;
  return { pod, folders: new PodFolders(root, join(root, 'logs')), allocatable: {} } as unknown as VolumeInput;
}

async function pathOf(input: VolumeInput): Promise<string> {
  const { path = '' } = (await preparePodVolumes(input)).get('v') ?? {};
  return path;
}

const shown = async (path: string) => {
  const { mode, gid } = await fs.stat(path);
  return `${(mode & 0o7777).toString(8)} ${gid}`;
};

describe('an empty folder of a pod', { skip: process.getuid?.() !== 0 && 'only root makes volumes' }, () => {
  it('is for everybody, also when the process that began to make it was killed', async (context) => {
    const root = await fs.mkdtemp(join(tmpdir(), 'plinth-volumes-'));
    try {
      const killed = context.mock.method(fs, 'chmod', () => Promise.reject(new Error('killed')));
      await assert.rejects(preparePodVolumes(inputOf(root, {}, 1234)), /killed/);
      killed.mock.restore();
      const path = await pathOf(inputOf(root, {}, 1234));
      assert.equal(await shown(path), '2777 1234');
      await fs.writeFile(join(path, 'file'), 'kept');
      await fs.chmod(path, 0o700);
      assert.equal(await pathOf(inputOf(root, {}, 1234)), path);
      assert.equal(await fs.readFile(join(path, 'file'), 'utf8'), 'kept');
      assert.equal(await shown(path), '700 1234', 'what a container has changed stays');
    } finally {
      await fs.rm(root, { recursive: true, force: true });
    }
  });

  it('in memory has its mode and its group from the beginning', async (context) => {
    const root = await fs.mkdtemp(join(tmpdir(), 'plinth-volumes-'));
    const medium = { medium: 'Memory', sizeLimit: '1Mi' };
    let path = '';
    try {
      const later = context.mock.method(fs, 'chmod', () => Promise.reject(new Error('too late')));
      path = await pathOf(inputOf(root, medium, 1234));
      later.mock.restore();
      assert.equal(await shown(path), '3777 1234');
      const { blocks, bsize } = await fs.statfs(path);
      assert.equal(blocks * bsize, 2 ** 20);
      const mounts = async () => (await mountsBelow(root)).length;
      await preparePodVolumes(inputOf(root, medium, 1234));
      assert.equal(await mounts(), 1, 'it is mounted once');
      await unmount(path);
      await preparePodVolumes(inputOf(root, medium, 1234));
      assert.equal(await mounts(), 1, 'and again when somebody has unmounted it');
    } finally {
      if (path !== '') await unmount(path);
      await fs.rm(root, { recursive: true, force: true });
    }
  });
});
