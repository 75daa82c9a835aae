import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ApiClient } from '../e2e/support/api-client.js';
import { TestCluster } from '../e2e/support/test-cluster.js';
import { unlessThere } from '../support/needs.js';
import { Random } from '../support/random.js';
import { CounterWatcher } from './counter-watcher.js';
import { CounterWriter } from './counter-writer.js';
import { electionPauses } from './etcd-election.js';
import { FailoverRecord } from './failover-record.js';
import { type FailoverKind, Failovers, failoverKinds } from './failovers.js';
import { PatroniSet, patroniNeeds } from './patroni-set.js';
import { openWay, wayNeeds, waysToPrimary } from './ways.js';

const { values } = parseArgs({
  options: {
    failovers: { type: 'string', default: '100' },
    writers: { type: 'string', default: '32' },
    watchers: { type: 'string', default: '6' },
    // Standbys that confirm nothing: the last commits may be lost, and must then be gone for everybody.
    asynchronous: { type: 'boolean', default: false },
    // How the servers reach the primary: hosts, haproxy or pooler.
    through: { type: 'string', default: 'hosts' },
    // One kind of failover alone.
    only: { type: 'string' },
    // Elections of an etcd of three members that are measured for comparison.
    elections: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});

const started = performance.now();
const log = (line: string) => console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s`, line);

function summary(pauses: readonly number[]): string {
  const sorted = [...pauses].sort((a, b) => a - b);
  const at = (share: number) =>
    ((sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) / 1000).toFixed(1);
  return `${sorted.length} times, without writes p50 ${at(0.5)} s, p99 ${at(0.99)} s`;
}

/** Waits until every watcher has the last state of every counter. */
async function drained(watchers: readonly CounterWatcher[], writers: readonly CounterWriter[]): Promise<string[]> {
  const deadline = performance.now() + 60_000;
  const missing = () =>
    watchers.flatMap(({ values: seen }, i) =>
      writers
        .filter(({ name, acknowledged }) => (seen.get(name) ?? 0) < acknowledged)
        .map(({ name, acknowledged }) => `watcher ${i} has ${name}=${seen.get(name)} of ${acknowledged}`),
    );
  while (missing().length > 0 && performance.now() < deadline) await delay(100);
  return missing();
}

/** Fails over again and again, and notes the pauses. Returns what ended it early, if anything did. */
async function failAll(
  failovers: Failovers,
  record: FailoverRecord,
  kinds: readonly FailoverKind[],
  pauses: Map<FailoverKind, number[]>,
): Promise<unknown> {
  const count = Number(values.failovers);
  try {
    for (let i = 0; i < count; i++) {
      const kind = kinds[i % kinds.length] as FailoverKind;
      const pauseMs = await failovers.run(kind);
      pauses.set(kind, [...(pauses.get(kind) ?? []), pauseMs]);
      const { acknowledged, violations, losses } = record;
      log(
        `${i + 1}/${count} ${kind}: ${(pauseMs / 1000).toFixed(1)} s without writes; so far ${acknowledged} writes, ` +
          `${losses.length} lost, ${violations.length} violations`,
      );
    }
    return undefined;
  } catch (error) {
    console.log('the check stops early:', error);
    return error ?? new Error('unknown');
  }
}

/** The largest value of a metric among the servers. */
async function newest(clients: readonly ApiClient[], name: string): Promise<number> {
  const pages = await Promise.all(clients.map((client) => client.get('/metrics')));
  const values = pages.flatMap(({ text }) => [...text.matchAll(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'gm'))]);
  return Math.max(0, ...values.map(([, value]) => Number(value)));
}

function printPauses(pauses: ReadonlyMap<FailoverKind, readonly number[]>): void {
  for (const [kind, each] of pauses) console.log(`${kind.padEnd(20)} ${summary(each)}`);
  console.log(`all failovers        ${summary([...pauses.values()].flat())}`);
}

function printCounts(record: FailoverRecord, watchers: readonly CounterWatcher[]): void {
  console.log('answers', Object.fromEntries([...record.answers].sort()));
  console.log(`${record.acknowledged} writes acknowledged, ${record.losses.length} states lost`);
  console.log(
    `watchers: ${watchers.map(({ events, relists }) => `${events} events, ${relists} lists anew`).join('; ')}`,
  );
}

async function main(): Promise<boolean> {
  const way = waysToPrimary.find((name) => name === values.through);
  if (way === undefined) throw new Error(`--through must be one of ${waysToPrimary.join(', ')}`);
  const missing = unlessThere('the check of failovers', [...patroniNeeds, ...wayNeeds[way]]);
  if (missing !== false) throw new Error(missing);
  log(`seed ${values.seed}; ${values.asynchronous ? 'asynchronous' : 'synchronous'} standbys; through ${way}`);
  const set = await PatroniSet.start({ isSynchronous: !values.asynchronous, log });
  const route = () => openWay(way, set);
  const cluster = await TestCluster.start({ servers: 2, route, accounts: false, flags: ['--watch-history=24h'] });
  const stop = new AbortController();
  const tasks: Promise<void>[] = [];
  try {
    const record = new FailoverRecord(values.asynchronous);
    const clients = cluster.servers.map(({ client }) => client);
    const writers = Array.from({ length: Number(values.writers) }, (_, i) => new CounterWriter(i, clients, record));
    const watchers = Array.from(
      { length: Number(values.watchers) },
      (_, i) =>
        new CounterWatcher(`watcher ${i}`, i % 2 === 0 ? clients : [...clients].reverse(), record, values.asynchronous),
    );
    const writing = new AbortController();
    tasks.push(
      ...writers.map((writer) => writer.run(writing.signal)),
      ...watchers.map((watcher) => watcher.run(stop.signal)),
    );
    await record.nextWrite();
    const failovers = new Failovers(set, record, new Random(Number(values.seed)), log);
    const pauses = new Map<FailoverKind, number[]>();
    const chosen = failoverKinds.filter((kind) => values.only === undefined || kind === values.only);
    // What was seen until a failure counts.
    const failure = await failAll(failovers, record, chosen, pauses);
    writing.abort();
    await Promise.all(tasks.slice(0, writers.length));
    if (failure === undefined) record.violations.push(...(await drained(watchers, writers)));
    stop.abort();
    await Promise.all(tasks);
    printPauses(pauses);
    const elections = failure === undefined ? Number(values.elections) : 0;
    if (elections > 0) console.log(`elections of etcd    ${summary(await electionPauses(elections, log))}`);
    printCounts(record, watchers);
    const [epoch, missing] = [
      await newest(clients, 'storage_epoch'),
      await newest(clients, 'storage_missing_versions_total'),
    ];
    console.log(`the servers are in epoch ${epoch}, and count ${missing} missing versions at most`);
    if (record.losses.length > 0 && (epoch < 2 || missing === 0))
      record.violation('the servers do not say that states were lost');
    const wrong = values.asynchronous ? record.violations : [...record.violations, ...record.losses];
    for (const line of wrong.slice(0, 50)) console.log('VIOLATION', line);
    console.log(wrong.length === 0 ? '\nno violation' : `\n${wrong.length} violations; seed ${values.seed}`);
    return wrong.length === 0 && failure === undefined;
  } finally {
    stop.abort();
    await cluster.stop();
    await set.stop();
  }
}

process.exitCode = (await main()) ? 0 : 1;
process.exit();
