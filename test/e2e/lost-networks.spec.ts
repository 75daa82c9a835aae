import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { Logger } from '../../src/base/observability/logger.js';
import { LostNetworks } from '../../src/nodes/agent/network/lost-networks.js';
import { MachineNetworks } from '../../src/nodes/agent/network/machine-networks.js';
import { networkConfiguration } from '../../src/nodes/agent/network/network-configuration.js';
import { pluginFolders } from '../../src/nodes/agent/network/plugin-folders.js';
import { endWithUs } from '../support/child-guard.js';
import { unlessThere } from '../support/needs.js';
import { containerdNeeds } from '../support/test-containerd.js';
import { eventually } from './support/test-cluster.js';

const run = promisify(execFile);
const needs = [...containerdNeeds, 'ip', 'nsenter', 'iptables'];

describe('lost networks of pods', { skip: unlessThere('lost networks of pods', needs) }, () => {
  const namespace = `cni-plinth-test-${process.pid}`;
  const bridge = `pn${process.pid}`.slice(0, 15);
  const ranges = [`10.253.${process.pid % 250}.0/24`];
  const sandbox = `lost-${process.pid}`;
  let folder: string;
  let inside: ChildProcess | undefined;

  before(async () => {
    folder = await fs.mkdtemp('/var/tmp/plinth-lost-');
    await run('ip', ['netns', 'add', namespace]);
  });
  after(async () => {
    inside?.kill('SIGKILL');
    await run('ip', ['netns', 'delete', namespace]).catch(() => undefined);
    await run('ip', ['link', 'delete', bridge]).catch(() => undefined);
    await fs.rm(folder, { recursive: true, force: true });
  });

  /** Does what a runtime does before it is killed. */
  async function addPod(): Promise<void> {
    const { plugins, ...rest } = networkConfiguration(ranges, { bridge, addressesFolder: folder });
    const plugin = { ...plugins[0], ...rest };
    for (const place of pluginFolders) {
      const program = join(place, 'bridge');
      if (!(await fs.stat(program).catch(() => undefined))) continue;
      const child = spawn(program, {
        env: {
          ...process.env,
          CNI_COMMAND: 'ADD',
          CNI_CONTAINERID: sandbox,
          CNI_NETNS: `/run/netns/${namespace}`,
          CNI_IFNAME: 'eth0',
          CNI_PATH: place,
        },
      });
      child.stdin.end(JSON.stringify(plugin));
      const [[code], output] = await Promise.all([once(child, 'close'), text(child.stdout)]);
      assert.equal(code, 0, output);
      return;
    }
    assert.fail('no plugins');
  }

  it('are removed with their addresses when no process is in them any more', async () => {
    await addPod();
    const addresses = async () =>
      (await fs.readdir(join(folder, 'plinth'))).filter((name) => /^\d+\.\d+\.\d+\.\d+$/.test(name));
    const links = async () => (await run('ip', ['link', 'show', 'master', bridge])).stdout;
    assert.equal((await addresses()).length, 1);
    assert.match(await links(), /veth/);
    inside = spawn('nsenter', [`--net=/run/netns/${namespace}`, 'sleep', '2147483647'], { stdio: 'ignore' });
    endWithUs(inside);
    const { ino } = await fs.stat(`/run/netns/${namespace}`);
    const isInside = async () => (await fs.readlink(`/proc/${inside?.pid}/ns/net`)) === `net:[${ino}]`;
    await eventually(isInside, 'a process in the namespace');

    let now = 0;
    const options = { bridge, addressesFolder: folder };
    const lost = new LostNetworks({
      network: { ownRanges: ranges },
      runtime: { listSandboxes: async () => [] },
      machine: new MachineNetworks(options),
      addressesFolder: folder,
      timers: { elapsed: () => now },
      logger: new Logger('error', 'json'),
    });
    await lost.look();
    now = 300_000;
    await lost.look();
    assert.equal((await addresses()).length, 1, 'something runs there');
    const ended = once(inside, 'exit');
    inside.kill('SIGKILL');
    await ended;
    await lost.look();
    assert.deepEqual(await addresses(), []);
    await assert.rejects(fs.stat(`/run/netns/${namespace}`), { code: 'ENOENT' });
    await eventually(async () => (await links()) === '', 'the other end of its interface is gone');
  });
});
