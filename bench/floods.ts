import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { configMaps, leases, prepareNamespace, Sender } from './fairness/target.js';

/*
 * How other clients are affected while one client floods the server in one of many ways: `npm run bench:floods --
 * [flags]`. Beside each flood a user and a service account get objects, a node renews its lease and a probe asks for
 * readiness. Prints their times beside those of the quiet server; fails when one of them is refused. --seconds N
 * length of each flood (default 10) --parallel N    requests of the attacker at one time (default 256) --only a,b
 * the floods whose name has one of the texts
 */
const { values: flags } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    parallel: { type: 'string', default: '256' },
    only: { type: 'string', default: '' },
  },
});
const seconds = Number(flags.seconds);
const floods = [
  'accounts',
  'users',
  'forbidden',
  'bad tokens',
  'anonymous',
  'probes',
  'watches',
  'pages',
  'protobuf',
  'slow bodies',
  'slow readers',
  'headers',
].filter((name) => flags.only.split(',').some((text) => name.includes(text)));

interface Probe {
  readonly name: string;
  readonly send: () => Promise<{ readonly status: number; readonly ms: number }>;
}

async function measure(probes: readonly Probe[]): Promise<Map<string, { times: number[]; faults: string[] }>> {
  const end = performance.now() + seconds * 1000;
  const outcomes = probes.map(async ({ name, send }) => {
    const times: number[] = [];
    const faults: string[] = [];
    while (performance.now() < end) {
      const { status, ms } = await send().catch((error: Error) => ({ status: error.message, ms: 0 }));
      if (status === 200) times.push(ms);
      else faults.push(String(status));
      await delay(20);
    }
    return [name, { times: times.sort((a, b) => a - b), faults }] as const;
  });
  return new Map(await Promise.all(outcomes));
}

function quantile(times: readonly number[], part: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
}

const cluster = await TestCluster.start({
  servers: 1,
  flags: ['--authorization-mode=RBAC', '--max-connections-per-address=0'],
});
let isRefused = false;
try {
  const target = { name: 'plinth', url: cluster.first.url, token: tokens.admin };
  await prepareNamespace(target, [{ kind: 'Group', name: 'system:authenticated' }], 1000);
  const senders = {
    user: new Sender(target, { user: 'modest' }, 1),
    account: new Sender(target, { user: 'system:serviceaccount:modest:x', group: 'system:serviceaccounts' }, 1),
    node: new Sender(target, { user: 'system:node:one', group: 'system:nodes' }, 1),
    probe: new Sender(target, { user: 'probe' }, 1),
  };
  const lease = () => ({ spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } });
  const probes: readonly Probe[] = [
    { name: 'user', send: () => senders.user.send('GET', `${configMaps}/kept-0`) },
    { name: 'account', send: () => senders.account.send('GET', `${configMaps}/kept-0`) },
    { name: 'lease', send: () => senders.node.send('PATCH', `${leases}/one`, lease()) },
    { name: 'readyz', send: () => senders.probe.send('GET', '/readyz') },
  ];
  await measure(probes);
  const report = (flood: string, outcomes: Awaited<ReturnType<typeof measure>>, note = '') => {
    const cells = [...outcomes.values()].map(
      ({ times, faults }) =>
        `${quantile(times, 0.5).toFixed(1)} / ${quantile(times, 0.99).toFixed(1)}${faults.length === 0 ? '' : ` (${faults.length} refused: ${[...new Set(faults)].join()})`}`,
    );
    if ([...outcomes.values()].some(({ faults }) => faults.length > 0)) isRefused = true;
    console.log(`| ${flood} | ${cells.join(' | ')} | ${note} |`);
  };
  console.log(`| flood | ${probes.map(({ name }) => `${name} p50 / p99 ms`).join(' | ')} | answers to the flood |`);
  console.log(`| --- | ${probes.map(() => '---:').join(' | ')} | --- |`);
  report('none', await measure(probes));
  const file = fileURLToPath(new URL('./fairness/flood.js', import.meta.url));
  for (const flood of floods) {
    const child = fork(file, [JSON.stringify(target), flood, flags.parallel]);
    await delay(1500);
    const outcomes = await measure(probes);
    child.send('stop');
    const [counts] = (await once(child, 'message')) as [Record<string, number>];
    child.kill();
    report(flood, outcomes, JSON.stringify(counts));
    await delay(1000);
  }
  for (const sender of Object.values(senders)) sender.close();
  const faults = cluster.first.log.split('\n').filter((line) => / error |level=error|ERROR/.test(line));
  console.log(`${faults.length} errors in the log ${faults.slice(0, 3).join('\n')}`);
} finally {
  await cluster.stop();
}
if (isRefused) process.exitCode = 1;
