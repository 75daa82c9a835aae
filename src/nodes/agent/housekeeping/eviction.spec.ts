import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { decode } from '../../../base/machinery/schema/index.js';
import { pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import { PodFolders } from '../pod-folders.js';
import { DiskLimits } from './disk-limits.js';
import { DiskUse } from './disk-use.js';
import { podToEvict, readThreshold, shortages } from './eviction.js';
import { Pressures } from './pressures.js';
import { Shortages } from './shortages.js';

const uid = '0b0e1f9e-0000-4000-8000-000000000001';

function podOf(spec: object, metadata: object = {}) {
  const own = { name: 'web', namespace: 'default', uid, ...metadata };
  return decode(podType, { apiVersion: 'v1', kind: 'Pod', metadata: own, spec: { containers: [], ...spec } }).value;
}

const app = (resources: object = {}) => ({ name: 'app', image: 'a', resources });

describe('eviction', () => {
  it('begins below a threshold, takes the one that uses too much first, and keeps the condition for a while', () => {
    const thresholds = ['memory.available<100Mi', 'nodefs.available<10%'].map(readThreshold);
    const seen = {
      'memory.available': { capacity: 2 ** 30, available: 2 ** 20 },
      'nodefs.available': { capacity: 100, available: 50 },
    };
    const found = shortages(thresholds, seen);
    assert.deepEqual(
      found.map(({ pressure }) => pressure),
      ['MemoryPressure'],
    );
    const pressures = new Pressures(1000);
    assert.deepEqual([...pressures.take(found, 0)], ['MemoryPressure']);
    assert.equal(pressures.take([], 1000).size, 1);
    assert.equal(pressures.take([], 1001).size, 0);
    const modest = podOf({ containers: [app({ requests: { memory: '10Mi' } })] }, { name: 'modest' });
    const greedy = podOf({ priority: 5 }, { name: 'greedy' });
    const critical = podOf({ priority: 2_000_000_000 }, { name: 'critical' });
    const evicted = podToEvict(
      [modest, greedy, critical],
      'memory',
      () => 2 ** 20,
      () => false,
    );
    assert.equal(evicted?.metadata.name, 'greedy');
  });

  it('waits as long as a soft threshold says, and goes on until more has come back', () => {
    const [hard, soft] = ['memory.available<100', 'memory.available<200'].map(readThreshold);
    const rules = [hard, { ...soft, graceMs: 1000, reclaim: { percent: undefined, amount: 50 } }] as const;
    const watched = new Shortages(rules as never);
    const look = (available: number, now: number) => {
      const found = watched.look({ 'memory.available': { capacity: 1000, available } }, now);
      return [found.length, watched.due(found, now).length];
    };
    assert.deepEqual(look(150, 0), [1, 0]);
    assert.deepEqual(look(150, 999), [1, 0]);
    assert.deepEqual(look(250, 999), [0, 0], 'the time begins anew');
    assert.deepEqual(look(150, 1000), [1, 0]);
    assert.deepEqual(look(150, 2000), [1, 1]);
    assert.deepEqual(look(240, 2001), [1, 1], 'not all has come back');
    assert.deepEqual(look(250, 2002), [0, 0]);
    assert.deepEqual(look(50, 2003), [2, 1], 'the hard one at once');
  });

  it('ends pods that use more of the disk than they may, without following links', async () => {
    const root = await fs.mkdtemp(join(tmpdir(), 'limits-'));
    const folders = new PodFolders(root, join(root, 'logs'));
    const limits = new DiskLimits(folders, join(root, 'logs'));
    const spec = { containers: [app()], volumes: [{ name: 'v', emptyDir: { sizeLimit: '64Ki' } }] };
    const pod = podOf(spec, { name: 'p', uid: 'u', namespace: 'n' });
    assert.equal(limits.concern(pod), true);
    assert.equal(
      limits.concern(podOf({ volumes: [{ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1' } }] })),
      false,
    );
    const folder = folders.volume('u', 'kubernetes.io~empty-dir', 'v');
    await fs.mkdir(join(folder, 'sub'), { recursive: true });
    await fs.writeFile(join(root, 'large'), Buffer.alloc(200_000, 1));
    await fs.symlink(join(root, 'large'), join(folder, 'link'));
    await fs.symlink(root, join(folder, 'up'));
    assert.equal(await limits.problem(pod, undefined), undefined);
    await fs.writeFile(join(folder, 'sub', 'file'), Buffer.alloc(100_000, 1));
    const diskUse = new DiskUse();
    const used = (await diskUse.of(folder)) ?? 0;
    await fs.link(join(folder, 'sub', 'file'), join(folder, 'sub', 'same'));
    assert.ok(((await diskUse.of(folder)) ?? 0) - used < 50_000, 'one file with two names');
    assert.match(
      (await limits.problem(pod, undefined)) ?? '',
      /^Usage of EmptyDir volume "v" exceeds the limit "64Ki"\. $/,
    );
    await fs.rm(root, { recursive: true });
  });
});
