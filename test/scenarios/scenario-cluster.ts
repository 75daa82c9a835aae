import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { ensureServiceAccountKey } from '../../src/tools/cli/pki/service-account-key.js';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { endWithUs, forgetFolder, removeWithUs } from '../support/child-guard.js';
import { Scene } from './scene.js';

/** Whose control loops run, and what happens to them meanwhile. */
export interface ScenarioClusterOptions {
  /** The folder of upstream's binaries, to run those instead of our own loops. */
  readonly upstream?: string | undefined;
  /** How many processes of our own with loops; one leads. Default 1. */
  readonly loops?: number;
  /** How many simulated nodes; default 5. */
  readonly nodes?: number;
  /** Pods that each of them takes; default: as many as the program says. */
  readonly podsPerNode?: number;
  /** Further flags of upstream's controller manager. */
  readonly upstreamFlags?: readonly string[] | undefined;
  /** Further flags of upstream's scheduler. */
  readonly schedulerFlags?: readonly string[] | undefined;
  /** How long a scenario waits for each of its steps. */
  readonly patienceMs?: number;
}

let scenes = 0;

/** Two servers, simulated nodes and control loops: all processes of their own, over the real API. */
export class ScenarioCluster {
  private readonly loops: ChildProcess[] = [];
  private readonly others: ChildProcess[] = [];
  private simulated: ChildProcess | undefined;
  private isEnding = false;

  private constructor(
    readonly cluster: TestCluster,
    private readonly options: ScenarioClusterOptions,
    private readonly directory: string,
    private readonly tokenKey: string,
  ) {}

