import type { ApiResponse } from '../e2e/support/api-client.js';
import type { TestServer } from '../e2e/support/test-cluster.js';

/** The clients' operations, by answer. */
export interface LoadReport {
  /** Answers by `<operation> <status>`; `lost` for requests whose server was killed. */
  readonly answers: ReadonlyMap<string, number>;
  /** Refusals that their own numbers do not justify, and answers that nobody expects. */
  readonly faults: readonly string[];
}

type Operation = (client: number, server: TestServer) => Promise<ApiResponse>;

/**
 * Clients that create, change and delete pods, config maps and services of one namespace as fast as the servers allow,
 * each for itself, until the time is over.
 */
export class QuotaLoad {
  private readonly answers = new Map<string, number>();
  private readonly faults: string[] = [];
  /** Names that each client may have made, by resource. */
  private readonly names: Map<string, string[]>[] = [];
  private serial = 0;

  constructor(
    private readonly namespace: string,
    private readonly servers: () => readonly TestServer[],
    private readonly random: () => number,
  ) {}

  async run(clients: number, until: number): Promise<LoadReport> {
    await Promise.all(Array.from({ length: clients }, (_, client) => this.work(client, until)));
    return { answers: this.answers, faults: this.faults };
  }

  private async work(client: number, until: number): Promise<void> {
    this.names[client] = new Map();
    while (performance.now() < until) {
      const [name, operation] = this.choose(client);
      const alive = this.servers();
      const server = alive[Math.floor(this.random() * alive.length)];
      if (server === undefined) continue;
      try {
        this.note(name, await operation(client, server));
      } catch {
        // Its server was killed: the outcome of the write is unknown.
        this.count(`${name} lost`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  }

  private choose(client: number): readonly [string, Operation] {
    const mine = (resource: string) => this.names[client]?.get(resource)?.length ?? 0;
    const dice = this.random();
    if (dice < 0.25) return ['create pod', this.createPod];
    if (dice < 0.45) return ['create configmap', this.create('configmaps', () => ({}))];
    if (dice < 0.55) return ['create service', this.create('services', () => ({ spec: this.service() }))];
    if (dice < 0.7 && mine('services') > 0) return ['resize service', this.resize];
    const resource = (['pods', 'configmaps', 'services'] as const)[Math.floor(this.random() * 3)] ?? 'pods';
    if (mine(resource) === 0) return ['create pod', this.createPod];
    return [`delete ${resource.slice(0, -1)}`, this.remove(resource)];
  }

  private path(resource: string, name = ''): string {
    return `/api/v1/namespaces/${this.namespace}/${resource}${name === '' ? '' : `/${name}`}`;
  }

  private create(resource: string, content: () => object): Operation {
    return (client, server) => {
      const name = `${resource[0]}${client}-${++this.serial}`;
      const names = this.names[client]?.get(resource) ?? [];
      names.push(name);
      this.names[client]?.set(resource, names);
      return server.client.post(this.path(resource), { metadata: { name }, ...content() });
    };
  }

  private readonly createPod: Operation = (client, server) =>
    this.create('pods', () => {
      const cpu = `${1 + Math.floor(this.random() * 300)}m`;
      return { spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] } };
    })(client, server);

  private service(): object {
    const type = this.random() < 0.5 ? 'LoadBalancer' : 'ClusterIP';
    const ports = [{ port: 80 }];
    return type === 'ClusterIP' ? { type, ports } : { type, ports, allocateLoadBalancerNodePorts: false };
  }

  private readonly resize: Operation = (client, server) => {
    const names = this.names[client]?.get('services') ?? [];
    const name = names[Math.floor(this.random() * names.length)] as string;
    return server.client.patch(this.path('services', name), 'merge', {
      spec: { allocateLoadBalancerNodePorts: null, ...this.service() },
    });
  };

  private remove(resource: string): Operation {
    return (client, server) => {
      const names = this.names[client]?.get(resource) ?? [];
      const [name] = names.splice(Math.floor(this.random() * names.length), 1);
      return server.client.delete(this.path(resource, name), { gracePeriodSeconds: 0 });
    };
  }

  private note(name: string, { status, text, body }: ApiResponse): void {
    this.count(`${name} ${status}`);
    if (status === 403) {
      const fault = unjustified(body.message);
      if (fault !== undefined) this.faults.push(fault);
    } else if (![200, 201, 404, 429, 500, 503, 504].includes(status)) this.faults.push(`${name}: ${status} ${text}`);
  }

  private count(what: string): void {
    this.answers.set(what, (this.answers.get(what) ?? 0) + 1);
  }
}

/** The fault of a refusal whose own numbers show that the write fits. */
function unjustified(message: string): string | undefined {
  const found = /exceeded quota: \w+, requested: (.*), used: (.*), limited: (.*)$/.exec(message);
  if (found === null) return `refused for another reason: ${message}`;
  const [requested, used, limited] = found.slice(1).map(amounts) as [Amounts, Amounts, Amounts];
  for (const [name, limit] of limited) {
    if ((requested.get(name) ?? 0) + (used.get(name) ?? 0) <= limit) return `refused although it fits: ${message}`;
  }
  return undefined;
}

type Amounts = ReadonlyMap<string, number>;

function amounts(text: string): Amounts {
  return new Map(
    text.split(',').map((part) => {
      const [name = '', amount = ''] = part.split('=');
      return [name, milli(amount)] as const;
    }),
  );
}

/** Thousandths of an amount as the drill uses them: whole units or `m`. */
export function milli(amount: string): number {
  return amount.endsWith('m') ? Number(amount.slice(0, -1)) : Number(amount) * 1000;
}
