import { readFileSync } from 'node:fs';
import { customDefinition, define, objectsPath } from '../test/e2e/support/custom-definitions.js';
import { TestCluster, type TestServer } from '../test/e2e/support/test-cluster.js';

/**
 * What a custom resource costs beside a built-in kind: Deployments, and custom objects with the same content under a
 * schema that names every field. Creates, gets, merge patches and lists with 8 clients take turns. Prints the processor
 * time of the serving process per request, and the ratio. `npm run bench:custom-resources -- <seconds>`
 */
const seconds = Number(process.argv[2] ?? 2);
const rounds = 5;
const clients = 8;

const string = { type: 'string' };
const integer = { type: 'integer', format: 'int64' };
const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const list = (items: object, more: object = {}) => ({ type: 'array', items, ...more });
const texts = { type: 'object', additionalProperties: string };

const port = object(
  { name: string, containerPort: integer, protocol: { type: 'string', default: 'TCP' } },
  { required: ['containerPort'] },
);
const container = object(
  {
    name: { type: 'string', minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
    image: string,
    imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' },
    args: list(string),
    ports: list(port, {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
    }),
    env: list(object({ name: string, value: string }, { required: ['name'] }), {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    }),
    resources: object({
      requests: { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
      limits: { type: 'object', additionalProperties: { 'x-kubernetes-int-or-string': true } },
    }),
    terminationMessagePath: { type: 'string', default: '/dev/termination-log' },
    terminationMessagePolicy: { type: 'string', default: 'File' },
  },
  { required: ['name'] },
);
const template = object({
  metadata: object({ labels: texts, annotations: texts }),
  spec: object({
    containers: list(container, { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    restartPolicy: { type: 'string', default: 'Always' },
    terminationGracePeriodSeconds: { ...integer, default: 30 },
    dnsPolicy: { type: 'string', default: 'ClusterFirst' },
    schedulerName: { type: 'string', default: 'default-scheduler' },
    nodeSelector: texts,
  }),
});
const schema = object({
  spec: object(
    {
      replicas: { ...integer, minimum: 0, default: 1 },
      selector: object({ matchLabels: texts }),
      template,
      revisionHistoryLimit: { ...integer, default: 10 },
      progressDeadlineSeconds: { ...integer, default: 600 },
    },
    { required: ['selector', 'template'] },
  ),
  status: object({ replicas: integer }),
});

function spec(name: string): object {
  const labels = { app: name, tier: 'backend', 'example.dev/team': 'storage' };
  const env = Array.from({ length: 12 }, (_, i) => ({ name: `SETTING_${i}`, value: `value number ${i} of ${name}` }));
  const resources = { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } };
  const ports = [
    { name: 'http', containerPort: 8080, protocol: 'TCP' },
    { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
  ];
  const one = {
    name: 'main',
    image: 'registry.example/app:1.2.3',
    args: ['--verbose', '--port=8080'],
    ports,
    env,
    resources,
  };
  return {
    replicas: 3,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels, annotations: { 'example.dev/checksum': 'abcdef0123456789'.repeat(4) } },
      spec: { containers: [one, { ...one, name: 'sidecar' }], nodeSelector: { disk: 'ssd' } },
    },
  };
}

function processorTime({ process: { pid } }: TestServer): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

interface Kind {
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly path: string;
  serial: number;
}

type Work = (server: TestServer, kind: Kind) => Promise<{ status: number; text: string }>;

const works: Readonly<Record<string, Work>> = {
  create: ({ client }, kind) => {
    const name = `o-${kind.serial++}`;
    const { apiVersion } = kind;
    return client.post(kind.path, { apiVersion, kind: kind.kind, metadata: { name }, spec: spec(name) });
  },
  get: ({ client }, kind) => client.get(`${kind.path}/o-${Math.floor(Math.random() * kind.serial)}`),
  patch: ({ client }, kind) =>
    client.patch(`${kind.path}/o-${Math.floor(Math.random() * kind.serial)}`, 'merge', {
      spec: { replicas: Math.floor(Math.random() * 1000) },
    }),
  'list of 500': ({ client }, kind) => client.get(`${kind.path}?limit=500`),
};

async function run(server: TestServer, kind: Kind, work: Work, ms: number): Promise<number> {
  let done = 0;
  const before = processorTime(server);
  const begin = performance.now();
  const client = async () => {
    while (performance.now() < begin + ms) {
      const { status, text } = await work(server, kind);
      if (status >= 300) throw new Error(text);
      done++;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (processorTime(server) - before) / done;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

const cluster = await TestCluster.start({ servers: 1, controllers: true });
try {
  const server = cluster.first;
  const names = { plural: 'workloads', kind: 'Workload' };
  const definition = customDefinition(names, [{ name: 'v1', schema, subresources: { status: {} } }]);
  await define(definition, [server.client]);
  const kinds: Kind[] = [
    {
      name: 'built-in',
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      path: '/apis/apps/v1/namespaces/default/deployments',
      serial: 0,
    },
    {
      name: 'custom',
      apiVersion: `${definition.spec.group}/v1`,
      kind: 'Workload',
      path: objectsPath(definition),
      serial: 0,
    },
  ];
  for (const [name, work] of Object.entries(works)) {
    const costs = kinds.map((): number[] => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [i, kind] of kinds.entries()) {
        const cost = await run(server, kind, work, (round === 0 ? 1 : seconds) * 1000);
        if (round > 0) costs[i]?.push(cost);
      }
    }
    const [builtIn, custom] = costs.map(median) as [number, number];
    console.log(
      `${name}: ${builtIn.toFixed(0)} us built-in, ${custom.toFixed(0)} us custom, ${(custom / builtIn).toFixed(2)}x`,
    );
  }
} finally {
  await cluster.stop();
}
