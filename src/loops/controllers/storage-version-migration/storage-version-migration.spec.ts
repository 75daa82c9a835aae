import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { registeredGroups } from '../../../../test/support/registered-groups.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { StorageVersionMigration } from '../../../objects/apis/storagemigration/v1/storage-version-migration.types.js';
import { isPresentForm } from '../../../objects/registry/store/object-codec.js';

type Migration = StorageVersionMigration & ApiObject;

const migrations = 'storageversionmigrations.storagemigration';

describe('StorageVersionMigrationController', () => {
  let scene: LoopScene;

  before(async () => {
    scene = await LoopScene.start();
  });
  after(() => scene?.end());

  const ask = (name: string, resource: string, group: string) =>
    scene.create(migrations, { metadata: { name }, spec: { resource: { resource, group } } } as object);

  const outcome = (name: string) =>
    scene.until<Migration, readonly string[]>(migrations, `${name} ends`, (all) => {
      const { conditions = [] } = all.find(({ metadata }) => metadata.name === name)?.status ?? {};
      const isOver = conditions.some(({ type, status }) => type !== 'Running' && status === 'True');
      return isOver
        ? conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason} ${message}`)
        : undefined;
    });

  it('writes all objects of a resource again in their present form, one migration after the other', async () => {
    const { registry } = await registeredGroups();
    const resource = registry.findStored('cronjobs.batch');
    assert.ok(resource);
    const key = (name: string) => ({ resource: 'cronjobs.batch', namespace: 'default', name });
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    const spec = { schedule: '0 0 * * *', jobTemplate: { spec: { template } } };
    await scene.create('namespaces', { metadata: { name: 'default' } } as object).catch(() => undefined);
    for (let i = 0; i < 250; i++) {
      const metadata = {
        name: `old-${i}`,
        namespace: 'default',
        uid: `uid-${i}`,
        creationTimestamp: '2020-01-01T00:00:00Z',
      };
      const former = JSON.stringify({ kind: 'CronJob', apiVersion: 'batch/v1beta1', metadata, spec });
      await scene.storage.create(key(`old-${i}`), `uid-${i}`, former);
    }
    await ask('first', 'cronjobs', 'batch');
    await ask('second', 'cronjobs', 'batch');
    await scene.run(['storage-version-migration']);
    const done = [
      'Running False MigrationCompleted Migration completed',
      'Succeeded True StorageVersionMigrationSucceeded Migration completed',
    ];
    assert.deepEqual(await outcome('first'), done);
    const { items } = await scene.storage.list({ resource: 'cronjobs.batch' });
    assert.deepEqual(
      items.filter(({ json }) => !isPresentForm(resource, json)),
      [],
    );
    const live = await scene.get<ApiObject>('cronjobs.batch', 'default', 'old-7');
    assert.deepEqual([live.apiVersion, live.metadata.uid], ['batch/v1', 'uid-7']);
    assert.deepEqual(await outcome('second'), done);
    const { status } = await scene.get<Migration>(migrations, '', 'first');
    assert.match(status.resourceVersion ?? '', /^[1-9]\d*$/);
    assert.deepEqual(scene.logged, []);
  });
});
