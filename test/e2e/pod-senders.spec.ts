import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { systemTimers } from '../../src/base/machinery/timers.js';
import { Logger } from '../../src/base/observability/logger.js';
import { networkConfiguration } from '../../src/nodes/agent/network/network-configuration.js';
import { pluginFolders } from '../../src/nodes/agent/network/plugin-folders.js';
import { SenderGuard } from '../../src/nodes/agent/network/sender-guard.js';
import { noSenderRules, senderTable } from '../../src/nodes/agent/network/sender-rules.js';
import { endWithUs } from '../support/child-guard.js';
import { unlessThere } from '../support/needs.js';
import { containerdNeeds } from '../support/test-containerd.js';
import { eventually } from './support/test-cluster.js';

const run = promisify(execFile);
const needs = [...containerdNeeds, 'ip', 'nsenter', 'nft'];
const port = 4000;

/** Prints a line for each packet: what it says and who seems to have sent it. */
const listener = `const s = require('node:dgram').createSocket('udp4');
s.on('message', (m, { address }) => console.log(m + ' of ' + address)); s.bind(${port}, () => console.log('ready'));`;
/** Arguments: own address, receiver, text. */
const sender = `const [from, to, text] = process.argv.slice(1); const s = require('node:dgram').createSocket('udp4');
s.bind(0, from, () => s.send(text, ${port}, to, () => s.close()));`;