  static async start(options: ScenarioClusterOptions = {}): Promise<ScenarioCluster> {
    const { upstream, loops = 1, nodes = 5 } = options;
    const compat = upstream === undefined ? [] : ['--compat=kubernetes'];
    const directory = mkdtempSync(join(tmpdir(), 'plinth-scenarios-'));
    removeWithUs(directory);
    const tokenKey = await ensureServiceAccountKey(directory);
    const cluster = await TestCluster.start({
      flags: ['--authorization-mode=Node,RBAC', `--service-account-signing-key-file=${tokenKey}`, ...compat],
      accounts: true,
    });
    const made = new ScenarioCluster(cluster, options, directory, tokenKey);
    try {
      if (upstream === undefined) for (let i = 0; i < loops; i++) made.startLoops();
      else made.startUpstream(upstream);
      if (nodes > 0) {
        made.simulated = cluster.startProgram('nodes', [
          `--kubeconfig=${cluster.second.kubeconfig}`,
          `--count=${nodes}`,
          '--simulated-storage-class',
          ...(options.podsPerNode === undefined ? [] : [`--node-pods=${options.podsPerNode}`]),
          ...compat,
        ]);
        made.watch(made.simulated, 'the simulated nodes');
      }
      const { client } = cluster.first;
      await eventually(
        async () => {
          const { body } = await client.get('/api/v1/nodes?limit=1');
          const [first] = body.items ?? [];
          return (first === undefined ? 0 : 1 + (body.metadata.remainingItemCount ?? 0)) === nodes;
        },
        'the nodes',
        120_000,
      );
      await eventually(
        async () => (await client.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200,
        'the first service account',
      );
      return made;
    } catch (error) {
      await made.stop();
      throw error;
    }
  }

  /** A new namespace, seen through one of the servers. */
  async scene(): Promise<Scene> {
    const { servers } = this.cluster;
    const server = servers[scenes % servers.length];
    if (server === undefined) throw new Error('there is no server');
    const namespace = `scene-${scenes++}`;
    const answer = await server.client.post('/api/v1/namespaces', { metadata: { name: namespace } });
    if (answer.status !== 201) throw new Error(answer.text);
    const account = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    await eventually(async () => (await server.client.get(account)).status === 200, 'the service account', 90_000);
    return new Scene(server.client, namespace, this.options.patienceMs ?? 60_000);
  }

  /** Kills a process with our own loops, the leading one if it was there first, and starts another. */
  async killLoops(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.loops.shift();
    this.startLoops();
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }

  /** Stops the older process with loops for this many milliseconds, as an overloaded machine does. */
  async freezeLoops(milliseconds: number): Promise<void> {
    const child = this.loops.shift();
    if (child === undefined) return;
    this.loops.push(child);
    child.kill('SIGSTOP');
    await delay(milliseconds);
    child.kill('SIGCONT');
  }

  /** Ends all connections to the database, of all processes. */
  async cutDatabase(): Promise<void> {
    const client = new pg.Client({ connectionString: this.cluster.databaseUrl });
    await client.connect();
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    await client.end();
  }

  /** The processes with loops. */
  get pids(): readonly number[] {
    return [...this.loops, ...this.others].flatMap(({ pid }) => pid ?? []);
  }

  /** All processes besides the database, and what they are. */
  get processes(): readonly { readonly name: string; readonly pid: number }[] {
    const { servers } = this.cluster;
    const named: [string, number | undefined][] = [
      ...servers.map((server, i): [string, number | undefined] => [`server ${i + 1}`, server.process.pid]),
      ...this.loops.map((child): [string, number | undefined] => ['loops', child.pid]),
      ...this.others.map((child): [string, number | undefined] => [basename(child.spawnfile), child.pid]),
      ['simulated nodes', this.simulated?.pid],
    ];
    return named.flatMap(([name, pid]) => (pid === undefined ? [] : { name, pid }));
  }

  /** What upstream's binaries logged as errors. */
  upstreamErrors(): string[] {
    if (this.options.upstream === undefined) return [];
    return ['manager.log', 'scheduler.log'].flatMap((log) =>
      readFileSync(join(this.directory, log), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('E')),
    );
  }

  async stop(): Promise<void> {
    this.isEnding = true;
    for (const child of this.others) child.kill();
    await this.cluster.stop();
    rmSync(this.directory, { recursive: true, force: true });
    forgetFolder(this.directory);
  }

  private startLoops(): void {
    const child = this.cluster.startControllers([
      '--authorization-mode=Node,RBAC',
      `--service-account-private-key-file=${this.tokenKey}`,
      `--root-ca-file=${this.cluster.pki.authorityFile}`,
    ]);
    this.loops.push(child);
    this.watch(child, 'a process with loops');
  }

  private startUpstream(folder: string): void {
    const { cluster } = this;
    const { pki } = cluster;
    const { directory } = this;
    // The tasks of this program that are not control loops of the binaries.
    cluster.startProgram('controllers', ['--controllers=-*', '--compat=kubernetes', '--authorization-mode=Node,RBAC']);
    const kubeconfig = `--kubeconfig=${cluster.first.kubeconfig}`;
    this.startBinary(join(folder, 'kube-controller-manager'), join(directory, 'manager.log'), [
      kubeconfig,
      '--use-service-account-credentials',
      `--root-ca-file=${pki.authorityFile}`,
      `--service-account-private-key-file=${this.tokenKey}`,
      `--cluster-signing-cert-file=${pki.authorityFile}`,
      `--cluster-signing-key-file=${pki.authorityKeyFile}`,
      '--port=0',
      '--secure-port=0',
      '--controllers=*',
      '--feature-gates=TTLAfterFinished=true',
      ...(this.options.upstreamFlags ?? []),
    ]);
    this.startBinary(join(folder, 'kube-scheduler'), join(directory, 'scheduler.log'), [
      kubeconfig,
      '--port=0',
      '--secure-port=0',
      ...(this.options.schedulerFlags ?? []),
    ]);
  }

  private startBinary(program: string, log: string, flags: readonly string[]): void {
    const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr?.pipe(createWriteStream(log));
    endWithUs(child);
    this.others.push(child);
    this.watch(child, program);
  }

  private watch(child: ChildProcess, what: string): void {
    child.once('exit', (code, signal) => {
      if (!this.isEnding) console.error(`${what} ended with ${code ?? signal}`);
    });
  }
}
