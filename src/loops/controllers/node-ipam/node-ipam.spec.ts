import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { LoopScene } from '../../../../test/support/loop-scene.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { NodeIpamOptions, nodeRangesOf } from '../../../base/config/node-ipam.options.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Event } from '../../../objects/apis/core/v1/event.types.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';
import { ManualTimers } from '../testing/manual-timers.js';

const hold = 'example.com/hold';

function rangesOf(...argv: string[]) {
  const given = ['--allocate-node-cidrs', ...argv];
  return nodeRangesOf(parseOptions({ groups: { ipam: NodeIpamOptions }, argv: given, environment: {} }).ipam);
}

describe('NodeIpamController', () => {
  let postgres: TestPostgres;
  let scene: LoopScene;

  before(async () => {
    postgres = await startTestPostgres();
  });
  after(() => postgres?.stop());
  beforeEach(async () => {
    scene = await LoopScene.start({ postgres });
  });
  afterEach(() => scene?.end());

  const node = (name: string, podCIDRs: string[] = [], finalizers: string[] = []) =>
    scene.create<StoredNode>('nodes', { metadata: { name, finalizers }, spec: { podCIDRs } });
  const run = (...argv: string[]) => runWith(['10.96.0.0/16'], ...argv);
  const runWith = (serviceRanges: string[], ...argv: string[]) =>
    scene.run(['nodeipam'], undefined, undefined, { nodeRanges: rangesOf(...argv), serviceRanges });

  /** Waits until every node has ranges, and resolves with those, by the names of the nodes. */
  const untilServed = (count: number) =>
    scene.until<StoredNode, Record<string, string>>('nodes', `${count} nodes have ranges`, (nodes) => {
      const served = nodes.filter(({ spec }) => (spec.podCIDRs ?? []).length > 0);
      if (served.length !== count || nodes.length !== count) return undefined;
      for (const { spec } of served) assert.equal(spec.podCIDR, spec.podCIDRs?.[0]);
      return Object.fromEntries(served.map(({ metadata, spec }) => [metadata.name, (spec.podCIDRs ?? []).join()]));
    });
  const untilReported = (name: string, reason: string) =>
    scene.until<Event & ApiObject, Event & ApiObject>('events', `${name} is told ${reason}`, (events) =>
      events.find((event) => event.involvedObject.name === name && event.reason === reason),
    );

  it('gives each node a range of its own, with what the nodes have already', async () => {
    await node('mine', ['10.244.1.0/24']);
    await node('wide', ['10.244.2.0/23']);
    await node('elsewhere', ['192.168.0.0/24']);
    await node('a');
    await run('--cluster-cidr=10.244.0.0/16');
    assert.equal((await untilServed(4)).a, '10.244.0.0/24');
    await node('b');
    const served = await untilServed(5);
    assert.deepEqual(served, {
      mine: '10.244.1.0/24',
      wide: '10.244.2.0/23',
      elsewhere: '192.168.0.0/24',
      a: '10.244.0.0/24',
      b: '10.244.4.0/24',
    });
  });

  it('gives two ranges where there are two families, in their order, by the sizes that the flags say', async () => {
    const flags = ['--node-cidr-mask-size-ipv4=26', '--node-cidr-mask-size-ipv6=60'];
    await node('mine', ['fd00::/60', '10.244.0.64/26']);
    await node('a');
    await run('--cluster-cidr=fd00::/48,10.244.0.0/24', ...flags);
    assert.equal((await untilServed(2)).a, 'fd00:0:0:10::/60,10.244.0.0/26');
  });

  it('leaves the addresses of services out', async () => {
    await node('a');
    await runWith(['10.0.1.0/24'], '--cluster-cidr=10.0.0.0/22', '--node-cidr-mask-size=23');
    assert.equal((await untilServed(1)).a, '10.0.2.0/23');
    await node('b');
    assert.equal((await untilReported('b', 'CIDRNotAvailable')).message, 'Node b status is now: CIDRNotAvailable');
  });

  it('records an event for nodes for which nothing is left, takes nothing for them, and serves them when others go', async () => {
    await run('--cluster-cidr=10.244.0.0/23,fd00::/64', '--node-cidr-mask-size-ipv6=64');
    await node('a');
    const { a } = await untilServed(1);
    await node('b');
    const event = await untilReported('b', 'CIDRNotAvailable');
    assert.equal(event.type, 'Normal');
    assert.equal(event.source?.component, 'cidrAllocator');
    assert.equal(event.metadata.namespace, 'default');
    assert.deepEqual((await scene.get<StoredNode>('nodes', '', 'b')).spec.podCIDRs ?? [], []);
    await scene.delete('nodes', '', 'a');
    const served = await untilServed(1);
    assert.equal(a, '10.244.0.0/24,fd00::/64');
    // The IPv4 range that was first tried for node b was given back, and is assigned again only after the others.
    assert.match(served.b ?? '', /^10\.244\.[01]\.0\/24,fd00::\/64$/);
  });

  it('gives the range of a node that was made anew, and none to nodes that are leaving', async () => {
    await run('--cluster-cidr=10.244.0.0/24');
    await node('a');
    await untilServed(1);
    await scene.delete('nodes', '', 'a');
    await node('a');
    assert.deepEqual(await untilServed(1), { a: '10.244.0.0/24' });
    await scene.delete('nodes', '', 'a');
    await node('leaving', [], [hold]);
    await untilServed(1);
    await scene.delete('nodes', '', 'leaving');
    await node('waiting');
    await untilReported('waiting', 'CIDRNotAvailable');
    await scene.update('nodes', '', 'leaving', ({ metadata }) => (metadata.finalizers = []));
    assert.deepEqual(await untilServed(1), { waiting: '10.244.0.0/24' });
  });

  it('gives no range twice while two loops run at once, and serves all after one was stopped in the middle', async () => {
    const flags = ['--cluster-cidr=10.244.0.0/18'];
    const names = Array.from({ length: 60 }, (_, i) => `n${i}`);
    for (const name of names.slice(0, 20)) await node(name);
    const first = await run(...flags);
    await run(...flags);
    for (const name of names.slice(20, 40)) await node(name);
    const stopped = first.stop();
    for (const name of names.slice(40)) await node(name);
    await stopped;
    const served = await untilServed(60);
    assert.equal(new Set(Object.values(served)).size, 60);
    assert.deepEqual(scene.logged, []);
    // Of 64 ranges three are left, and a fourth is given back.
    for (const name of ['x', 'y', 'z', 'last']) await node(name);
    await untilServed(64);
    await node('surplus');
    await untilReported('surplus', 'CIDRNotAvailable');
    await scene.delete('nodes', '', 'n7');
    const after = await untilServed(64);
    assert.equal(after.surplus, served.n7);
  });

  it('gives the range of a node that went while nobody led, after a while', async () => {
    const timers = new ManualTimers(Date.now());
    const settings = { nodeRanges: rangesOf('--cluster-cidr=10.244.0.0/24'), serviceRanges: ['10.96.0.0/16'] };
    await node('a');
    const first = await scene.run(['nodeipam'], timers, undefined, settings);
    await untilServed(1);
    await first.stop();
    await scene.delete('nodes', '', 'a');
    await node('b');
    await scene.run(['nodeipam'], timers, undefined, settings);
    for (let minute = 0; minute < 6; minute++) {
      await timers.waiting((ms) => ms === 60_000);
      timers.advance(60_000);
    }
    assert.deepEqual(await untilServed(1), { b: '10.244.0.0/24' });
  });
});
