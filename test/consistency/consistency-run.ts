import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type PoolerMode, TestCluster, tokens } from '../e2e/support/test-cluster.js';
import { Random } from '../support/random.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { ClusterView, type WorkedKind } from './cluster-view.js';
import { type DisturbanceName, Disturbances, disturbanceNames, workerDisturbanceNames } from './disturbances.js';
import { History, type Range } from './history.js';
import { Ledger } from './ledger.js';
import { LogReader } from './log-reader.js';
import { page } from './pagers.js';
import { PastCheck, pastFlags } from './past-check.js';
import { read } from './readers.js';
import { Report } from './report.js';
import { WatchCheck } from './watch-check.js';
import { Watcher } from './watchers.js';
import { tiers, type Workbench, Writer, write } from './writers.js';

export interface RunOptions {
  readonly seed: number;
  /** How long clients work, in seconds; starting, healing and the last comparison come on top. */
  readonly seconds: number;
  /** Serving processes; default 4. */
  readonly servers?: number;
  /** Worker processes of each of them; default: no flag. */
  readonly workers?: number;
  /** Further flags of each server. */
  readonly flags?: readonly string[];
  /**
   * How they reach the database; default: as the environment says. `polling` leaves no notifications that could get
   * lost.
   */
  readonly pooler?: PoolerMode;
  /** The program to run, if it is not the one that is shipped. */
  readonly mainFile?: string;
  /** The disturbances of the run, in turn and in random order; default: all of them. */
  readonly disturbances?: readonly DisturbanceName[];
  /** Compare rows and past with lists, at every tenth of the run; default: no. */
  readonly past?: boolean;
  /** End at the first violation. */
  readonly stopEarly?: boolean;
  /**
   * How long a single write may take to reach every watch when nothing else happens, in milliseconds; default 15,000.
   */
  readonly promptMs?: number;
  /** Receives the events of the run. */
  readonly log?: (line: string) => void;
}

const namespaces = ['alpha', 'beta', 'gamma'];
const names = Array.from({ length: 14 }, (_, i) => `o${i % 2 === 0 ? '' : '-'}${i}`);

const kinds: readonly WorkedKind[] = [
  {
    resource: 'configmaps',
    path: (namespace) => `/api/v1${namespace === undefined ? '' : `/namespaces/${namespace}`}/configmaps`,
    make: (value) => ({ data: { value: String(value), text: 'x'.repeat(value % 200) } }),
    change: (value) => ({ data: { value: String(value) } }),
  },
  {
    resource: 'ingresses.networking.k8s.io',
    path: (namespace) =>
      `/apis/networking.k8s.io/v1${namespace === undefined ? '' : `/namespaces/${namespace}`}/ingresses`,
    make: (value) => ({ spec: { defaultBackend: backend(value) } }),
    change: (value) => ({ spec: { defaultBackend: backend(value) } }),
  },
];

function backend(value: number): object {
  return { service: { name: `s${value}`, port: { number: 1 + (value % 60_000) } } };
}

/** Time for the last entries to reach every watcher. */
const drainMs = 60_000;

/**
 * Runs clients of every sort against a cluster of real processes while things break, and compares everything they saw
 * with the log of the database. Memory stays bounded: entries that every client has compared are forgotten.
 */
export async function runConsistencyCheck(options: RunOptions): Promise<Report> {
  const report = new Report();
  const { pooler, workers, flags: further = [], mainFile } = options;
  const cluster = await TestCluster.start({
    servers: 0,
    fsync: true,
    flags: [
      '--watch-history=24h',
      ...(options.past === true ? pastFlags : []),
      ...(workers === undefined ? [] : [`--workers=${workers}`]),
      ...further,
    ],
    ...(pooler === undefined ? {} : { pooler }),
    ...(mainFile === undefined ? {} : { mainFile, accounts: false }),
  });
  const proxy = await TcpProxy.start(cluster.postgres.port);
  let run: ConsistencyRun | undefined;
  try {
    const flags = pooler === 'polling' ? [] : [`--listen-database-url=${proxy.through(cluster.databaseUrl)}`];
    // One after the other: a machine that starts all of them at once is slower.
    for (let i = 0; i < (options.servers ?? 4); i++) await cluster.addServer(undefined, flags);
    run = new ConsistencyRun(
      cluster,
      new Disturbances(cluster, proxy, new Random(options.seed + 1), flags),
      report,
      options,
    );
    await run.go();
    return report;
  } finally {
    await run?.stop();
    await proxy.stop();
    await cluster.stop();
  }
}

