import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import {
  customDefinition,
  define,
  definitionsPath,
  objectsPath,
  undefine,
} from '../test/e2e/support/custom-definitions.js';
import { eventually, TestCluster, type TestServer } from '../test/e2e/support/test-cluster.js';

/**
 * What many definitions cost a serving process: memory with all of them, once untouched and once with every kind used;
 * a start with all of them; how soon a new one is served; and what stays in memory when they are created, used, changed
 * and deleted. `npm run bench:many-definitions -- <definitions> <rounds of creation and deletion>`
 */
const count = Number(process.argv[2] ?? 2_000);
const cycles = Number(process.argv[3] ?? 4);
const atOnce = 8;

const string = { type: 'string' };
const fields = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [
    `field${i}`,
    {
      type: 'object',
      description: 'A field with a description as long as they usually are, for a schema of a usual size.',
      properties: {
        name: string,
        value: { type: 'integer', minimum: 0 },
        labels: { type: 'object', additionalProperties: string },
      },
    },
  ]),
);

/** Definitions come in groups of this many, as projects have them. */
const inGroup = 10;
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function groupOf(i: number): string {
  return `many${Math.floor(i / inGroup)}.example`;
}

function definition(i: number, group = groupOf(i)) {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', properties: fields }, status: { type: 'object' } },
  };
  return customDefinition({ plural: `things${i}`, kind: `Thing${i}`, group }, [
    { name: 'v1', schema, subresources: { status: {} } },
  ]);
}

function resident({ process: { pid } }: TestServer): number {
  const line = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(line?.[1]) / 1024);
}

async function forEach(items: readonly number[], work: (i: number) => Promise<unknown>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let i = waiting.shift(); i !== undefined; i = waiting.shift()) await work(i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function use(server: TestServer, i: number, group?: string): Promise<void> {
  const made = definition(i, group);
  const body = {
    apiVersion: `${made.spec.group}/v1`,
    kind: made.spec.names.kind,
    metadata: { name: 'one' },
    spec: { field1: { name: 'n' } },
  };
  const path = objectsPath(made);
  await eventually(
    async () => (await server.client.post(path, body)).status === 201,
    `${made.metadata.name} is served`,
  );
  await server.client.get(path);
  await server.client.patch(`${path}/one`, 'merge', { spec: { field2: { value: 2 } } });
}

async function read(server: TestServer, path: string, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  const { status, text } = await server.client.get(path, { headers });
  if (status !== 200) throw new Error(`${path}: ${text}`);
}

const numbers = (length: number) => Array.from({ length }, (_, i) => i);
const cluster = await TestCluster.start({ servers: 1, controllers: true });
try {
  let server = cluster.first;
  const report = (what: string) => console.log(`${what}: ${resident(server)} MiB`);
  report('without definitions');
  await forEach(numbers(count), async (i) => {
    const { status, text } = await server.client.post(definitionsPath, definition(i));
    if (status !== 201) throw new Error(text);
  });
  await eventually(
    async () => (await server.client.get(objectsPath(definition(count - 1)))).status === 200,
    'the last definition is served',
    600_000,
  );
  await delay(10_000);
  report(`${count} definitions, none used`);
  await server.stop();
  const begin = performance.now();
  server = await cluster.addServer();
  console.log(`start with them: ${((performance.now() - begin) / 1000).toFixed(2)} s`);
  await delay(10_000);
  report('after that start');
  await read(server, '/apis', { accept: `${aggregated},application/json` });
  report('aggregated discovery was read');
  for (let i = 0; i < 20; i++) await read(server, `/openapi/v3/apis/${groupOf(i)}/v1`);
  report('20 OpenAPI 3.0 documents were read');
  await read(server, '/openapi/v2');
  await delay(10_000);
  report('the Swagger document was read');
  const times: number[] = [];
  for (let i = 0; i < 20; i++) {
    const started = performance.now();
    await define(definition(i, 'late.example'), [server.client]);
    times.push(performance.now() - started);
  }
  console.log(`a new definition is served after ${times.toSorted((a, b) => a - b)[10]?.toFixed(0)} ms (median of 20)`);
  await forEach(numbers(count), (i) => use(server, i));
  report('each kind created, listed and patched');
  await server.stop();
  server = await cluster.addServer();
  await delay(10_000);
  report('a new start, before the rounds');
  for (let cycle = 1; cycle <= cycles; cycle++) {
    await forEach(numbers(250), async (i) => {
      const made = definition(i, 'short.example');
      await define(made, [server.client]);
      await use(server, i, 'short.example');
      await server.client.patch(`${definitionsPath}/${made.metadata.name}`, 'merge', {
        spec: { names: { shortNames: [`t${i}`] } },
      });
      await undefine(made, [server.client]);
    });
    await delay(10_000);
    report(`round ${cycle} of 250 definitions created, used, changed and deleted`);
  }
} finally {
  await cluster.stop();
}
