// Runs the same pods on two nodes of one cluster and prints where their agents differ: compare.check.js KUBECONFIG NODE NODE.
// The nodes are there already: one with this agent, one with another, each with a runtime of its own and the image of
// test/support/test-containerd.ts.
import { execFileSync } from 'node:child_process';
import { type ComparedPod, comparedPods } from './compared-pods.js';
import { comparedObjects, moreComparedPods } from './more-compared-pods.js';

const [kubeconfig = '', ...nodes] = process.argv.slice(2);
/** Slow machines need more time than the list gives. */
const patience = Number(process.env.PATIENCE ?? 1);
const kubectl = process.env.PLINTH_TEST_KUBECTL ?? 'kubectl';

function run(args: readonly string[], input?: string): string {
  const settings = { encoding: 'utf8', env: { ...process.env, KUBECONFIG: kubeconfig } } as const;
  return execFileSync(kubectl, [...args], input === undefined ? settings : { ...settings, input });
}

function quietly(args: readonly string[]): string {
  try {
    return execFileSync(kubectl, [...args], {
      encoding: 'utf8',
      env: { ...process.env, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}

/** The addresses of the nodes, which pods in the network of their node have. */
const addresses = new Map<string, readonly string[]>();

function addressesOf(node: string): readonly string[] {
  const { status } = JSON.parse(run(['get', 'node', node, '-o', 'json'])) as {
    status: { addresses: { type: string; address: string }[] };
  };
  return status.addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
}

/** Values that differ between any two runs of a pod. */
function plain(text: string, node: string): string {
  const own = (addresses.get(node) ?? []).reduce((rest, address) => rest.replaceAll(address, 'HOST'), text);
  return (
    own
      .replaceAll(node, 'NODE')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
      .replace(/containerd:\/\/[0-9a-f]{64}/g, 'containerd://ID')
      .replace(/\b[0-9a-f]{64}\b/g, 'ID')
      .replace(/\b10\.\d+\.\d+\.\d+\b/g, 'ADDRESS')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
      .replace(/kube-api-access-\w+/g, 'kube-api-access')
      .replace(/(lower|upper|work)dir=[^,)]*/g, '$1dir=SNAPSHOT')
      .replace(/[A-Z][a-z]{2} +\d+ \d\d:\d\d|\.\.\d{4}_\d\d_\d\d_\d\d_\d\d_\d\d\.\d+/g, 'TIME')
      // The name of the folder ends with a random number of nine or ten digits.
      .replace(/ \d+ TIME \.\.data/, ' SIZE TIME ..data')
      .replace(/(\d+m)?\d+(\.\d+)?m?s\b/g, 'SECONDS')
  );
}

/** One line for each value, with the path that leads to it. */
function flat(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${path}: ${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([key, member]) => flat(member, path === '' ? key : `${path}.${key}`));
}

interface EventLike {
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

function infoOf(name: string, node: string): string[] {
  const { status, metadata } = JSON.parse(run(['get', 'pod', name, '-o', 'json'])) as {
    metadata: { uid: string };
    status: { conditions?: { type: string }[] };
  };
  const conditions = Object.fromEntries((status.conditions ?? []).map((each) => [each.type, each]));
  const { items } = JSON.parse(
    run(['get', 'events', '--field-selector', `involvedObject.uid=${metadata.uid}`, '-o', 'json']),
  ) as {
    items: EventLike[];
  };
  const events = items
    .filter(({ source, reportingComponent }) => (source?.component ?? reportingComponent) === 'kubelet')
    .map(({ type, reason, message }) => `event ${type} ${reason}: ${message}`);
  const log = quietly(['logs', name, '-c', 'main'])
    .split('\n')
    .filter((line) => line !== '');
  const all = [...flat({ ...status, conditions }).sort(), ...new Set(events), ...log.map((line) => `log ${line}`)];
  return [...new Set(all.map((line) => plain(line, node)))];
}

/** Differences that stay, each with its reason. */
const explained: readonly (readonly [RegExp, string])[] = [
  [
    /^resources\.limits\.memory: "9007199254740988Ki"$/,
    'with cgroups v1 the other agent takes the largest number for a limit of pods that have none',
  ],
  [/\.svc\.(\s\w+)?$|\.svc(\s\w+)?$/, 'without a cluster domain, names of pods end with a dot on the other agent'],
  [/^event \w+ \w+: \(combined from similar events\)/, 'the other agent counts similar events in one'],
];

/** Pods that run at a time on each node. */
const together = Number(process.env.TOGETHER ?? 4);
const mostLooks = 4;

function differencesOf({ name, stays }: ComparedPod): string[] {
  const [first, second] = nodes.map((node) => infoOf(`${name}-${node}`, node)) as [string[], string[]];
  const isUnexplained = (line: string) => !explained.some(([form]) => form.test(line)) && !stays?.form.test(line);
  return [
    ...first.filter((line) => !second.includes(line) && isUnexplained(line)).map((line) => `  - ${nodes[0]}: ${line}`),
    ...second.filter((line) => !first.includes(line) && isUnexplained(line)).map((line) => `  + ${nodes[1]}: ${line}`),
  ];
}

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000 * patience));

/** Compares some pods. One agent may be a step behind: what differs is looked at again. Returns how many are the same. */
async function compare(pods: readonly ComparedPod[]): Promise<number> {
  const made = pods.flatMap(({ name, spec }) =>
    nodes.map((node) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-${node}`, labels: { compared: 'yes' } },
      spec: { nodeName: node, ...spec },
    })),
  );
  run(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: made }));
  await pause(Math.max(...pods.map(({ after }) => after)));
  const left = new Map(pods.map((pod) => [pod, differencesOf(pod)]));
  for (let look = 1; look < mostLooks && [...left.values()].some(({ length }) => length > 0); look++) {
    await pause(4);
    for (const [pod, before] of left) if (before.length > 0) left.set(pod, differencesOf(pod));
  }
  for (const [{ name }, differences] of left) {
    console.log(`${name}: ${differences.length === 0 ? 'the same' : 'differs'}`);
    for (const line of differences) console.log(line);
  }
  run(['delete', 'pod', '-l', 'compared=yes', '--wait=false', '--grace-period=1']);
  return [...left.values()].filter(({ length }) => length === 0).length;
}

async function main(): Promise<void> {
  if (nodes.length !== 2) throw new Error('compare.check.js KUBECONFIG NODE NODE');
  for (const node of nodes) addresses.set(node, addressesOf(node));
  run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: comparedObjects }));
  const only = process.env.ONLY?.split(',');
  const wanted = [...comparedPods, ...moreComparedPods].filter(({ name }) => only === undefined || only.includes(name));
  let same = 0;
  for (let i = 0; i < wanted.length; i += together) same += await compare(wanted.slice(i, i + together));
  console.log(`${same} of ${wanted.length} pods are the same; differences that stay:`);
  for (const [form, why] of explained) console.log(`  ${form.source}: ${why}`);
  for (const { name, stays } of wanted) if (stays !== undefined) console.log(`  ${name}: ${stays.why}`);
}

await main();
