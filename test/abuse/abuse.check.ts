import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { decodeEnvelope } from '../../src/base/machinery/schema/protobuf/index.js';
import { type MemoryReport, memoryOf, memoryReporting } from '../e2e/support/memory-report.js';
import { TestCluster, type TestServer, tokens } from '../e2e/support/test-cluster.js';
import { seedVariable } from '../support/random.js';
import { type HostileAnswer, HostileClient } from './hostile-client.js';
import { abuseNamespace, type HostileRequest, hostileRequest } from './hostile-request.js';

/*
 * Sends many random requests to two servers, with clients that leave, break and stop reading, and fails when a process
 * ends, an answer is wrong, memory grows without bound, or a server stops answering. The same seed sends the same
 * requests: PLINTH_TEST_SEED=... npm run check:abuse -- --requests 100000 [--from N]
 */

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    from: { type: 'string', default: '0' },
    minutes: { type: 'string', default: '40' },
    parallel: { type: 'string', default: '24' },
  },
});
const seed = Number(process.env[seedVariable] ?? Math.floor(Math.random() * 2 ** 32));
const from = Number(values.from);
const until = from + Number(values.requests);
const deadline = performance.now() + Number(values.minutes) * 60_000;
/** The most growth in memory per request. A warm-up and the cached objects add less. */
const maxBytesPerRequest = 4096;
const shownFailures = 20;
const probeMs = 1_000;
const probePatienceMs = 30_000;
const senders = [...Array<string>(7).fill(tokens.admin), tokens.alice, tokens.alice, tokens.bob, 'wrong'];

const failures: string[] = [];
const counts = new Map<string, number>();
const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

function fail(what: string, request?: HostileRequest): void {
  count('failures');
  if (failures.length >= shownFailures) return;
  const shown =
    request === undefined
      ? ''
      : `\n    number ${request.number}: HTTP/${request.http} ${request.method} ${request.path} ` +
        `${JSON.stringify(request.headers).slice(0, 400)} token=${request.token} fate=${request.fate}` +
        `\n    ${request.body?.subarray(0, 600).toString('utf8')}`;
  failures.push(`${what}${shown}`);
  console.log(`FAILURE ${failures.at(-1)}`);
}

/** The fault in an answer, or undefined. */
function faultOf(
  request: HostileRequest,
  { status, contentType, retryAfter, body }: HostileAnswer,
): string | undefined {
  count(String(status));
  // A request with a limit of one second is answered with a timeout.
  const askedForLittle = status === 504 && request.path.includes('timeoutSeconds=');
  // As in the reference: nobody can connect to such a node.
  const isWithoutAddress = status === 500 && body.includes('no preferred addresses found');
  // A fault of the server has a reason; a 500 without one tells the client what is wrong with its request.
  const isOfClient =
    status === 500 && contentType?.startsWith('application/json') === true && !body.includes('"reason":');
  const hasReason =
    isOfClient ||
    askedForLittle ||
    isWithoutAddress ||
    ((status === 503 || status === 504) && retryAfter !== undefined);
  if (status >= 500 && !hasReason) return `${status} ${body.subarray(0, 300)}`;
  if (status < 400 || request.method === 'HEAD') return undefined;
  try {
    const read = readStatus(contentType, body);
    return read.kind === 'Status' && (read.code === undefined || read.code === status)
      ? undefined
      : `${status} without a Status: ${contentType} ${body.subarray(0, 300)}`;
  } catch (error) {
    return `${status} with what can't be read: ${contentType} ${error} ${body.subarray(0, 300)}`;
  }
}

function readStatus(contentType: string, body: Buffer): { kind?: unknown; code?: unknown } {
  if (contentType.includes('protobuf')) return { kind: decodeEnvelope(body).kind };
  if (contentType.includes('yaml')) return parse(body.toString()) as object;
  return JSON.parse(body.toString()) as object;
}

/** Restores namespace and rights whenever a request removed them. */
async function prepare(cluster: TestCluster): Promise<void> {
  const { client } = cluster.first;
  await client.post('/api/v1/namespaces', { metadata: { name: abuseNamespace } });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [
    { apiGroups: ['', 'apps', 'batch'], resources: ['*'], verbs: ['*'] },
    { apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
  ];
  const role = await client.post(`${rbac}/clusterroles`, { metadata: { name: 'abuse' }, rules });
  if (role.status === 409) await client.patch(`${rbac}/clusterroles/abuse`, 'merge', { rules });
  await client.post(`${rbac}/clusterrolebindings`, {
    metadata: { name: 'abuse' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'abuse' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }],
  });
}