describe('pods on a bridge', { skip: unlessThere('senders of packets of pods', needs) }, () => {
  const bridge = `ps${process.pid}`.slice(0, 15);
  const ranges = [`10.252.${process.pid % 250}.0/24`, `fd52:${(process.pid % 60_000).toString(16)}::/64`];
  const names = ['victim', 'friend', 'attacker'] as const;
  const namespaceOf = (pod: string) => `plinth-${pod}-${process.pid}`;
  const addresses = new Map<string, string>();
  const sixes = new Map<string, string>();
  const records = new Map<string, string>();
  const stopping = new AbortController();
  let folder: string;
  let results: string;
  let victim: ChildProcess;
  let heard = '';
  let guard: Promise<void> | undefined;

  before(async () => {
    folder = await fs.mkdtemp('/var/tmp/plinth-senders-');
    results = join(folder, 'results');
    for (const pod of names) {
      await run('ip', ['netns', 'add', namespaceOf(pod)]);
      const result = JSON.parse(await plugin('ADD', pod));
      const [four, six] = result.ips.map(({ address }: { address: string }) => address.split('/')[0]);
      addresses.set(pod, four);
      sixes.set(pod, six);
      records.set(pod, JSON.stringify({ result }));
    }
    victim = spawn('nsenter', [`--net=/run/netns/${namespaceOf('victim')}`, process.execPath, '-e', listener], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    endWithUs(victim);
    victim.stdout?.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    await eventually(async () => heard.includes('ready'), 'the victim listens');
  });
  after(async () => {
    stopping.abort();
    await guard;
    victim.kill('SIGKILL');
    const removal = spawn('nft', ['-f', '-'], { stdio: ['pipe', 'ignore', 'inherit'] });
    removal.stdin.end(noSenderRules(bridge));
    await once(removal, 'exit');
    for (const pod of names) await run('ip', ['netns', 'delete', namespaceOf(pod)]).catch(() => undefined);
    await run('ip', ['link', 'delete', bridge]).catch(() => undefined);
    await fs.rm(folder, { recursive: true, force: true });
  });

  async function plugin(command: string, pod: string): Promise<string> {
    const { plugins, ...rest } = networkConfiguration(ranges, { bridge, addressesFolder: folder });
    for (const place of pluginFolders) {
      const program = join(place, 'bridge');
      if (!(await fs.stat(program).catch(() => undefined))) continue;
      const env = { ...process.env, CNI_COMMAND: command, CNI_CONTAINERID: pod, CNI_IFNAME: 'eth0', CNI_PATH: place };
      const child = spawn(program, { env: { ...env, CNI_NETNS: `/run/netns/${namespaceOf(pod)}` } });
      child.stdin.end(JSON.stringify({ ...plugins[0], ...rest }));
      const [[code], output] = await Promise.all([once(child, 'close'), text(child.stdout)]);
      assert.equal(code, 0, output);
      return output;
    }
    return assert.fail('no plugins');
  }

  const address = (pod: string) => addresses.get(pod) as string;
  const inside = (pod: string, ...command: readonly string[]) =>
    run('nsenter', [`--net=/run/netns/${namespaceOf(pod)}`, ...command]);
  const send = (pod: string, from: string, words: string) =>
    inside(pod, process.execPath, '-e', sender, from, address('victim'), words);
  /** What the victim has heard when a later packet of its friend has arrived. */
  async function heardAfter(mark: string): Promise<string> {
    await eventually(async () => {
      await send('friend', address('friend'), mark);
      return heard.includes(mark);
    }, `the packet ${mark}`);
    return heard;
  }
  /** Whether somebody has told the victim that the IPv6 address of a pod is his. */
  const found = async (pod: string) => {
    const six = sixes.get(pod) as string;
    await inside('victim', process.execPath, '-e', sender.replace('udp4', 'udp6'), '::', six, 'who is there?');
    const { stdout } = await inside('victim', 'ip', '-6', 'neigh', 'show', 'to', six);
    return stdout.includes('lladdr');
  };
  const elements = async () => (await run('nft', ['list', 'table', 'bridge', senderTable(bridge)])).stdout;

  it('could send as another one', async () => {
    await inside('attacker', 'ip', 'address', 'add', `${address('friend')}/32`, 'dev', 'eth0');
    await send('attacker', address('friend'), 'unchecked');
    assert.match(await heardAfter('mark-1'), new RegExp(`unchecked of ${address('friend')}`));
    await inside('attacker', 'ip', 'address', 'add', `${sixes.get('friend')}/64`, 'dev', 'eth0', 'nodad');
    await inside('friend', 'ip', '-6', 'address', 'flush', 'dev', 'eth0');
    await eventually(() => found('friend'), 'it has taken over an IPv6 address');
  });

  it('send under their own address only, from their first record on', async () => {
    guard = new SenderGuard({
      ...{ network: { ownRanges: ranges }, bridge, isOn: true, timers: systemTimers, results },
      logger: new Logger('error', 'json'),
    }).run(stopping.signal);
    await eventually(async () => (await elements().catch(() => '')) !== '', 'the table');
    for (const [pod, record] of records) await fs.writeFile(join(results, `plinth-${pod}-eth0`), record);
    await eventually(async () => (await elements()).includes(address('victim')), 'the elements');
    await send('attacker', address('friend'), 'forged');
    await send('attacker', address('attacker'), 'honest');
    const now = await heardAfter('mark-2');
    assert.match(now, new RegExp(`honest of ${address('attacker')}`));
    assert.doesNotMatch(now, /forged/);
  });

  it('do not announce the IPv6 address of another one', async () => {
    await inside('victim', 'ip', '-6', 'neigh', 'flush', 'dev', 'eth0');
    await eventually(() => found('attacker'), 'it announces its own');
    assert.equal(await found('friend'), false);
    // Time enough for an announcement, if there were one.
    await inside('victim', 'ip', '-6', 'neigh', 'flush', 'dev', 'eth0');
    await eventually(() => found('attacker'), 'it announces its own again');
    assert.equal(await found('friend'), false);
  });

  it('can not take the hardware address of another one', async () => {
    const { stdout } = await inside('friend', 'cat', '/sys/class/net/eth0/address').catch(() => ({ stdout: '' }));
    const mac = stdout.trim() || JSON.parse(records.get('friend') as string).result.interfaces[2].mac;
    await inside('attacker', 'ip', 'link', 'set', 'eth0', 'address', mac);
    await send('attacker', address('attacker'), 'disguised').catch(() => undefined);
    assert.doesNotMatch(await heardAfter('mark-3'), /disguised/);
  });

  it('are forgotten with their record', async () => {
    await fs.rm(join(results, 'plinth-attacker-eth0'));
    await eventually(async () => !(await elements()).includes(address('attacker')), 'the element goes');
    assert.ok((await elements()).includes(address('friend')));
  });

  it('are not checked when that is switched off', async () => {
    stopping.abort();
    await guard;
    assert.match(await elements(), /chain senders/, 'the rules stay when an agent ends');
    await new SenderGuard({
      ...{ network: { ownRanges: ranges }, bridge, isOn: false, timers: systemTimers, results },
      logger: new Logger('error', 'json'),
    }).run(new AbortController().signal);
    await assert.rejects(elements());
  });
});
