import { setTimeout as delay } from 'node:timers/promises';
import { type Peer, useOf } from '../peers/peer.js';
import { type Answer, Connections } from './connections.js';
import { leaseOf, leases, microTime, namespace, nodeName, nodeOf, nodes, podOf, pods, statusPatch } from './objects.js';

export interface FleetOptions {
  readonly leaseSeconds: number;
  readonly statusSeconds: number;
  readonly podsPerNode: number;
  /** Pods per second that come, and as many that go. */
  readonly churn: number;
  readonly getsPerSecond: number;
  /** Requests under way at most. */
  readonly connections: number;
}

/** What a stretch of time showed. Latencies in milliseconds, from the time when the request was due. */
export interface Measure {
  readonly nodes: number;
  readonly seconds: number;
  readonly renewals: number;
  readonly renewal: Latencies;
  readonly gets: Latencies;
  readonly errors: number;
  /** Processor time of everything, in microseconds for each renewal. */
  readonly serverUs: number;
  readonly storeUs: number;
}

export interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

const tickMs = 5;
const parallelSetups = 64;
/** Without an end in sight, the rest of the stretch would show nothing new. */
const hopeless = 20_000;

/**
 * The agents of a cluster's nodes. Every request is due at a fixed time, whatever became of those before it, as agents on
 * machines of their own send it: a server that falls behind shows it by its latencies.
 */
export class Fleet {
  private readonly texts: string[] = [];
  /** The last renewal of each node, which the next one waits for, as in an agent. */
  private readonly renewals: Promise<void>[] = [];
  private podCount = 0;
  private oldestPod = 0;
  private errors = 0;

  private constructor(
    private readonly peer: Peer,
    private readonly options: FleetOptions,
    private readonly connections: Connections,
  ) {}

  static async open(peer: Peer, options: FleetOptions): Promise<Fleet> {
    const connections = await Connections.open(peer.url, peer.token, options.connections);
    const fleet = new Fleet(peer, options, connections);
    await fleet.expect(
      connections.send('POST', '/api/v1/namespaces', JSON.stringify({ metadata: { name: namespace } })),
    );
    // As the loop for the life of nodes, the scheduler and the agents' controllers do.
    for (const path of [leases, nodes, pods]) await connections.watch(`${path}?watch=1`, () => undefined);
    return fleet;
  }

  close(): void {
    this.connections.close();
  }

  /** Adds nodes with their leases and pods until there are `count`. */
  async grow(count: number): Promise<void> {
    let next = this.texts.length;
    const work = async () => {
      for (let index = next++; index < count; index = next++) {
        const name = nodeName(index);
        const lease = await this.expect(this.connections.send('POST', leases, JSON.stringify(leaseOf(name))));
        this.texts[index] = lease.text;
        await this.expect(this.connections.send('POST', nodes, JSON.stringify(nodeOf(name))));
        for (let i = 0; i < this.options.podsPerNode; i++) await this.addPod(name);
      }
    };
    await Promise.all(Array.from({ length: parallelSetups }, work));
  }

