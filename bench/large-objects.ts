import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { parseArgs } from 'node:util';
import { TestCluster, tokens } from '../test/e2e/support/test-cluster.js';

/*
 * The cost of everyday large objects for their client: one request after the other creates, reads, replaces, patches
 * and deletes objects of several sizes. Prints the first time, the median of the others and the median CPU time of all
 * threads of the server, in milliseconds. The last figure is the same on a busy machine.
 *   --rounds 10
 */

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '10' } } });
const rounds = Number(flags.rounds);
const cluster = await TestCluster.start({ servers: 1 });
const { url } = cluster.first;
const agent = new Agent({ keepAlive: true, ca: cluster.pki.authority, maxSockets: 1 });

async function send(method: string, path: string, body?: unknown, contentType = 'application/json'): Promise<number> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const begun = performance.now();
  const request = httpsRequest(`${url}${path}`, {
    method,
    agent,
    headers: { authorization: `Bearer ${tokens.admin}`, 'content-type': contentType },
  });
  request.end(text);
  const [message] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  if ((message.statusCode ?? 0) >= 300) throw new Error(`${method} ${path}: ${Buffer.concat(chunks).toString()}`);
  return performance.now() - begun;
}

/** CPU time of all threads of the server, in milliseconds; 0 where the system does not report it. */
function spent(): number {
  const tasks = `/proc/${cluster.first.process.pid}/task`;
  try {
    const texts = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8'));
    return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
  } catch {
    return 0;
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function configMap(name: string, bytes: number): object {
  return { metadata: { name }, data: { 'values.yaml': 'key: value of it\n'.repeat(Math.ceil(bytes / 17)) } };
}

function secret(name: string, bytes: number): object {
  const release = Buffer.alloc(Math.floor((bytes * 3) / 4), 'release ').toString('base64');
  return { metadata: { name }, type: 'helm.sh/release.v1', data: { release } };
}

function manyKeys(name: string, count: number): object {
  return { metadata: { name }, data: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'value'])) };
}

function pod(name: string, count: number): object {
  const volumes = Array.from({ length: count }, (_, i) => ({ name: `v${i}`, configMap: { name: `c${i}` } }));
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  return { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i', volumeMounts }], volumes } };
}

const core = '/api/v1/namespaces/default';
const samples: readonly (readonly [string, string, (name: string) => object])[] = [
  ['config map, 10 KB', `${core}/configmaps`, (name) => configMap(name, 10_000)],
  ['config map, 60 KB', `${core}/configmaps`, (name) => configMap(name, 60_000)],
  ['config map, 100 KB', `${core}/configmaps`, (name) => configMap(name, 100_000)],
  ['config map, 500 KB', `${core}/configmaps`, (name) => configMap(name, 500_000)],
  ['config map, 1 MB', `${core}/configmaps`, (name) => configMap(name, 1_000_000)],
  ['config map, 5,000 keys', `${core}/configmaps`, (name) => manyKeys(name, 5_000)],
  ['release secret, 1 MB', `${core}/secrets`, (name) => secret(name, 1_000_000)],
  ['pod, 1,000 volumes', `${core}/pods`, (name) => pod(name, 1_000)],
];

try {
  for (const [label, path, make] of samples) {
    const times: Record<string, { readonly ms: number; readonly cpuMs: number }[]> = {};
    const take = async (verb: string, ...args: Parameters<typeof send>) => {
      times[verb] ??= [];
      const before = spent();
      const ms = await send(...args);
      times[verb].push({ ms, cpuMs: spent() - before });
    };
    for (let i = 0; i <= rounds; i++) {
      const name = `o${i}`;
      await take('create', 'POST', path, make(name));
      await take('get', 'GET', `${path}/${name}`);
      const labels = { labels: { round: 'a' } };
      const object = make(name) as { metadata: object };
      await take('replace', 'PUT', `${path}/${name}`, { ...object, metadata: { name, ...labels } });
      const patch = { metadata: { labels: { round: 'b' } } };
      await take('patch', 'PATCH', `${path}/${name}`, patch, 'application/merge-patch+json');
      await take('delete', 'DELETE', `${path}/${name}?gracePeriodSeconds=0`);
    }
    const shown = Object.entries(times).map(([verb, [first, ...rest]]) => {
      const cpu = median(rest.map(({ cpuMs }) => cpuMs));
      return `${verb} ${first?.ms.toFixed(0)} / ${median(rest.map(({ ms }) => ms)).toFixed(0)} / ${cpu.toFixed(1)}`;
    });
    console.log(`${label.padEnd(24)} ${shown.join(', ')}`);
  }
} finally {
  agent.destroy();
  await cluster.stop();
}
