import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { it, type TestContext } from 'node:test';
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

const manifest = (name: string) =>
  `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\nspec: {containers: [{name: c, image: i}]}\n`;

/** A folder of manifests, and what is read from it. */
async function sceneOf(t: TestContext) {
  const path = await fs.mkdtemp(join(tmpdir(), 'plinth-manifests-'));
  t.after(() => fs.rm(path, { recursive: true, force: true }));
  const problems = new Map<string, string>();
  let names: readonly (string | undefined)[] = [];
  const warn = (_text: string, { file, problem }: { file: string; problem: string }) =>
    problems.set(basename(file), problem);
  const source = new FileSource({
    ...{ path, everyMs: 1000, timers: systemTimers, logger: { warn } as never },
    context: { nodeName: 'n', source: 'file', names: vendorNames('k8s.io'), seen: 't' },
    onPods: (found) => {
      names = found.map(({ metadata }) => metadata.name);
    },
  });
  const look = async () => {
    await source.look();
    return names;
  };
  return { path, problems, look };
}

it('pipes, devices, folders and endless files do not keep an agent from its manifests', {
  timeout: 60_000,
}, async (t) => {
  const { path, problems, look } = await sceneOf(t);
  execFileSync('mkfifo', [join(path, 'pipe')]);
  for (const [name, target] of [
    ['zero', '/dev/zero'],
    ['terminal', '/dev/tty'],
    ['kernel', '/proc/kmsg'],
    ['gone', '/nowhere'],
  ] as const)
    await fs.symlink(target, join(path, name));
  await fs.mkdir(join(path, 'folder'));
  await fs.writeFile(join(path, 'large'), '');
  await fs.truncate(join(path, 'large'), 2 ** 30);
  await fs.writeFile(join(path, 'web'), manifest('web'));
  assert.deepEqual(await look(), ['web-n']);
  assert.deepEqual(Object.fromEntries(problems), {
    ...{ folder: 'is not a file', pipe: 'is not a file', terminal: 'is not a file', zero: 'is not a file' },
    ...{ kernel: 'is empty', large: 'is too large' },
  });
});

it('a file that a program has emptied to write it anew keeps its pods', async (t) => {
  const { path, problems, look } = await sceneOf(t);
  const file = join(path, 'two');
  await fs.writeFile(file, `${manifest('web')}---\n${manifest('db')}`);
  assert.deepEqual(await look(), ['web-n', 'db-n']);
  await fs.writeFile(file, '');
  assert.deepEqual(await look(), ['web-n', 'db-n']);
  assert.deepEqual([...problems], [['two', 'is empty']]);
  await fs.writeFile(file, manifest('web'));
  assert.deepEqual(await look(), ['web-n']);
  await fs.writeFile(file, '# no pods\n');
  assert.deepEqual(await look(), []);
});
