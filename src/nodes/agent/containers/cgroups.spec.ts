import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Cgroups } from './cgroups.js';

/** Ordinary folders replace those of the kernel, which only root could make. */
describe('Cgroups.removePod', () => {
  let mountPoint: string;
  beforeEach(async () => {
    mountPoint = await fs.mkdtemp(join(tmpdir(), 'plinth-cgroups-'));
  });
  afterEach(() => fs.rm(mountPoint, { recursive: true, force: true }));

  const make = async (...paths: readonly string[]) => {
    for (const path of paths) {
      await fs.mkdir(join(mountPoint, path), { recursive: true });
      await fs.writeFile(join(mountPoint, path.split('/')[0] ?? '', 'cgroup.procs'), '');
    }
  };
  const left = async () =>
    (await fs.readdir(mountPoint, { recursive: true })).filter((path) => !/^\w+\/cgroup\.procs$/.test(path)).sort();

  it('removes the cgroups of a pod from every hierarchy, and no others', async () => {
    await make('cpu/kubepods/podu/container', 'memory/kubepods/burstable/podu', 'unified/kubepods/besteffort/podu/a/b');
    await make('cpu/kubepods/podother');
    const cgroups = await Cgroups.find(mountPoint);
    assert.deepEqual([...(await cgroups.podUids('/kubepods'))].sort(), ['other', 'u']);
    await cgroups.removePod('u', '/kubepods');
    assert.deepEqual([...(await cgroups.podUids('/kubepods'))], ['other']);
    const kept = ['cpu', 'memory', 'unified'].flatMap((name) => [name, `${name}/kubepods`]);
    const all = [...kept, 'cpu/kubepods/podother', 'memory/kubepods/burstable', 'unified/kubepods/besteffort'];
    assert.deepEqual(await left(), all.sort());
  });

  it('leaves folders alone that are no hierarchies', async () => {
    await make('cpu', 'memory');
    await fs.mkdir(join(mountPoint, 'cpu,cpuacct'));
    const cgroups = await Cgroups.find(mountPoint);
    assert.equal(cgroups.isUnified, false);
    await cgroups.prepare('/kubepods');
    const made = ['cpu', 'memory'].flatMap((name) => [
      name,
      ...['', '/burstable', '/besteffort'].map((path) => `${name}/kubepods${path}`),
    ]);
    assert.deepEqual(await left(), [...made, 'cpu,cpuacct', 'cpu/kubepods/besteffort/cpu.shares'].sort());
  });

  it('says so where there are no hierarchies', async () => {
    const expected = { name: 'StartupError', message: /^there are no cgroups in / };
    await assert.rejects(Cgroups.find(mountPoint), expected);
    await assert.rejects(Cgroups.find(join(mountPoint, 'nowhere')), expected);
  });

  it('kills what still runs in them', async () => {
    await make('cpu/kubepods/podu/container');
    const forgotten = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    const file = join(mountPoint, 'cpu/kubepods/podu/container/cgroup.procs');
    await fs.writeFile(file, `${forgotten.pid}\n`);
    // The kernel would remove a process that has ended.
    const ended = once(forgotten, 'exit').then(async (outcome) => {
      await fs.rm(file);
      return outcome;
    });
    await (await Cgroups.find(mountPoint)).removePod('u', '/kubepods');
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    assert.deepEqual(await left(), ['cpu', 'cpu/kubepods']);
  });

  it('fails when a process does not end', async () => {
    await make('cpu/kubepods/podu');
    await fs.writeFile(join(mountPoint, 'cpu/kubepods/podu/cgroup.procs'), '');
    const cgroups = await Cgroups.find(mountPoint);
    await assert.rejects(cgroups.removePod('u', '/kubepods'), /podu do not end$/);
  });
});
