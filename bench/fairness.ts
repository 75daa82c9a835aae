import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { costOfRequest } from './fairness/cost.js';
import { configMaps, leases, prepareNamespace, Sender, type Target } from './fairness/target.js';

/*
 * What one greedy user costs all others: `npm run bench:fairness -- [flags]`. A user lists everything and creates, with
 * many requests at one time. Meanwhile another user gets an object, a node renews its lease, and a probe asks for
 * readiness. Prints their times on the quiet server and beside the greedy user, and the ratios.
 *   --clients N     requests of the greedy user at one time (default 64)
 *   --objects N     ConfigMaps of 1 KiB that it lists (default 2,000)
 *   --seconds N     length of each measurement (default 20)
 *   --only a,b      the servers whose name has one of the texts
 *   --other URL     another server to measure in the same way, with --other-token TOKEN
 */
const { values: flags } = parseArgs({
  options: {
    clients: { type: 'string', default: '64' },
    objects: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    other: { type: 'string' },
    'other-token': { type: 'string', default: '' },
  },
});
const seconds = Number(flags.seconds);
const objects = Number(flags.objects);

interface Probe {
  readonly name: string;
  readonly everyMs: number;
  send(): Promise<{ readonly status: number; readonly ms: number }>;
}

function probesOf(target: Target): { readonly probes: readonly Probe[]; readonly close: () => void } {
  const alice = new Sender(target, { user: 'modest' }, 1);
  const node = new Sender(target, { user: 'system:node:one', group: 'system:nodes' }, 1);
  const anybody = new Sender({ ...target, token: target.token }, { user: 'probe' }, 1);
  const lease = () => ({
    spec: { holderIdentity: 'one', leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace('Z', '000Z') },
  });
  return {
    probes: [
      { name: 'get', everyMs: 10, send: () => alice.send('GET', `${configMaps}/kept-0`) },
      { name: 'readyz', everyMs: 25, send: () => anybody.send('GET', '/readyz') },
      { name: 'lease', everyMs: 25, send: () => node.send('PATCH', `${leases}/one`, lease()) },
    ],
    close: () => {
      for (const sender of [alice, node, anybody]) sender.close();
    },
  };
}

/** Sends every probe at its pace for a while; the times by probe, ascending. */
async function measure(target: Target): Promise<Map<string, number[]>> {
  const { probes, close } = probesOf(target);
  const times = new Map<string, number[]>();
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    probes.map(async ({ name, everyMs, send }) => {
      const own: number[] = [];
      for (let i = 0; performance.now() < end; i++) {
        const { status, ms } = await send();
        if (status !== 200) throw new Error(`${target.name}: ${name} got ${status}`);
        // The first ones open the connection.
        if (i >= 10) own.push(ms);
        await delay(everyMs);
      }
      times.set(
        name,
        own.sort((a, b) => a - b),
      );
    }),
  );
  close();
  return times;
}

async function withGreedy(target: Target): Promise<{ times: Map<string, number[]>; got: Record<string, number> }> {
  const file = fileURLToPath(new URL('./fairness/greedy.js', import.meta.url));
  const child = fork(file, [JSON.stringify(target), flags.clients]);
  try {
    await delay(3000);
    const times = await measure(target);
    child.send('stop');
    const [got] = (await once(child, 'message')) as [Record<string, number>];
    return { times, got };
  } finally {
    child.kill();
  }
}

function quantile(times: readonly number[], part: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
}

async function report(target: Target): Promise<void> {
  const users = ['greedy', 'modest', 'system:node:one'].map((name) => ({ kind: 'User', name }) as const);
  await prepareNamespace(target, users, objects);
  // Memory and compiled code settle.
  await measure({ ...target });
  const quiet = await measure(target);
  const { times, got } = await withGreedy(target);
  const perSecond = (count: number) => (count / (seconds + 3)).toFixed(1);
  console.log(
    `\n${target.name}: the greedy user got ${perSecond(got.lists ?? 0)} lists and ${perSecond(got.creates ?? 0)} creates/s, ` +
      `${got.refused} refused, ${got.failed} failed`,
  );
  console.log('| request | quiet p50 | quiet p99 | beside it p50 | beside it p99 | p99 ratio |');
  console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
  for (const [name, before] of quiet) {
    const after = times.get(name) ?? [];
    const cells = [quantile(before, 0.5), quantile(before, 0.99), quantile(after, 0.5), quantile(after, 0.99)];
    const ratio = (cells[3] as number) / (cells[1] as number);
    console.log(`| ${name} | ${cells.map((ms) => `${ms.toFixed(1)} ms`).join(' | ')} | ${ratio.toFixed(1)} |`);
  }
}

async function ownServer(name: string, own: readonly string[]): Promise<void> {
  const cluster = await TestCluster.start({ servers: 1, flags: ['--authorization-mode=RBAC', ...own] });
  try {
    await report({ name, url: cluster.first.url, token: tokens.admin });
  } finally {
    await cluster.stop();
  }
}

console.log(`a request that does not wait: ${costOfRequest().toFixed(1)} µs of flow control`);
const wanted = flags.only.split(',');
const isWanted = (name: string) => wanted.some((text) => name.includes(text));
if (isWanted('plinth')) await ownServer('plinth', []);
if (isWanted('without')) await ownServer('without flow control', ['--enable-priority-and-fairness=false']);
if (flags.other !== undefined && isWanted('other')) {
  await report({ name: 'other', url: flags.other, token: flags['other-token'] });
}