class ConsistencyRun {
  private readonly random: Random;
  private readonly history: History;
  private readonly bench: Workbench;
  private readonly watchers: Watcher[] = [];
  private readonly checks: WatchCheck[] = [];
  private readonly working = new AbortController();
  private readonly watching = new AbortController();
  private readonly following = new AbortController();
  private readonly tasks: Promise<unknown>[] = [];
  private readonly log: (line: string) => void;
  private readonly past: PastCheck | undefined;

  constructor(
    private readonly cluster: TestCluster,
    private readonly disturbances: Disturbances,
    private readonly report: Report,
    private readonly options: RunOptions,
  ) {
    this.random = new Random(options.seed);
    this.log = options.log ?? (() => undefined);
    this.history = new History(report);
    const ledger = new Ledger(report);
    const urls = cluster.servers.map(({ url }) => url);
    const view = new ClusterView(urls, { ca: cluster.pki.authority, token: tokens.admin }, report);
    const follower = new LogReader(
      cluster.databaseUrl,
      kinds.map(({ resource }) => resource),
      this.history,
      ledger,
      this.checks,
      report,
    );
    this.bench = { view, history: this.history, ledger, follower, report, kinds, namespaces, names };
    this.past = options.past === true ? new PastCheck(cluster, this.bench, new Random(options.seed + 2)) : undefined;
    this.addWatchers();
    setMaxListeners(0, this.watching.signal);
  }

  async go(): Promise<void> {
    const { bench, random } = this;
    for (const name of namespaces) {
      const made = await this.cluster.first.client.post('/api/v1/namespaces', { metadata: { name } });
      if (made.status !== 201) throw new Error(`no namespace: ${made.text}`);
    }
    const fork = () => new Random(random.below(2 ** 31));
    this.tasks.push(this.follow());
    for (const watcher of this.watchers) this.tasks.push(watcher.run(this.watching.signal));
    const { signal } = this.working;
    for (let i = 0; i < 6; i++) this.tasks.push(write(bench, fork(), signal));
    for (let i = 0; i < 2; i++) this.tasks.push(read(bench, fork(), signal));
    for (let i = 0; i < 2; i++) this.tasks.push(page(bench, fork(), signal));

    await this.disturb();
    await bench.view.hush();
    this.working.abort();
    bench.view.resume();
    await this.drain();
    await bench.follower.compareWithSecondReading();
  }

  async stop(): Promise<void> {
    this.working.abort();
    this.watching.abort();
    this.following.abort();
    this.bench.view.resume();
    await Promise.all(this.tasks);
    this.bench.view.close();
    await this.bench.follower.close();
  }

  /** One watcher pinned to every server, and some of each selection that change servers. */
  private addWatchers(): void {
    const add = (range: Range, server?: number) => {
      const title = `${this.watchers.length}${server === undefined ? '' : ` on server ${server}`}`;
      const check = new WatchCheck(title, range, this.history, this.report);
      const kind = kinds.find(({ resource }) => resource === range.resource) as WorkedKind;
      this.checks.push(check);
      const random = new Random(this.random.below(2 ** 31));
      this.watchers.push(new Watcher(this.bench, random, { kind, check, server }));
    };
    this.cluster.servers.forEach((_, server) => {
      add({ resource: 'configmaps' }, server);
    });
    for (const { resource } of kinds) {
      add({ resource });
      for (const namespace of namespaces.slice(0, 2)) add({ resource, namespace });
      add({ resource, namespace: 'alpha', name: names[3] });
      for (const tier of tiers.slice(0, 2)) add({ resource, tier });
      add({ resource, namespace: 'gamma', tier: 'c' });
    }
  }

  private async follow(): Promise<void> {
    while (!this.following.signal.aborted) {
      await this.bench.follower.refresh();
      await delay(200);
    }
  }

  private get isOver(): boolean {
    return this.options.stopEarly === true && this.report.failures() > 0;
  }

