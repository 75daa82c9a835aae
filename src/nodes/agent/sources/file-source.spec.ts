import assert from 'node:assert/strict';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { FileSource } from './file-source.js';

it('files are read again only when they have changed, and broken ones keep their pods', async () => {
  const path = await fs.mkdtemp(join(tmpdir(), 'plinth-manifests-'));
  try {
    let pods: readonly Pod[] = [];
    const problems: string[] = [];
    const logger = { warn: (_text: string, { problem }: { problem: string }) => problems.push(problem) };
    const source = new FileSource({
      ...{ path, everyMs: 1000, timers: systemTimers, logger: logger as never },
      context: { nodeName: 'n', source: 'file', names: vendorNames('k8s.io'), seen: 't' },
      onPods: (found) => {
        pods = found;
      },
    });
    const file = join(path, 'a.yaml');
    const write = async (image: string) => {
      await fs.writeFile(
        file,
        `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: ${image}}]}\n`,
      );
      await source.look();
      return pods[0]?.spec.containers?.[0]?.image;
    };
    assert.equal(await write('i'), 'i');
    const [first] = pods;
    await source.look();
    assert.equal(pods[0], first);
    assert.equal(await write('j'), 'j');
    assert.equal(await write('['), 'j', 'a broken file keeps its pods');
    await source.look();
    assert.equal(problems.length, 1);
    assert.equal(pods.length, 1);
    assert.equal(await write('j'), 'j');
    await fs.rm(file);
    await source.look();
    assert.deepEqual(pods, []);
    assert.equal(await write('j'), 'j', 'a file that comes back has its pods again');
    for (const uid of ['-', '../../x']) {
      await fs.writeFile(join(path, 'b'), `apiVersion: v1\nkind: Pod\nmetadata: {name: b, uid: "${uid}"}\nspec: {}\n`);
      await source.look();
      assert.equal(pods.length, 1, 'the other file counts all the same');
    }
  } finally {
    await fs.rm(path, { recursive: true, force: true });
  }
});
