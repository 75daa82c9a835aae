import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { askFor, type ClientForm, clientForms, createBound } from './client-forms.js';
import { type Peer, useOf } from './peer.js';

/** The results of one kind of work, as the client measured them. */
export interface Seen {
  /** Requests that were answered, of watches events. */
  readonly count: number;
  /** Requests per second, of watches events. */
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
}

/** The results of one kind of work, and its cost. */
export interface Result extends Seen {
  /** Processor time of the server and of its store for each, in microseconds. */
  readonly serverUs: number;
  readonly storeUs: number;
}

export interface LoadOptions {
  /** The load generator. */
  readonly program: string;
  readonly objects: number;
  readonly seconds: number;
  readonly http2: boolean;
  /** Namespace; one for warming up and another to measure. */
  readonly namespace: string;
  /** Connections of works that have many (default 16). */
  readonly clients?: number;
}

/** Kinds of work in the order in which they run: name for tables, scenario of the generator or what the bench asks. */
export const works: ReadonlyMap<string, string | ClientForm> = new Map<string, string | ClientForm>([
  ['create ConfigMap, 1 client', 'create1'],
  ['create ConfigMap, 16 clients', 'create'],
  ['create Pod, 16 clients', 'preload'],
  ['get Pod, 1 client', 'get1'],
  ['get Pod, 16 clients', 'get'],
  ['merge patch Pod, 16 clients', 'update'],
  ['get and put Pod, 16 clients', 'put'],
  ['list Pods, newest version', 'list'],
  ['list Pods, version 0, 1 client', 'list0'],
  ['list Pods, version 0, 4 clients', 'list0c'],
  ['list by label, 4 clients', 'selector'],
  ['list Pods by 500', 'page'],
  ...clientForms,
  ['watch, 1 watcher, 50 writes/s', 'watch1'],
  ['watch, 500 watchers, 20 writes/s', 'watchN'],
  ['watch, 500 watchers, writes of one client', 'burst'],
]);

/** Does one kind of work. Other scenarios must have created the Pods it reads. */
export async function runWork(peer: Peer, work: string | ClientForm, options: LoadOptions): Promise<Result> {
  if (typeof work !== 'string' && !peersWithBound.get(peer)?.has(options.namespace)) {
    peersWithBound.set(peer, new Set([...(peersWithBound.get(peer) ?? []), options.namespace]));
    await createBound(peer, options.namespace);
  }
  const before = { server: useOf(peer.roots.server), store: useOf(peer.roots.store) };
  const seen = typeof work === 'string' ? await generated(peer, work, options) : await asked(peer, work, options);
  const { count } = seen;
  const each = (part: 'server' | 'store') =>
    ((useOf(peer.roots[part]).processorSeconds - before[part].processorSeconds) * 1e6) / count;
  return { ...seen, serverUs: each('server'), storeUs: each('store') };
}

/** The namespaces of peers that have bound Pods. */
const peersWithBound = new WeakMap<Peer, ReadonlySet<string>>();

async function asked(peer: Peer, form: ClientForm, { namespace, seconds }: LoadOptions): Promise<Seen> {
  const { milliseconds, errors, seconds: took } = await askFor(peer, form, namespace, seconds);
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor((sorted.length * part) / 100)] ?? Number.NaN;
  return { count: sorted.length, perSecond: sorted.length / took, p50Ms: at(50), p99Ms: at(99), errors };
}

async function generated(peer: Peer, scenario: string, options: LoadOptions): Promise<Seen> {
  const args = [
    `-server=${peer.url}`,
    `-token=${peer.token}`,
    `-objects=${options.objects}`,
    `-d=${options.seconds}s`,
    `-ns=${options.namespace}`,
    `-only=${scenario}`,
    ...(options.http2 ? ['-h2'] : []),
    ...(options.clients === undefined ? [] : [`-c=${options.clients}`]),
  ];
  const child = spawn(options.program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  let seen: Seen | undefined;
  for await (const line of createInterface({ input: child.stdout })) seen = parse(line);
  const code = await ended;
  if (code !== 0 || seen === undefined) throw new Error(`${options.program} ${scenario} ended with ${code}`);
  return seen;
}

function parse(line: string): Seen {
  const { n, rps, p50_ms, p99_ms, errors, delivered, expected, seconds } = JSON.parse(line);
  return {
    count: delivered ?? n,
    perSecond: delivered === undefined ? rps : delivered / seconds,
    p50Ms: p50_ms ?? Number.NaN,
    p99Ms: p99_ms ?? Number.NaN,
    errors: errors + (delivered === undefined ? 0 : expected - delivered),
  };
}