  /** Disturbances come and heal. In between is a calm moment in which single writes have to arrive by themselves. */
  private async disturb(): Promise<void> {
    const { workers = 1, disturbances } = this.options;
    const all = workers > 1 ? [...disturbanceNames, ...workerDisturbanceNames] : disturbanceNames;
    const chosen = disturbances ?? all;
    const begin = performance.now();
    const end = begin + this.options.seconds * 1000;
    let tenths = 0;
    let turn: DisturbanceName[] = [];
    while (performance.now() < end && !this.isOver) {
      await this.pause(1000 + this.random.below(2000), end);
      if (turn.length === 0) turn = shuffled(chosen, this.random);
      const name = turn.pop();
      if (name !== undefined && performance.now() < end && !this.isOver) {
        this.log(`${name} at version ${this.history.applied}`);
        await this.disturbances.run(name);
        this.report.count(`disturbance: ${name}`);
      }
      await this.pause(1000 + this.random.below(1000), end);
      if (!this.isOver) await this.calmRound();
      const reached = Math.floor((10 * (performance.now() - begin)) / (end - begin));
      if (reached > tenths && !this.isOver) {
        tenths = reached;
        await this.pastRound();
      }
    }
  }

  private async pastRound(): Promise<void> {
    const { bench, past } = this;
    if (past === undefined) return;
    await bench.view.hush();
    try {
      await past.compareNow();
    } finally {
      bench.view.resume();
    }
    await past.compareAll();
  }

  private async pause(ms: number, end: number): Promise<void> {
    const until = Math.min(end, performance.now() + ms);
    while (performance.now() < until && !this.isOver) await delay(50);
  }

  /** Only this function writes now; each single write has to reach the open watches. */
  private async calmRound(): Promise<void> {
    const { bench } = this;
    await bench.view.hush();
    try {
      const writer = new Writer(bench, this.random);
      const kind = kinds[0] as WorkedKind;
      for (let i = 0; i < bench.view.size * 2 && !this.isOver; i++) {
        const server = i % bench.view.size;
        const name = `calm-${server}-${bench.ledger.issue()}`;
        const key = { resource: kind.resource, namespace: 'alpha', name };
        const path = `${kind.path('alpha')}/${name}`;
        const version = await writer.create(server, { kind, key, path });
        if (version === undefined) return;
        if (!(await this.reaches(version, server))) return;
        await bench.view.send(server, 'DELETE', path, [200]);
      }
    } finally {
      bench.view.resume();
    }
  }

  /** Waits until every open pinned watch has the version; false when one has to be blamed. */
  private async reaches(version: number, writtenThrough: number): Promise<boolean> {
    const pinned = this.watchers.filter(({ options }) => options.server !== undefined);
    const promptMs = this.options.promptMs ?? 15_000;
    const deadline = performance.now() + promptMs;
    for (const watcher of pinned) {
      const { check } = watcher.options;
      while (watcher.isOpen && check.newest < version) {
        if (performance.now() > deadline) {
          const evidence = { watcher: check.title, version, writtenThrough, newest: check.newest };
          this.report.fail('watch-prompt', `a single write did not arrive within ${promptMs} ms`, evidence);
          return false;
        }
        await delay(5);
      }
      if (watcher.isOpen) this.report.pass('watch-prompt');
    }
    return true;
  }

  /** Waits until every watcher has all of its entries of the log, and blames those that do not get them. */
  private async drain(): Promise<void> {
    const deadline = performance.now() + drainMs;
    const isDone = () => this.bench.follower.waiting === 0 && this.checks.every((check) => !check.outstanding());
    while (!(await this.bench.follower.refresh()) || !isDone()) {
      if (performance.now() > deadline || this.isOver) break;
      await delay(200);
    }
    for (const check of this.checks) {
      const missing = check.outstanding();
      if (missing === undefined || this.isOver) continue;
      const evidence = { watcher: check.title, range: check.range, missing, applied: this.history.applied };
      this.report.fail('watch-complete', `an entry of the log did not arrive within ${drainMs} ms`, evidence);
    }
  }
}

function shuffled<T>(values: readonly T[], random: Random): T[] {
  const rest = [...values];
  const order: T[] = [];
  while (rest.length > 0) order.push(...rest.splice(random.below(rest.length), 1));
  return order;
}
