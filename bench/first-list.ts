import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { parseArgs } from 'node:util';
import { processorMicroseconds } from '../test/e2e/support/processes.js';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import { mainFile } from '../test/support/main-file.js';
import { type Ask, Asker, accepts } from './asks.js';

/*
 * Processor time of the first lists in a form that a server answers after its start, in milliseconds of the whole server
 * process. Every row is a server of its own, over the same stored Pods. `npm run bench:first-list -- [flags]`.
 *   --peer FILE      the program of another tree, `dist/program/main.js`: measured in turn, and compared
 *   --only a,b       some of the forms
 *   --rounds N       servers of each form (default 3)
 *   --objects N      Pods to list (default 10,000)
 *   --profile FOLDER writes a profile of each server there
 */
const { values: flags } = parseArgs({
  options: {
    peer: { type: 'string' },
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    objects: { type: 'string', default: '10000' },
    profile: { type: 'string' },
  },
});

const pods = '/api/v1/namespaces/listed/pods';
const paged: Omit<Ask, 'accept' | 'gzip'> = { path: `${pods}?limit=500`, how: 'pages' };
const metadata = ';as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
const forms: Readonly<Record<string, Ask>> = {
  json: { ...paged, accept: accepts.json, gzip: false },
  jsonGzip: { ...paged, accept: accepts.json, gzip: true },
  protobuf: { ...paged, accept: accepts.protobuf, gzip: false },
  protobufGzip: { ...paged, accept: accepts.protobuf, gzip: true },
  table: { ...paged, accept: accepts.table, gzip: false },
  tableGzip: { ...paged, accept: accepts.table, gzip: true },
  metadata: { ...paged, accept: `application/json${metadata}`, gzip: false },
  metadataProtobuf: { ...paged, accept: `application/vnd.kubernetes.protobuf${metadata}`, gzip: false },
};
/** A form is listed so many times by each server. */
const lists = 3;
const clients = 8;

const pod = (name: string, serial: number) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { app: 'bench', part: name, share: `share-${serial % 100}` },
    annotations: { 'example.com/note': 'a short note' },
  },
  spec: {
    containers: ['main', 'sidecar'].map((container) => ({
      name: container,
      image: 'registry.example/team/image:1.2.3',
      ports: [{ name: 'http', containerPort: 8080 }],
      env: Array.from({ length: 8 }, (_, i) => ({ name: `SETTING_${i}`, value: `value ${i}` })),
      resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
      readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 5 },
    })),
  },
});

async function create(url: string, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients, rejectUnauthorized: false });
  let next = 0;
  const post = async (path: string, object: unknown): Promise<void> => {
    const body = Buffer.from(JSON.stringify(object));
    const request = httpsRequest(`${url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokens.admin}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
      agent,
    });
    request.end(body);
    const [response] = await once(request, 'response');
    const parts: Buffer[] = [];
    for await (const part of response as AsyncIterable<Buffer>) parts.push(part);
    if (response.statusCode === 201) return;
    // The other clients end, too.
    next = count;
    throw new Error(`POST ${path}: ${response.statusCode} ${Buffer.concat(parts).toString('utf8', 0, 300)}`);
  };
  await post('/api/v1/namespaces', { metadata: { name: 'listed' } });
  const client = async () => {
    for (let serial = next++; serial < count; serial = next++) await post(pods, pod(`l-${serial}`, serial));
  };
  const ended = await Promise.allSettled(Array.from({ length: clients }, client));
  agent.destroy();
  for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Milliseconds of each list of a form in a new server. */
async function measured(cluster: TestCluster, ask: Ask, program: string): Promise<number[]> {
  cluster.useProgram(program);
  const server = await cluster.addServer();
  const pid = server.process.pid as number;
  const asker = new Asker(server.url, tokens.admin, 1);
  const costs: number[] = [];
  // Connection, code of requests and caches of what every request needs are not part of the list.
  for (let i = 0; i < 10; i++) await asker.ask({ ...ask, path: '/api/v1/namespaces/listed/pods?limit=1', how: 'once' });
  for (let i = 0; i < lists; i++) {
    const before = processorMicroseconds(pid);
    await asker.ask(ask);
    costs.push((processorMicroseconds(pid) - before) / 1_000);
  }
  asker.close();
  cluster.servers.splice(cluster.servers.indexOf(server), 1);
  await server.stop();
  return costs;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

const programs = [mainFile, ...(flags.peer === undefined ? [] : [flags.peer])];
const names = flags.only?.split(',') ?? Object.keys(forms);
const cluster = await TestCluster.start({
  servers: 1,
  nodeFlags: flags.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${flags.profile}`],
});
try {
  await create(cluster.first.url, Number(flags.objects));
  await cluster.servers.shift()?.stop();
  console.log('| form | list | here | peer | here / peer, median |');
  console.log('| --- | ---: | ---: | ---: | ---: |');
  for (const name of names) {
    const ask = forms[name];
    if (ask === undefined) throw new Error(`there is no form ${name}`);
    const costs = programs.map((): number[][] => []);
    for (let round = 0; round < Number(flags.rounds); round++) {
      const inTurn = [...programs.entries()];
      for (const [i, program] of round % 2 === 0 ? inTurn : inTurn.reverse()) {
        costs[i]?.push(await measured(cluster, ask, program));
      }
    }
    for (let list = 0; list < lists; list++) {
      const [here, peer] = costs.map((rounds) => rounds.map((round) => round[list] as number));
      const cells = [here, peer].map((values) => (values === undefined ? '' : median(values).toFixed(0)));
      const ratio =
        peer === undefined ? '' : median((here ?? []).map((cost, i) => cost / (peer[i] as number))).toFixed(2);
      console.log(`| ${name} | ${list + 1} | ${cells.join(' | ')} | ${ratio} |`);
    }
  }
} finally {
  await cluster.stop();
}
