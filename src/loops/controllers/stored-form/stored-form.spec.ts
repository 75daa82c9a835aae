import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import { isPresentForm } from '../../../objects/registry/store/object-codec.js';
import { ManualTimers } from '../testing/manual-timers.js';

it('objects in a former form are written again, once, without a change', async () => {
  const timers = new ManualTimers();
  const scene = await LoopScene.start({ timers });
  try {
    const { registry } = await registeredGroups();
    const resource = registry.findStored('cronjobs.batch');
    assert.ok(resource);
    const key = (name: string) => ({ resource: 'cronjobs.batch', namespace: 'default', name });
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    const spec = { schedule: '0 0 * * *', jobTemplate: { spec: { template } } };
    const former = (name: string) => {
      const metadata = { name, namespace: 'default', uid: `${name}-uid`, creationTimestamp: '2020-01-01T00:00:00Z' };
      return JSON.stringify({ kind: 'CronJob', apiVersion: 'batch/v1beta1', metadata, spec });
    };
    for (let i = 0; i < 450; i++) await scene.storage.create(key(`old-${i}`), `old-${i}-uid`, former(`old-${i}`));
    await scene.storage.create(key('broken'), 'broken-uid', former('broken').replace('"0 0', '7,"x":"0 0'));
    await scene.create('cronjobs.batch', { metadata: { name: 'new', namespace: 'default' }, spec });
    const before = await scene.storage.get(key('new'));
    await scene.run(['storage-version-migrator']);
    const formOf = async (name: string) => isPresentForm(resource, (await scene.storage.get(key(name)))?.json ?? '');
    assert.equal(await formOf('old-0'), false);
    await timers.waiting((ms) => ms === 300_000);
    timers.advance(300_000);
    const isDone = new AbortController();
    void timers.waiting((ms) => ms === 600_000).then(() => isDone.abort());
    while (!isDone.signal.aborted) {
      await timers.waiting((ms) => ms <= 100 || ms === 600_000);
      timers.advance(100);
    }
    const { items } = await scene.storage.list({ resource: 'cronjobs.batch' });
    const outdated = items.filter(({ json }) => !isPresentForm(resource, json));
    assert.deepEqual(
      outdated.map((item) => item.key.name),
      ['broken'],
    );
    const live = await scene.get('cronjobs.batch', 'default', 'old-7');
    assert.equal(live.apiVersion, 'batch/v1');
    assert.equal(live.metadata.uid, 'old-7-uid');
    assert.equal(live.metadata.creationTimestamp, '2020-01-01T00:00:00Z');
    assert.equal((await scene.storage.get(key('new')))?.resourceVersion, before?.resourceVersion);
    assert.equal(scene.logged.length, 1, scene.logged.join('\n'));
    assert.match(scene.logged[0] ?? '', /broken/);
  } finally {
    await scene.end();
  }
});
