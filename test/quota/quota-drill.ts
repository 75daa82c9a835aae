import { setTimeout as delay } from 'node:timers/promises';
import { eventually, TestCluster, type TestServer } from '../e2e/support/test-cluster.js';
import { checkHistory } from './quota-history.js';
import { milli, QuotaLoad } from './quota-load.js';

export interface DrillOptions {
  readonly seconds: number;
  readonly servers: number;
  readonly clients: number;
  /** Seconds between two kills. */
  readonly killEvery: number;
  readonly random: () => number;
  readonly log: (line: string) => void;
}

const namespace = 'race';
const hards: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  compute: { pods: '40', 'requests.cpu': '4' },
  objects: { 'count/configmaps': '50', services: '30', 'services.loadbalancers': '10' },
};
const limits = new Map(
  Object.entries(hards).map(([name, hard]) => [
    name,
    new Map(Object.entries(hard).map(([what, amount]) => [what, milli(amount)])),
  ]),
);
/** Later than the last count after a new quota. */
const settledMs = 4_000;

/**
 * The race for quotas: clients of several processes create, resize and delete while servers are killed. Returns all
 * faults: a limit that was exceeded at any version, a status that showed too little, a refusal of a write that fits,
 * usage that is not real at the end.
 */
export async function quotaDrill(options: DrillOptions): Promise<string[]> {
  const cluster = await TestCluster.start({ servers: options.servers, controllers: true });
  try {
    await prepare(cluster);
    const from = BigInt((await cluster.first.client.get(path('resourcequotas'))).body.metadata.resourceVersion);
    const down = new Set<TestServer>();
    const load = new QuotaLoad(namespace, () => cluster.servers.filter((server) => !down.has(server)), options.random);
    const until = performance.now() + options.seconds * 1000;
    const [report, kills] = await Promise.all([
      load.run(options.clients, until),
      killServers(cluster, down, until, options),
    ]);
    for (const [what, count] of [...report.answers].sort()) options.log(`${what.padEnd(28)} ${count}`);
    options.log(`servers killed: ${kills}`);
    const faults = [...report.faults, ...(await settle(cluster)), ...(await fill(cluster))];
    const history = await checkHistory(cluster.databaseUrl, namespace, limits, from);
    const peaks = [...history.peak].map(([what, most]) => `${what} ${most / 1000}`).join(', ');
    options.log(`versions checked: ${history.versions}; most at any version: ${peaks}`);
    const expected = Object.values(hards).flatMap((hard) => Object.keys(hard));
    const idle = expected.filter((what) => (history.peak.get(what) ?? 0) === 0);
    return [...faults, ...history.faults, ...idle.map((what) => `the log shows no use of ${what}`)];
  } finally {
    await cluster.stop();
  }
}

const path = (resource: string) => `/api/v1/namespaces/${namespace}/${resource}`;

async function prepare(cluster: TestCluster): Promise<void> {
  const { client } = cluster.first;
  await client.post('/api/v1/namespaces', { metadata: { name: namespace } });
  await eventually(async () => {
    const { status } = await client.get(`${path('serviceaccounts')}/default`);
    return status === 200;
  }, 'a default account');
  for (const [name, hard] of Object.entries(hards)) {
    const made = await client.post(path('resourcequotas'), { metadata: { name }, spec: { hard } });
    if (made.status !== 201) throw new Error(made.text);
    await eventually(async () => {
      return (await client.get(`${path('resourcequotas')}/${name}`)).body.status.hard !== undefined;
    }, 'a counted quota');
  }
  await delay(settledMs);
}

async function killServers(
  cluster: TestCluster,
  down: Set<TestServer>,
  until: number,
  { killEvery, random }: DrillOptions,
): Promise<number> {
  let kills = 0;
  for (;;) {
    await delay(Math.min(killEvery * 1000, Math.max(0, until - performance.now())));
    if (performance.now() + 2_000 > until) return kills;
    const victim = cluster.servers[Math.floor(random() * cluster.servers.length)];
    if (victim === undefined) continue;
    down.add(victim);
    kills++;
    await cluster.restartServer(victim, 'SIGKILL');
  }
}

/** Waits for the counts after the race, and compares them with what is there. */
async function settle(cluster: TestCluster): Promise<string[]> {
  let last: string[] = [];
  try {
    await eventually(
      async () => {
        last = await differences(cluster);
        return last.length === 0;
      },
      'usage that is reality',
      20_000,
    );
    return [];
  } catch {
    return last;
  }
}

async function differences(cluster: TestCluster): Promise<string[]> {
  const { client } = cluster.first;
  const items = async (resource: string) => (await client.get(path(resource))).body.items;
  const pods: { spec: { containers: [{ resources: { requests: { cpu: string } } }] } }[] = await items('pods');
  const services: { spec: { type: string } }[] = await items('services');
  const cpu = pods.reduce((sum, { spec }) => sum + milli(spec.containers[0].resources.requests.cpu), 0);
  const actual: Readonly<Record<string, number>> = {
    pods: pods.length * 1000,
    'requests.cpu': cpu,
    'count/configmaps': (await items('configmaps')).length * 1000,
    services: services.length * 1000,
    'services.loadbalancers': services.filter(({ spec }) => spec.type === 'LoadBalancer').length * 1000,
  };
  const quotas: { status: { used: Record<string, string> } }[] = await items('resourcequotas');
  return quotas.flatMap(({ status }) =>
    Object.entries(status.used)
      .filter(([what, amount]) => milli(amount) !== actual[what])
      .map(([what, amount]) => `at the end: ${what} is said to be ${amount}, but is ${actual[what]} thousandths`),
  );
}

/** Fills the remaining quota through all servers at once: exactly the remaining amount fits. */
async function fill(cluster: TestCluster): Promise<string[]> {
  const { client } = cluster.first;
  const { body } = await client.get(`${path('resourcequotas')}/objects`);
  const remaining = Number(hards.objects?.['count/configmaps']) - Number(body.status.used['count/configmaps']);
  const answers = await Promise.all(
    Array.from({ length: remaining + 5 }, (_, i) =>
      (cluster.servers[i % cluster.servers.length] as TestServer).client.post(path('configmaps'), {
        metadata: { name: `last-${i}` },
      }),
    ),
  );
  const made = answers.filter(({ status }) => status === 201).length;
  return made === remaining ? [] : [`at the end: room for ${remaining}, but ${made} were made`];
}
