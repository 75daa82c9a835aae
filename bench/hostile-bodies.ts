import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { eventually, TestCluster, tokens } from '../test/e2e/support/test-cluster.js';
import type { HostileCase, HostileRequest } from './hostile/cases.js';
import { metadataCases } from './hostile/metadata-cases.js';
import { policyCases } from './hostile/policy-cases.js';
import { answerCases, queryCases } from './hostile/query-cases.js';
import { formatCases, patchCases } from './hostile/request-cases.js';
import { specCases } from './hostile/spec-cases.js';
import { openWatchers } from './hostile/watchers.js';

/*
 * How one hostile request affects all other clients. A serving process gets one hostile request after the other, each
 * close to the size limit. Meanwhile a prober asks for liveness, gets an object and renews a lease, and watches of all
 * forms are open. Prints for each request the longest CPU time that the serving thread spent before it turned to
 * anything else, the same by the clock, and the longest time of the probes.
 *   --only a,b,c      requests whose name has one of the texts
 *   --part 2/5        of those, the second fifth
 *   --no-answers      leaves out those that are about large answers, which need many objects
 *   --rows file       adds the rows to a file, for a table from several runs
 *   --write           also writes the table into docs/benchmarks.md, of the rows in that file when one is given
 */

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    part: { type: 'string', default: '1/1' },
    rows: { type: 'string' },
    'no-answers': { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
/** Long enough for readers of the log to see the writes. */
const settleMs = 400;
/** Node includes the wait of its own timer. */
const timerMs = 10;
const goalMs = 50;
const allow = '--authorization-mode=Node,RBAC';

interface Row {
  readonly name: string;
  readonly status: number;
  readonly ms: number;
  /** CPU time between two turns of the event loop. */
  readonly heldMs: number;
  /** Time by the clock. */
  readonly lagMs: number;
  readonly probes: Readonly<Record<string, number>>;
}

const docs = fileURLToPath(new URL('../../docs/benchmarks.md', import.meta.url));
process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${new URL('./hostile/report-held.js', import.meta.url)}`;
const cluster = await TestCluster.start({ servers: 1, flags: [allow] });
const { url } = cluster.first;
const agent = new Agent({ keepAlive: true, ca: cluster.pki.authority });
const watching = new Agent({ keepAlive: true, ca: cluster.pki.authority });

async function send(entry: HostileRequest, user: string): Promise<{ status: number; text: string }> {
  const body = entry.body?.();
  const request = httpsRequest(`${url}${entry.path}`, {
    method: entry.method,
    agent,
    headers: {
      authorization: `Bearer ${user}`,
      ...(entry.contentType === undefined ? {} : { 'content-type': entry.contentType }),
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
      ...entry.headers,
    },
  });
  request.on('error', () => undefined);
  request.end(body);
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of message) if (text.length < 10_000) text += String(chunk);
  return { status: message.statusCode ?? 0, text };
}

/** Longest CPU time that the serving thread spent in one turn since the last call, in milliseconds. */
async function held(): Promise<number> {
  const server = cluster.first;
  const seen = server.log.length;
  server.process.kill('SIGUSR2');
  return eventually(
    () => {
      const found = /^held (\{.*\})$/m.exec(server.log.slice(seen));
      return found === null ? undefined : (JSON.parse(found[1] as string) as { ms: number }).ms;
    },
    'the report of the server',
    120_000,
  );
}

/** Longest hold of the event loop by the clock since the last call, in milliseconds. */
async function lag(): Promise<number> {
  const request = httpsRequest(`${url}/metrics`, { agent, headers: { authorization: `Bearer ${tokens.admin}` } });
  request.end();
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of message) text += String(chunk);
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds(?:\{[^}]*\})? ([\d.e-]+)/m.exec(text)?.[1] ?? Number.NaN);
  return Math.max(0, seconds * 1000 - timerMs);
}

async function startProber(): Promise<Worker> {
  const settings = { url, ca: cluster.pki.authority, token: tokens.admin };
  const prober = new Worker(new URL('./hostile/prober.worker.js', import.meta.url), { workerData: settings });
  await once(prober, 'message');
  return prober;
}

async function probesOf(prober: Worker): Promise<Record<string, number>> {
  prober.postMessage('take');
  const [longest] = (await once(prober, 'message')) as [Record<string, number>];
  return longest;
}

async function fill(namespace: string, count: number, data: (i: number) => object): Promise<void> {
  const json = { contentType: 'application/json', method: 'POST' };
  await send({ ...json, path: '/api/v1/namespaces', body: () => `{"metadata":{"name":"${namespace}"}}` }, tokens.admin);
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < count; i = next++) {
      const metadata = { name: `c${i}`, labels: { group: `g${i % 100}` } };
      const body = JSON.stringify({ metadata, data: data(i) });
      const path = `/api/v1/namespaces/${namespace}/configmaps`;
      const { status, text } = await send({ ...json, path, body: () => body }, tokens.admin);
      if (status !== 201) throw new Error(`${status} ${text}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

async function run(prober: Worker, entry: HostileCase): Promise<Row> {
  for (const before of entry.before === undefined ? [] : [entry.before].flat()) {
    const { status, text } = await send(before, tokens.alice);
    if (status >= 300) console.error(`before ${entry.name}: ${status} ${text.slice(0, 300)}`);
  }
  if (entry.before !== undefined) await delay(settleMs);
  const body = entry.body?.();
  const ready: HostileCase = body === undefined ? entry : { ...entry, body: () => body };
  await probesOf(prober);
  await lag();
  await held();
  const begun = performance.now();
  const { status, text } = await send(ready, tokens[entry.sender ?? 'alice']).catch((error: unknown) => ({
    status: 0,
    text: String(error),
  }));
  const ms = performance.now() - begun;
  await delay(settleMs);
  const heldMs = await held();
  const lagMs = await lag();
  const probes = await probesOf(prober);
  const row = { name: entry.name, status, ms, heldMs, lagMs, probes };
  const shown = Object.entries(probes).map(([name, value]) => `${name} ${value.toFixed(0)}`);
  const mark = heldMs > goalMs ? '  <<<' : '';
  const detail = status >= 500 || status === 0 || status === 429 ? `  ${text.slice(0, 200)}` : '';
  console.log(
    `${entry.name.padEnd(44)} ${String(status).padStart(3)} ${ms.toFixed(0).padStart(6)} ms, held ${heldMs.toFixed(0).padStart(5)} ms (clock ${lagMs.toFixed(0)}); ${shown.join(', ')}${mark}${detail}`,
  );
  return row;
}

function tableOf(rows: readonly Row[]): string {
  const cell = (value: number | undefined) => (value ?? 0).toFixed(0);
  return [
    '| Request | Answer | Whole time | Held, processor | Held, clock | `/livez` | get | renewal |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(
      ({ name, status, ms, heldMs, lagMs, probes }) =>
        `| ${name} | ${status} | ${cell(ms)} | ${cell(heldMs)} | ${cell(lagMs)} | ${cell(probes.livez)} | ${cell(probes.get)} | ${cell(probes.lease)} |`,
    ),
  ].join('\n');
}

