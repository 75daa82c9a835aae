import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { areas } from './cases/index.js';
import { ScenarioCluster } from './scenario-cluster.js';
import type { Scenario } from './scene.js';

/*
 * Runs all scenarios on real processes: two servers, control loops, simulated nodes.
 *   --only a,b        scenarios whose area or name contains one of the texts
 *   --at-once N       how many run side by side (default 6)
 *   --kill SECONDS    two processes with loops; the older one is killed every so many seconds
 *   --freeze SECONDS  two processes with loops; every so many seconds the older one is stopped, longer than its lease
 *   lasts
 *   --cut SECONDS     ends all connections to the database every so many seconds
 *   --upstream DIR    upstream's kube-controller-manager and kube-scheduler instead of our own loops
 */

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    'at-once': { type: 'string', default: '6' },
    kill: { type: 'string', default: '0' },
    freeze: { type: 'string', default: '0' },
    cut: { type: 'string', default: '0' },
    upstream: { type: 'string' },
  },
});

interface ScenarioResult {
  readonly area: string;
  readonly scenario: Scenario;
}

const texts = flags.only.split(',');
const chosen: ScenarioResult[] = Object.entries(areas)
  .flatMap(([area, scenarios]) => scenarios.map((scenario) => ({ area, scenario })))
  .filter(({ area, scenario }) => texts.some((text) => area.includes(text) || scenario.name.includes(text)));
const killMs = Number(flags.kill) * 1000;
const freezeMs = Number(flags.freeze) * 1000;
const cutMs = Number(flags.cut) * 1000;
const isTroubled = killMs > 0 || freezeMs > 0;
/** Longer than a lease, so that the other process leads when this one continues. */
const frozenMs = 18_000;
const counts = { passed: 0, failed: 0, known: 0, left: 0 };

const cluster = await ScenarioCluster.start({
  upstream: flags.upstream,
  loops: isTroubled ? 2 : 1,
  // A killed leader keeps its lease for a while.
  patienceMs: isTroubled ? 120_000 : 60_000,
});
const ended = new AbortController();

async function describeScenario({ area, scenario }: ScenarioResult): Promise<void> {
  const title = `${area}: ${scenario.name}`;
  if (flags.upstream !== undefined && scenario.since !== undefined) {
    counts.left++;
    console.log(`left out (since ${scenario.since})  ${title}`);
    return;
  }
  const begun = performance.now();
  try {
    await scenario.run(await cluster.scene());
    counts.passed++;
    console.log(`${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  ok      ${title}`);
  } catch (error) {
    const isKnown = flags.upstream !== undefined && scenario.upstream !== undefined;
    if (isKnown) counts.known++;
    else counts.failed++;
    const text = error instanceof Error ? error.message : String(error);
    console.log(
      `${((performance.now() - begun) / 1000).toFixed(1).padStart(6)} s  FAILED  ${title}\n          ${text}`,
    );
    if (isKnown) console.log(`          known: ${scenario.upstream}`);
  }
}

async function worker(queue: ScenarioResult[]): Promise<void> {
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) await describeScenario(next);
}

/** Causes a disturbance at this interval in milliseconds until the end; 0: never. */
async function trouble(everyMs: number, what: string, make: () => Promise<void>): Promise<void> {
  while (everyMs > 0 && !ended.signal.aborted) {
    await delay(everyMs, undefined, { signal: ended.signal }).catch(() => undefined);
    if (ended.signal.aborted) return;
    await make();
    console.log(`          ${what}`);
  }
}

try {
  const queue = chosen.filter(({ scenario }) => scenario.isAlone !== true);
  const alone = chosen.filter(({ scenario }) => scenario.isAlone === true);
  const troubles = [
    trouble(killMs, 'killed a process with loops', () => cluster.killLoops()),
    trouble(freezeMs, 'froze a process with loops', () => cluster.freezeLoops(frozenMs)),
    trouble(cutMs, 'cut the connections to the database', () => cluster.cutDatabase()),
  ];
  await Promise.all(Array.from({ length: Number(flags['at-once']) }, () => worker(queue)));
  await worker(alone);
  ended.abort();
  await Promise.all(troubles);
  for (const line of cluster.upstreamErrors()) console.log(`upstream: ${line}`);
  console.log(
    `${counts.passed} passed, ${counts.failed} failed, ${counts.known} known to differ, ${counts.left} left out`,
  );
  process.exitCode = counts.passed === 0 || counts.failed > 0 ? 1 : 0;
} finally {
  await cluster.stop();
}
