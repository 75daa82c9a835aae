import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../../test/e2e/support/test-cluster.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { put, remove } from '../../../storage/testing/storage-helpers.js';
import { keyOf, podText, RowScene } from './testing/row-scene.js';

describe('rows after a crash of the database', () => {
  let postgres: TestPostgres;
  before(async () => {
    postgres = await startTestPostgres({ fsync: true });
  });
  after(() => postgres.stop());

  it('are those of the objects, although their commits wait for no disk', { timeout: 120_000 }, () =>
    RowScene.use(async (scene) => {
      const { storage } = scene;
      for (let i = 0; i < 20; i++) await storage.create(keyOf(`p${i}`), `u${i}`, podText());
      const loop = scene.run();
      await scene.caughtUp();
      for (let round = 0; round < 3; round++) {
        for (let i = 0; i < 19; i++) {
          await put(storage, keyOf(`p${i}`), podText({ phase: `Phase${round}`, node: `n${(i + round) % 3}` }));
        }
        await storage.create(keyOf(`new${round}`), `n${round}`, podText());
        await remove(storage, keyOf(round === 0 ? 'p19' : `new${round - 1}`));
        // Rows of the last changes may or may not be on the disk, and their position with them.
        if (round > 0) await scene.caughtUp();
        await postgres.shutDown('immediate');
        await postgres.startAgain();
        await scene.reconnect();
        const answers = () =>
          storage.head().then(
            () => true,
            () => false,
          );
        await eventually(answers, 'the storage to be connected again');
        await scene.caughtUp();
        assert.deepEqual(await scene.shown(), await scene.stored());
        const found = await scene.rows(
          `select count(*)::int as pods from cluster.pods where spec @> '{"nodeName": "n1"}'`,
        );
        const named = (await scene.stored()).filter((one) => JSON.stringify(one).includes('"nodeName":"n1"'));
        assert.equal(found[0]?.pods, named.length);
      }
      await loop.stop();
    }, postgres),
  );
});