  /** Lets all nodes live for a while, and measures after the first `warmSeconds`. */
  async live(warmSeconds: number, seconds: number): Promise<Measure> {
    const renewal: number[] = [];
    const gets: number[] = [];
    let isMeasured = false;
    const count = this.texts.length;
    const began = performance.now();
    const { leaseSeconds, statusSeconds, churn, getsPerSecond } = this.options;
    const noted = (list: number[]) => (latency: number) => void (isMeasured && list.push(latency));
    const stream = (perSecond: number, request: (serial: number) => Promise<void>, list: number[] = []) =>
      new Stream(perSecond, request, noted(list), () => void this.errors++);
    const streams = [
      stream(count / leaseSeconds, (i) => this.renew(i % count), renewal),
      stream(count / statusSeconds, (i) => this.patchStatus(i % count)),
      stream(churn, (i) => this.addPod(nodeName(i % count))),
      stream(churn, () => this.removePod()),
      stream(getsPerSecond, (i) => this.get(i), gets),
    ];
    let before = this.use();
    let measuredFrom = began;
    const warmUntil = began + warmSeconds * 1000;
    const until = warmUntil + seconds * 1000;
    for (let now = performance.now(); now < until; now = performance.now()) {
      if (!isMeasured && now >= warmUntil) {
        isMeasured = true;
        measuredFrom = now;
        before = this.use();
        this.errors = 0;
      }
      for (const stream of streams) stream.send(began, now);
      if (this.connections.queued > hopeless) break;
      await delay(tickMs);
    }
    const after = this.use();
    const elapsed = (performance.now() - measuredFrom) / 1000;
    const answered = renewal.length;
    await Promise.all(streams.map((stream) => stream.drained()));
    return {
      nodes: count,
      seconds: elapsed,
      renewals: answered,
      renewal: latencies(renewal),
      gets: latencies(gets),
      errors: this.errors,
      serverUs: ((after.server - before.server) * 1e6) / answered,
      storeUs: ((after.store - before.store) * 1e6) / answered,
    };
  }

  private use() {
    const { server, store } = this.peer.roots;
    return { server: useOf(server).processorSeconds, store: useOf(store).processorSeconds };
  }

  private renew(index: number): Promise<void> {
    const next = (this.renewals[index] ?? Promise.resolve()).then(() => this.renewNow(index));
    this.renewals[index] = next.catch(() => undefined);
    return next;
  }

  private async renewNow(index: number): Promise<void> {
    const text = this.texts[index] as string;
    const body = text.replace(/("renewTime":")[^"]*/, `$1${microTime()}`);
    const answer = await this.connections.send('PUT', `${leases}/${nodeName(index)}`, body);
    if (answer.status === 200) this.texts[index] = answer.text;
    else this.errors++;
  }

  private async patchStatus(index: number): Promise<void> {
    const type = 'application/strategic-merge-patch+json';
    const path = `${nodes}/${nodeName(index)}/status`;
    if ((await this.connections.send('PATCH', path, statusPatch(), type)).status !== 200) this.errors++;
  }

  private async addPod(node: string): Promise<void> {
    const name = `pod-${this.podCount++}`;
    const { status } = await this.connections.send('POST', pods, JSON.stringify(podOf(name, node)));
    if (status !== 201) this.errors++;
  }

  private async removePod(): Promise<void> {
    const path = `${pods}/pod-${this.oldestPod++}?gracePeriodSeconds=0`;
    const { status } = await this.connections.send('DELETE', path);
    if (status !== 200 && status !== 404) this.errors++;
  }

  private async get(serial: number): Promise<void> {
    const index = (serial * 7919) % this.texts.length;
    if ((await this.connections.send('GET', `${nodes}/${nodeName(index)}`)).status !== 200) this.errors++;
  }

  private async expect(sent: Promise<Answer>): Promise<Answer> {
    const answer = await sent;
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  }
}

/** Requests that are due at a fixed rate. */
class Stream {
  private sent = 0;
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly perSecond: number,
    private readonly request: (serial: number) => Promise<void>,
    private readonly note: (latencyMs: number) => void,
    private readonly onFailure: () => void,
  ) {}

  send(beganMs: number, nowMs: number): void {
    if (this.perSecond === 0) return;
    const due = Math.floor(((nowMs - beganMs) / 1000) * this.perSecond) + 1;
    for (; this.sent < due; this.sent++) {
      const dueMs = beganMs + (this.sent / this.perSecond) * 1000;
      const one: Promise<void> = this.request(this.sent)
        .then(
          () => this.note(performance.now() - dueMs),
          () => this.onFailure(),
        )
        .finally(() => this.underWay.delete(one));
      this.underWay.add(one);
    }
  }

  async drained(): Promise<void> {
    await Promise.all(this.underWay);
  }
}

function latencies(all: number[]): Latencies {
  all.sort((a, b) => a - b);
  const at = (part: number) => all[Math.floor((all.length - 1) * part)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
