import { TestCluster } from '../e2e/support/test-cluster.js';
import { Random } from '../support/random.js';
import { Comparison, isRefusal } from './comparison.js';
import { drawNode } from './draw-node.js';
import { drawPod } from './draw-pod.js';
import { Draws } from './draws.js';
import { claimNames } from './furniture.js';
import { Preemptions } from './preemptions.js';
import { podsPath, SchedulerScene } from './scene.js';

/**
 * Lets upstream's scheduler and ours place the same pods in the same clusters, drawn at random, and compares the
 * placements and messages, and then for other pods the preemptions:
 * `PLINTH_UPSTREAM_SCHEDULER=<kube-scheduler 1.37> npm run check:scheduler -- <cases> <seed> <preemptions>`.
 * Fails when only one of them refuses a pod, the messages differ, or others have to go. Among equally good nodes both
 * choose at random.
 */
const binary = process.env.PLINTH_UPSTREAM_SCHEDULER ?? '';
const cases = Number(process.argv[2] ?? 100);
const seed = Number(process.argv[3] ?? 1);
const fullCases = Number(process.argv[4] ?? cases / 5);
const perCluster = 20;
const perFullCluster = 5;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const draws = new Draws(new Random(seed));

/** Replaces the existing nodes and pods. */
async function furnish(scene: SchedulerScene): Promise<void> {
  await scene.removeAll(podsPath);
  const nodes = Array.from({ length: 2 + draws.random.below(7) }, (_, i) => drawNode(draws, i));
  await scene.replaceNodes(nodes);
  const there = Array.from({ length: nodes.length * 2 }, (_, i) => {
    const { labels, spec } = drawPod(draws, true, claimNames);
    return { name: `there-${i}`, labels, spec: { ...spec, nodeName: `node-${draws.random.below(nodes.length)}` } };
  });
  await scene.replacePods(there);
}

async function placements(scene: SchedulerScene): Promise<Comparison> {
  const comparison = new Comparison(scene, async (schedulerName, pod) => {
    const { name, outcome } = await scene.tried(schedulerName, pod);
    await scene.client.delete(`${podsPath}/${name}?gracePeriodSeconds=0`);
    return outcome;
  });
  for (let i = 0; i < cases; i++) {
    if (i % perCluster === 0) await furnish(scene);
    await comparison.compare(drawPod(draws, false, claimNames));
  }
  return comparison;
}

async function preemptions(scene: SchedulerScene): Promise<Comparison> {
  const full = new Preemptions(scene, draws);
  await full.prepare();
  const comparison = new Comparison(scene, full.outcome);
  for (let i = 0; i < fullCases; i++) {
    if (i % perFullCluster === 0) await full.furnish();
    await comparison.compare(full.drawTried());
  }
  return comparison;
}

/** Prints the differences; returns whether any is more than another choice among several nodes. */
function report(what: string, { different, same, sameRefusals }: Comparison): boolean {
  for (const text of different) print(`different\n  ${text}`);
  print(`${what}: ${same} of ${same + different.length} the same, ${sameRefusals} of them refusals; seed ${seed}`);
  return different.some(isRefusal);
}

if (binary === '') throw new Error('PLINTH_UPSTREAM_SCHEDULER must name the program to compare with');
const cluster = await TestCluster.start({
  servers: 1,
  controllers: true,
  accounts: false,
  flags: ['--compat=kubernetes'],
  controllerFlags: ['--compat=kubernetes', '--controllers=-*,scheduler'],
});
const scene = new SchedulerScene(cluster);
try {
  await scene.prepare();
  scene.start(binary);
  const failed = [report('placed', await placements(scene)), report('with preemption', await preemptions(scene))];
  process.exitCode = failed.includes(true) ? 1 : 0;
} finally {
  scene.stop();
  await cluster.stop();
}
