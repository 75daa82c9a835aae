import { readFileSync } from 'node:fs';
import { AdmissionOptions, selectedAdmissionPlugins } from '../src/base/config/admission.options.js';
import { eventually, TestCluster, type TestServer } from '../test/e2e/support/test-cluster.js';
import { WebhookServer } from '../test/support/webhook-server.js';

/**
 * What admission costs a create of a Pod, with 16 clients: no plugins, the default ones, and these with a quota, a
 * validating policy or a local hook. The cases take turns, so that they suffer alike from whatever else the machine
 * does. Prints the rate and the processor time of the serving process per request. `npm run bench:admission -- <seconds>`
 */
const seconds = Number(process.argv[2] ?? 3);
const rounds = 5;
const clients = 16;

interface Case {
  readonly name: string;
  readonly server: TestServer;
  readonly namespace: string;
  readonly rates: number[];
  /** Microseconds of processor time per request. */
  readonly costs: number[];
}

const label = { 'example.dev/checked': 'yes' };
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
const registration = '/apis/admissionregistration.k8s.io/v1';

/** Microseconds of processor time that a process has used; /proc counts hundredths of a second. */
function processorTime({ process: { pid } }: TestServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

let serial = 0;

async function run({ server, namespace, rates, costs }: Case, ms: number): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const spec = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1m' } } }] };
  let done = 0;
  const before = processorTime(server);
  const begin = performance.now();
  const client = async () => {
    while (performance.now() < begin + ms) {
      const { status, text } = await server.client.post(path, { metadata: { name: `p-${serial++}` }, spec });
      if (status !== 201) throw new Error(text);
      done++;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  rates.push((done / (performance.now() - begin)) * 1000);
  costs.push((processorTime(server) - before) / done);
}

async function made(server: TestServer, path: string, body: object): Promise<void> {
  const { status, text } = await server.client.post(path, body);
  if (status !== 201) throw new Error(text);
}

async function makeNamespace(server: TestServer, name: string, labels: object = {}): Promise<void> {
  await made(server, '/api/v1/namespaces', { metadata: { name, labels } });
  const account = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await eventually(async () => (await server.client.get(account)).status === 200, 'a default account');
}

async function makeQuota(server: TestServer, namespace: string): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
  await made(server, path, { metadata: { name: 'q' }, spec: { hard: { pods: '1000000', 'requests.cpu': '1000000' } } });
  const counted = async () => (await server.client.get(`${path}/q`)).body.status.hard !== undefined;
  await eventually(counted, 'a counted quota');
}

async function makePolicy(server: TestServer): Promise<void> {
  await made(server, `${registration}/validatingadmissionpolicies`, {
    metadata: { name: 'images' },
    spec: {
      matchConstraints: { resourceRules: rules, namespaceSelector: { matchLabels: { policy: 'yes' } } },
      validations: [{ expression: "object.spec.containers.all(c, !c.image.endsWith(':latest'))" }],
    },
  });
  await made(server, `${registration}/validatingadmissionpolicybindings`, {
    metadata: { name: 'images' },
    spec: { policyName: 'images', validationActions: ['Deny'] },
  });
}

async function makeHook(server: TestServer, hooks: WebhookServer): Promise<void> {
  hooks.on('/allow', () => ({ allowed: true }));
  await made(server, `${registration}/validatingwebhookconfigurations`, {
    metadata: { name: 'hook' },
    webhooks: [
      {
        name: 'hook.example.dev',
        clientConfig: { url: hooks.url('/allow'), caBundle: hooks.caBundle },
        rules,
        namespaceSelector: { matchLabels: { hook: 'yes' } },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const cluster = await TestCluster.start({ servers: 1, controllers: true, fsync: true });
const hooks = await WebhookServer.start();
try {
  const full = cluster.first;
  const bare = await cluster.addServer(undefined, [
    `--disable-admission-plugins=${selectedAdmissionPlugins(new AdmissionOptions())}`,
  ]);
  await makeNamespace(full, 'plain', label);
  await makeNamespace(full, 'limited', label);
  await makeNamespace(full, 'policed', { ...label, policy: 'yes' });
  await makeNamespace(full, 'hooked', { ...label, hook: 'yes' });
  await makeQuota(full, 'limited');
  const one = (name: string, server: TestServer, namespace: string): Case => ({
    name,
    server,
    namespace,
    rates: [],
    costs: [],
  });
  const without = [one('no plugins', bare, 'plain'), one('default plugins', full, 'plain')];
  const withQuota = one('default plugins, a quota', full, 'limited');
  const withPolicy = one('default plugins, a policy', full, 'policed');
  const withHook = one('default plugins, a hook on this machine', full, 'hooked');
  const cases = [...without, withQuota, withPolicy, withHook];
  await makePolicy(full);
  await makeHook(full, hooks);
  for (const each of cases) await run(each, 1000);
  for (const each of cases) for (const list of [each.rates, each.costs]) list.length = 0;
  for (let round = 0; round < rounds; round++) for (const each of cases) await run(each, seconds * 1000);
  const base = median(withoutPlugins(cases).costs);
  for (const { name, rates, costs } of cases) {
    const cost = median(costs);
    process.stdout.write(
      `${name.padEnd(42)} ${median(rates).toFixed(0).padStart(6)}/s ${cost.toFixed(0).padStart(6)} us  ${(cost / base).toFixed(2)}x\n`,
    );
  }
} finally {
  await hooks.stop();
  await cluster.stop();
}

function withoutPlugins([first]: readonly Case[]): Case {
  if (first === undefined) throw new Error('there are no cases');
  return first;
}
