import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';

const annotation = 'node.alpha.kubernetes.io/ttl';

describe('NodeTtlController', () => {
  let postgres: TestPostgres;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());

  const untilAll = (scene: LoopScene, count: number, seconds: string) =>
    scene.until<StoredNode, boolean>(
      'nodes',
      `${count} nodes have ${seconds}`,
      (nodes) =>
        nodes.length === count && nodes.every(({ metadata }) => metadata.annotations?.[annotation] === seconds),
    );

  it('writes to all nodes what their number says, two loops at once and after a stop as well', async () => {
    const scene = await LoopScene.start({ postgres });
    try {
      const add = (name: string) => scene.create<StoredNode>('nodes', { metadata: { name } });
      const first = await scene.run(['ttl']);
      for (let i = 0; i < 100; i++) await add(`n${i}`);
      await untilAll(scene, 100, '0');
      const second = await scene.run(['ttl']);
      await add('n100');
      await untilAll(scene, 101, '15');
      // The old value applies again only when the number of nodes is a tenth lower.
      for (let i = 0; i < 11; i++) await scene.delete('nodes', '', `n${i}`);
      await add('n0');
      await untilAll(scene, 91, '15');
      await first.stop();
      await second.stop();
      // The next leader continues with the values recorded on the nodes.
      await scene.delete('nodes', '', 'n0');
      await scene.run(['ttl']);
      await add('new');
      await untilAll(scene, 91, '15');
      await scene.update('nodes', '', 'n50', ({ metadata }) => (metadata.annotations = { [annotation]: '7' }));
      await untilAll(scene, 91, '15');
      await scene.run(['ttl']);
      for (const name of ['new', 'n11']) await scene.delete('nodes', '', name);
      await untilAll(scene, 89, '0');
      assert.deepEqual(scene.logged, []);
    } finally {
      await scene.end();
    }
  });
});