/** The newest row of every request in the file, in the order of the requests. */
function readRows(file: string, entries: readonly HostileCase[]): Row[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const newest = new Map(lines.map((line) => JSON.parse(line) as Row).map((row) => [row.name, row]));
  return entries.flatMap(({ name }) => newest.get(name) ?? []);
}

const begin = '<!-- hostile: begin -->';
const end = '<!-- hostile: end -->';

try {
  const binding = {
    metadata: { name: 'hostile' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }],
  };
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
  const made = { method: 'POST', path, contentType: 'application/json', body: () => JSON.stringify(binding) };
  const { status, text } = await send(made, tokens.admin);
  if (status !== 201) throw new Error(text);
  const texts = flags.only.split(',');
  const [part, parts] = flags.part.split('/').map(Number) as [number, number];
  const every = [...metadataCases, ...specCases, ...patchCases, ...formatCases, ...policyCases, ...queryCases];
  const all = [...every, ...(flags['no-answers'] ? [] : answerCases)];
  const chosen = all
    .filter(({ name }) => texts.some((text) => name.includes(text)))
    .filter((_, i, { length }) => Math.floor((i * parts) / length) === part - 1);
  const long = (bytes: number) => (i: number) => ({ text: `${i} `.repeat(Math.ceil(bytes / `${i} `.length)) });
  const keys = (count: number) => () =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, 'value']));
  if (chosen.some(({ path }) => path.includes('/large/'))) await fill('large', 150, long(1_000_000));
  if (chosen.some(({ path }) => path.includes('/many/'))) await fill('many', 30_000, long(1_000));
  if (chosen.some(({ path }) => path.includes('/wide/'))) await fill('wide', 40, keys(40_000));
  const prober = await startProber();
  await openWatchers(url, watching, tokens.alice);
  await delay(2_000);
  const rows: Row[] = [];
  for (const entry of chosen) {
    const row = await run(prober, entry);
    rows.push(row);
    if (flags.rows !== undefined) appendFileSync(flags.rows, `${JSON.stringify(row)}\n`);
  }
  await prober.terminate();
  const over = rows.filter(({ heldMs }) => heldMs > goalMs);
  console.log(`${rows.length} requests, ${over.length} of them held the event loop for more than ${goalMs} ms`);
  if (flags.write) {
    const document = readFileSync(docs, 'utf8');
    const [before, rest] = document.split(begin) as [string, string];
    const after = rest.slice(rest.indexOf(end));
    const shown = flags.rows === undefined ? rows : readRows(flags.rows, all);
    writeFileSync(docs, `${before}${begin}\n${tableOf(shown)}\n${after}`);
  }
} finally {
  agent.destroy();
  watching.destroy();
  await cluster.stop();
}