function assertRunning(server: TestServer): boolean {
  const { exitCode, signalCode } = server.process;
  if (exitCode === null && signalCode === null) return true;
  fail(`a process ended (${exitCode ?? signalCode}):\n${server.log.slice(-3000)}`);
  return false;
}

async function probe(server: TestServer, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const began = performance.now();
    const late = setTimeout(() => fail(`/livez of ${server.url} does not answer`), probePatienceMs);
    const answer = await server.client.get('/livez').catch((error: unknown) => ({ status: 0, text: String(error) }));
    clearTimeout(late);
    if (answer.status !== 200 && !stop.aborted) fail(`/livez answered ${answer.status} ${answer.text}`);
    longestProbe = Math.max(longestProbe, performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, probeMs));
  }
}

let longestProbe = 0;
let next = from;

async function sendUntil(end: number, clients: readonly HostileClient[], cluster: TestCluster): Promise<void> {
  while (next < end && performance.now() < deadline && cluster.servers.every(assertRunning)) {
    const number = next++;
    if (number % 2000 === 0) await prepare(cluster);
    const request = hostileRequest(seed, number, senders);
    try {
      const answer = await (clients[request.server] as HostileClient).send(request);
      if (answer === undefined) count('left');
      else if (request.fate === 'none') {
        const fault = faultOf(request, answer);
        if (fault !== undefined) fail(fault, request);
      }
    } catch (error) {
      // Heads above the parser's limit break the connection for its other requests.
      count(`broken (${(error as NodeJS.ErrnoException).code ?? (error as Error).message})`);
      if ((error as Error).message === 'no answer') fail('no answer', request);
    }
  }
}

async function main(): Promise<number> {
  console.log(`abuse: ${seedVariable}=${seed}, requests ${from} to ${until}`);
  const flags = ['--authorization-mode=RBAC', '--log-format=json'];
  const cluster = await memoryReporting(() => TestCluster.start({ servers: 2, flags }));
  const stop = new AbortController();
  const began = performance.now();
  try {
    const probes = cluster.servers.map((server) => probe(server, stop.signal));
    const clients = cluster.servers.map((server) => new HostileClient(server.url, cluster.pki.authority));
    const sizes: MemoryReport[][] = [];
    for (let part = 1; part <= 10 && failures.length < shownFailures; part++) {
      const end = from + Math.ceil(((until - from) * part) / 10);
      await Promise.all(Array.from({ length: Number(values.parallel) }, () => sendUntil(end, clients, cluster)));
      if (!cluster.servers.every(assertRunning)) break;
      sizes.push(await Promise.all(cluster.servers.map(memoryOf)));
      const shown = (sizes.at(-1) as MemoryReport[]).map(({ retained }) => Math.round(retained / 2 ** 20)).join('/');
      const seconds = Math.round((performance.now() - began) / 1000);
      console.log(`abuse: ${next - from} requests, ${seconds} s, ${shown} MiB retained`);
    }
    stop.abort();
    await Promise.all(probes);
    for (const client of clients) client.close();
    if (next < until && failures.length === 0) fail(`only ${next - from} requests in ${values.minutes} minutes`);
    checkMemory(sizes);
    for (const server of cluster.servers) checkLog(server);
  } finally {
    stop.abort();
    await cluster.stop().catch((error: unknown) => fail(`the servers do not stop: ${error}`));
  }
  const summary = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([what, times]) => `${what}: ${times}`);
  console.log(`abuse: ${summary.join(', ')}; slowest /livez ${Math.round(longestProbe)} ms; seed ${seed}`);
  console.log(failures.length === 0 ? 'abuse: passed' : `abuse: FAILED, repeat with ${seedVariable}=${seed}`);
  return failures.length === 0 ? 0 : 1;
}

/** From the fourth part on, with filled caches. */
function checkMemory(sizes: readonly MemoryReport[][]): void {
  if (sizes.length < 10) return;
  const requests = ((until - from) * 6) / 10 / 2;
  for (const server of [0, 1]) {
    const grown = (sizes[9]?.[server]?.retained ?? 0) - (sizes[3]?.[server]?.retained ?? 0);
    const each = Math.round(grown / requests);
    console.log(`abuse: server ${server + 1} keeps ${each} bytes of each request`);
    if (requests > 10_000 && each > maxBytesPerRequest)
      fail(`memory of server ${server + 1} grows: ${each} bytes a request`);
  }
}

function checkLog({ log }: TestServer): void {
  const found = log.match(/^.*(?:request failed|nobody caught|nobody awaited|could not answer).*$/gm) ?? [];
  for (const line of found.slice(0, 10)) fail(`logged: ${line.slice(0, 1500)}`);
}

process.exitCode = await main();
