import { times } from './attacks/bodies.js';
import type { Plane } from './plane.js';
import { Requester, type Shot } from './requester.js';

/** One response to an honest tenant. */
export interface Outcome {
  readonly at: number;
  readonly ms: number;
  /** What was wrong with the response, such as a status that no honest request should get. */
  readonly fault?: string;
}

export const probeNames = ['get', 'lease', 'livez', 'list', 'create', 'watch'] as const;
export type ProbeName = (typeof probeNames)[number];
export const honestNamespace = 'honest';
export const honestAccount = 'tenant';

const everyMs: Readonly<Record<ProbeName, number>> = {
  get: 30,
  lease: 60,
  livez: 60,
  list: 250,
  create: 250,
  watch: 0,
};
/** An honest tenant gives up a request after this time. */
const patienceMs = 30_000;
/** A server that does not respond gets at most this many concurrent requests of a kind. */
const mostUnderWay = 100;
const maps = `/api/v1/namespaces/${honestNamespace}/configmaps`;

/**
 * Honest tenants, which send requests at a steady rate whatever the responses are, so a server that stands still delays
 * all requests that arrive meanwhile: gets and lists of a service account, leases of nodes, health checks, creates, and
 * the time from such a create to its watch event on the other server.
 */
export class HonestProbes {
  private readonly outcomes = new Map<ProbeName, Outcome[]>(probeNames.map((name) => [name, []]));
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly requesters: Requester[] = [];
  private readonly created = new Map<string, number>();
  private readonly underWay = new Map<ProbeName, number>();
  private isOver = false;
  private turn = 0;

  private constructor() {}

  /** @param token of the honest account, which has the rights for all probes */
  static async start(plane: Plane, token: string): Promise<HonestProbes> {
    const probes = new HonestProbes();
    const each = (bearer: string | undefined, headers = {}) =>
      plane.urls.map((url) => probes.own(new Requester(url, bearer, headers, mostUnderWay)));
    const accounts = each(token);
    const nodes = times(20, (i) => {
      const node = { 'impersonate-user': `system:node:honest-${i}`, 'impersonate-group': 'system:nodes' };
      return each(plane.adminToken, node)[i % plane.urls.length] as Requester;
    });
    const nobody = each(undefined);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    for (const [i, node] of nodes.entries()) {
      const body = { metadata: { name: `honest-${i}` }, spec: {} };
      await node.must({ method: 'POST', path: leases, body }, 201, 409);
    }
    const [first] = accounts as [Requester];
    for (let i = 0; i < 50; i++) {
      const body = { metadata: { name: `kept-${i}`, labels: { kept: 'yes' } }, data: { text: 'x'.repeat(1024) } };
      await first.must({ method: 'POST', path: maps, body }, 201, 409);
    }
    probes.every('get', () => probes.probe('get', accounts, { method: 'GET', path: `${maps}/kept-0` }));
    // A node has one renewal at a time: its next one comes after those of all other nodes.
    const atRest = [...nodes.entries()];
    probes.every('lease', async () => {
      const next = atRest.shift();
      if (next === undefined) return;
      const [i, node] = next;
      await probes.probe('lease', [node], probes.renewal(`${leases}/honest-${i}`));
      atRest.push(next);
    });
    probes.every('livez', () => probes.probe('livez', nobody, { method: 'GET', path: '/livez' }));
    probes.every('list', () =>
      probes.probe('list', accounts, { method: 'GET', path: `${maps}?labelSelector=kept%3Dyes` }),
    );
    probes.every('create', () => probes.create(accounts));
    void probes.watch(accounts.at(-1) as Requester);
    return probes;
  }

  /** The responses to requests that began in a period of `performance.now()`. */
  between(name: ProbeName, from: number, until: number): Outcome[] {
    return (this.outcomes.get(name) as Outcome[]).filter(({ at }) => at >= from && at < until);
  }

  stop(): void {
    this.isOver = true;
    for (const timer of this.timers) clearInterval(timer);
    for (const requester of this.requesters) requester.close();
  }

  private own(requester: Requester): Requester {
    this.requesters.push(requester);
    return requester;
  }

  private every(name: ProbeName, send: () => Promise<unknown>): void {
    this.timers.push(
      setInterval(() => {
        const count = this.underWay.get(name) ?? 0;
        if (count >= mostUnderWay) return;
        this.underWay.set(name, count + 1);
        void send().finally(() => this.underWay.set(name, (this.underWay.get(name) ?? 1) - 1));
      }, everyMs[name]),
    );
  }

  private renewal(path: string): Shot {
    return { method: 'PATCH', path, body: { spec: { renewTime: new Date().toISOString().replace('Z', '000Z') } } };
  }

  private async probe(name: ProbeName, requesters: readonly Requester[], shot: Shot): Promise<boolean> {
    const at = performance.now();
    const requester = requesters[this.turn++ % requesters.length] as Requester;
    try {
      const { status } = await requester.send(shot, patienceMs);
      const isGood = status < 300;
      this.note(name, at, isGood ? undefined : String(status));
      return isGood;
    } catch (error) {
      this.note(name, at, error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : 'failed');
      return false;
    }
  }

  private note(name: ProbeName, at: number, fault: string | undefined): void {
    if (this.isOver) return;
    const ms = performance.now() - at;
    (this.outcomes.get(name) as Outcome[]).push(fault === undefined ? { at, ms } : { at, ms, fault });
  }

  private async create(accounts: readonly Requester[]): Promise<void> {
    const name = `made-${this.turn}-${Math.round(performance.now())}`;
    this.created.set(name, performance.now());
    const isMade = await this.probe('create', accounts, {
      method: 'POST',
      path: maps,
      body: { metadata: { name, labels: { made: 'yes' } } },
    });
    if (!isMade) this.created.delete(name);
    await accounts[0]?.send({ method: 'DELETE', path: `${maps}/${name}` }, patienceMs).catch(() => undefined);
  }

  /** Watches the created objects, and counts those that never appear. */
  private async watch(requester: Requester): Promise<void> {
    const path = `${maps}?watch=true&labelSelector=made%3Dyes&timeoutSeconds=3600`;
    while (!this.isOver) {
      try {
        const response = await requester.open({ method: 'GET', path }, patienceMs);
        let rest = '';
        for await (const chunk of response) {
          const lines = (rest + (chunk as Buffer).toString('utf8')).split('\n');
          rest = lines.pop() ?? '';
          for (const line of lines) this.seen(line);
        }
      } catch {
        // The next watch continues; missed events count as late below.
      }
      const now = performance.now();
      for (const [name, at] of this.created) {
        if (now - at < patienceMs) continue;
        this.note('watch', at, 'never seen');
        this.created.delete(name);
      }
    }
  }

  private seen(line: string): void {
    if (!line.includes('"ADDED"')) return;
    const name = /"name":"(made-[^"]+)"/.exec(line)?.[1];
    const at = name === undefined ? undefined : this.created.get(name);
    if (name === undefined || at === undefined) return;
    this.created.delete(name);
    this.note('watch', at, undefined);
  }
}
