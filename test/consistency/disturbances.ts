import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { childrenOf } from '../e2e/support/processes.js';
import type { TestCluster, TestServer } from '../e2e/support/test-cluster.js';
import type { Random } from '../support/random.js';
import type { TcpProxy } from '../support/tcp-proxy.js';

export const disturbanceNames = [
  'postgres-crash',
  'postgres-restart',
  'listeners-cut',
  'listeners-silent',
  'sessions-cut',
  'server-killed',
  'servers-rolled',
  'history-cut',
] as const;
/** What else can happen to servers with workers. */
export const workerDisturbanceNames = ['worker-killed', 'worker-stopped', 'worker-frozen', 'parent-frozen'] as const;
export type DisturbanceName = (typeof disturbanceNames)[number] | (typeof workerDisturbanceNames)[number];

/** The disturbances of a cluster, one after another; each heals before it returns. */
export class Disturbances {
  constructor(
    private readonly cluster: TestCluster,
    private readonly proxy: TcpProxy,
    private readonly random: Random,
    /** Flags that every server of the run has. */
    private readonly flags: readonly string[],
  ) {}

  /** Causes the disturbance and waits until every server is ready again. */
  async run(name: DisturbanceName): Promise<void> {
    switch (name) {
      case 'postgres-crash':
      case 'postgres-restart':
        await this.cluster.postgres.shutDown(name === 'postgres-crash' ? 'immediate' : 'fast');
        await delay(this.random.below(1500));
        await this.cluster.postgres.startAgain();
        break;
      case 'listeners-cut':
        // Refuses for a while, so that changes have to be found without notifications.
        this.proxy.cut(true);
        await delay(this.random.below(3000));
        this.proxy.cut();
        break;
      case 'listeners-silent':
        // Nothing arrives and nothing is closed, for longer than the servers take to notice.
        this.proxy.holdAnswers();
        this.proxy.holdRequests();
        await delay(5000 + this.random.below(6000));
        this.proxy.cut();
        break;
      case 'sessions-cut':
        await this.cutSessions();
        break;
      case 'server-killed':
        await this.restart(this.random.pick(this.cluster.servers), 'SIGKILL');
        break;
      case 'servers-rolled':
        for (const server of [...this.cluster.servers]) await this.restart(server, 'SIGTERM');
        break;
      case 'history-cut':
        // A process that starts afterwards has no memory of earlier versions.
        await this.cutHistory();
        await this.restart(this.random.pick(this.cluster.servers), 'SIGKILL');
        break;
      case 'worker-killed':
        process.kill(this.worker(), 'SIGKILL');
        break;
      case 'worker-stopped':
        process.kill(this.worker(), 'SIGTERM');
        break;
      case 'worker-frozen':
        await this.freeze(this.worker());
        break;
      case 'parent-frozen':
        await this.freeze(this.random.pick(this.cluster.servers).process.pid as number);
        break;
    }
    await this.healed();
  }

  /** Resolves once every server says it is ready. */
  async healed(): Promise<void> {
    const deadline = performance.now() + 60_000;
    for (const server of this.cluster.servers) {
      while ((await server.client.get('/readyz').catch(() => undefined))?.status !== 200) {
        if (performance.now() > deadline) throw new Error(`not ready again: ${server.url}\n${server.log.slice(-2000)}`);
        await delay(50);
      }
    }
  }

  private async restart(server: TestServer, signal: NodeJS.Signals): Promise<void> {
    const { servers } = this.cluster;
    servers.splice(servers.indexOf(server), 1);
    await server.stop(signal);
    await this.cluster.addServer(Number(new URL(server.url).port), this.flags);
  }

  private worker(): number {
    return this.random.pick(childrenOf(this.random.pick(this.cluster.servers).process.pid as number));
  }

  private async freeze(pid: number): Promise<void> {
    process.kill(pid, 'SIGSTOP');
    await delay(1000 + this.random.below(9000));
    process.kill(pid, 'SIGCONT');
  }

  private async cutSessions(): Promise<void> {
    await this.asAdmin((client) =>
      client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name not like 'consistency%'
           and random() < 0.7`,
      ),
    );
  }

  /** Raises the oldest version for lists and watches, as log upkeep does. */
  private async cutHistory(): Promise<void> {
    await this.asAdmin((client) =>
      client.query(
        `update plinth.retention set compact_revision = greatest(compact_revision, (select head from plinth.log_bounds()) - $1::bigint)`,
        [this.random.below(50)],
      ),
    );
  }

  private async asAdmin(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
    const client = new pg.Client({
      connectionString: this.cluster.databaseUrl,
      application_name: 'consistency disturbance',
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      await work(client);
    } finally {
      await client.end();
    }
  }
}
