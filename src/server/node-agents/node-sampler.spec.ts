import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { containerKey } from '../../base/machinery/node-usage.js';
import { atOnce } from '../../base/machinery/turns.js';
import type { NodeAgents } from './node-agents.js';
import { NodeSampler } from './node-sampler.js';
import { readResourceMetrics } from './read-resource-metrics.js';

const labels = '{container="c",namespace="n",pod="p"}';

describe('readResourceMetrics', () => {
  it('reads counters with their times, and skips what it does not know', () => {
    const text = [
      '# HELP container_cpu_usage_seconds_total x',
      `container_cpu_usage_seconds_total${labels} 1.5 1000`,
      `container_memory_working_set_bytes${labels} 2048 1000`,
      'container_cpu_usage_seconds_total{container="half",namespace="n",pod="p"} 1',
      'container_memory_working_set_bytes{pod="p"} 1',
      'node_cpu_usage_seconds_total 12e0',
      'node_memory_working_set_bytes 4096',
      'node_cpu_usage_seconds_total{ nonsense',
      '__proto__ 1',
      `container_cpu_usage_seconds_total{container="c",namespace="n",pod="${'x'.repeat(5000)}"} 1`,
      `container_cpu_usage_seconds_total{container="neg",namespace="n",pod="p"} -1`,
    ].join('\n');
    const { node, containers } = atOnce(readResourceMetrics(text, 7));
    assert.deepEqual(node, { cpuSeconds: 12, memoryBytes: 4096, at: 7 });
    assert.deepEqual(
      [...containers],
      [[containerKey('n', 'p', 'c'), { cpuSeconds: 1.5, memoryBytes: 2048, at: 1000 }]],
    );
  });
});

/** Nodes whose containers use half a CPU, on a clock that only waits advance. */
function scene(answer: (asked: number, now: number) => { status: number; text: string }) {
  let now = 1_000_000;
  let asked = 0;
  const timers = {
    now: () => now,
    elapsed: () => now,
    wait: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
  const client = {
    get: async () => {
      const { status, text } = answer(++asked, now);
      return Object.assign(Readable.from([Buffer.from(text)]), { statusCode: status });
    },
  };
  const agents = { addressOf: () => ({ host: 'h', port: 1 }), client } as unknown as NodeAgents;
  const sampler = new NodeSampler({ agents, timers, logger: { debug: () => undefined } });
  const of = async () => (await sampler.of([{ metadata: { name: 'node' } }], new AbortController().signal)).get('node');
  return { of, wait: timers.wait, asked: () => asked };
}

const counters = (cpu: number, memory = 1024) =>
  `container_cpu_usage_seconds_total${labels} ${cpu}\ncontainer_memory_working_set_bytes${labels} ${memory}\n` +
  `node_cpu_usage_seconds_total ${2 * cpu}\nnode_memory_working_set_bytes ${memory}\n`;

describe('NodeSampler', () => {
  it('measures at once for the first who ask, shares that for a while, and then compares with the reading before', async () => {
    const { of, wait, asked } = scene((_asked, now) => ({ status: 200, text: counters(now / 2000) }));
    const [first, second] = await Promise.all([of(), of()]);
    assert.equal(first, second);
    const usage = first?.containers.get(containerKey('n', 'p', 'c'));
    assert.deepEqual(
      [Math.round((usage?.cpuNanoCores ?? 0) / 1e6), usage?.memoryBytes, usage?.windowMs],
      [500, 1024, 1000],
    );
    assert.equal(Math.round((first?.total?.cpuNanoCores ?? 0) / 1e6), 1000);
    assert.equal(asked(), 2);
    await wait(14_000);
    await of();
    assert.equal(asked(), 2);
    await wait(2_000);
    assert.equal((await of())?.total?.windowMs, 16_000);
    assert.equal(asked(), 3);
    await wait(500_000);
    assert.equal((await of())?.total?.windowMs, 1000, 'what was used long ago says nothing about now');
  });

  it('leaves out what began anew, agents that count seldom, and those that fail, which are asked again soon', async () => {
    const restarted = scene((asked) => ({ status: 200, text: counters(asked === 1 ? 100 : 1) }));
    assert.equal((await restarted.of())?.containers.size, 0);
    const seldom = scene((asked) => ({
      status: 200,
      text: counters(asked < 3 ? 1 : 2).replaceAll('\n', ` ${asked < 3 ? 1 : 5000}\n`),
    }));
    assert.equal((await seldom.of())?.total, undefined);
    await seldom.wait(4_000);
    assert.equal((await seldom.of())?.total?.windowMs, 4999);
    const failing = scene((asked) =>
      asked === 1 ? { status: 500, text: '' } : { status: 200, text: counters(asked) },
    );
    assert.equal(await failing.of(), undefined);
    await failing.wait(3_001);
    assert.notEqual((await failing.of())?.total, undefined);
  });
});
