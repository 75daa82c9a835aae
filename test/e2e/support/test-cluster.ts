import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/base/machinery/clock.js';
import { formatKubeconfig } from '../../../src/tools/cli/kubeconfig.js';
import { ensurePki, type Pki } from '../../../src/tools/cli/pki/pki.js';
import { endWithUs, forgetFolder, removeWithUs } from '../../support/child-guard.js';
import { mainFile as ownMainFile } from '../../support/main-file.js';
import { PgBouncer } from '../../support/pgbouncer.js';
import { freePort } from '../../support/ports.js';
import { startTestPostgres, type TestPostgres } from '../../support/test-postgres.js';
import { ApiClient, type Credentials } from './api-client.js';

/** Tokens of the token file every test server has. */
export const tokens = { admin: 'admin-token', alice: 'alice-token', bob: 'bob-token' } as const;

const tokenFile = [
  `${tokens.admin},admin,admin-uid,"system:masters"`,
  `${tokens.alice},alice,alice-uid,"devs"`,
  `${tokens.bob},bob,bob-uid`,
].join('\n');

export interface TestClusterOptions {
  /** The number of serving processes; default 2. */
  readonly servers?: number;
  readonly flags?: readonly string[];
  /** Whether the control loops run too, in a process of their own. */
  readonly controllers?: boolean;
  /**
   * Whether pods need a service account; by default if the control loops run. Without the loop that creates the
   * accounts named `default`, tests about other things could not create pods.
   */
  readonly accounts?: boolean;
  /** Flags of the control loops, besides those that let the process sign with the authority of the cluster. */
  readonly controllerFlags?: readonly string[];
  /** Whether writes to the database are durable, for tests that crash it. */
  readonly fsync?: boolean;
  /** Folder of the programs of the database server, as in `TestPostgresOptions`. */
  readonly programs?: string;
  /**
   * Puts a pooler between the processes and the database, in session mode or in transaction mode; with `direct-listen`
   * the processes have a direct connection for notifications, with `polling` none. Default: PLINTH_TEST_POOLER, so that
   * any test can be run with a pooler.
   */
  readonly pooler?: PoolerMode;
  /** How the processes reach the database, if not directly; takes precedence over `pooler`. */
  readonly route?: (postgres: TestPostgres, databaseUrl: string) => Promise<Route>;
  /** The compiled program to run instead of the one of this tree. */
  readonly mainFile?: string;
  /** Node.js flags of the serving processes. */
  readonly nodeFlags?: readonly string[];
}

export type PoolerMode = 'none' | 'session' | 'direct-listen' | 'polling';

/** How the processes reach the database. */
export interface Route {
  readonly databaseUrl: string;
  readonly listenDatabaseUrl?: string;
  stop(): Promise<void>;
}

function poolerMode(): PoolerMode {
  const mode = process.env.PLINTH_TEST_POOLER || 'none';
  if (mode === 'none' || mode === 'session' || mode === 'direct-listen' || mode === 'polling') return mode;
  throw new Error('PLINTH_TEST_POOLER must be none, session, direct-listen or polling');
}

async function pooledRoute(mode: PoolerMode, postgres: TestPostgres, databaseUrl: string): Promise<Route> {
  if (mode === 'none') return { databaseUrl, stop: async () => {} };
  // In session mode each client keeps its server connection.
  const options = mode === 'session' ? ({ mode, poolSize: 150 } as const) : {};
  const pooler = await PgBouncer.start(postgres.adminUrl, options);
  return {
    databaseUrl: pooler.through(databaseUrl),
    ...(mode === 'direct-listen' ? { listenDatabaseUrl: databaseUrl } : {}),
    stop: () => pooler.stop(),
  };
}

/** One serving process. */
export class TestServer {
  /** What the process wrote to its standard output. */
  output = '';
  /** What it wrote to its log. */
  log = '';
  readonly client: ApiClient;
  /** Resolves once the process has ended and all of its output has arrived. */
  readonly ended: Promise<unknown>;
  /** Resolves once the process has logged that it serves requests. */
  readonly serving: Promise<void>;
  hasLoggedServing = false;

  constructor(
    readonly url: string,
    readonly process: ChildProcess,
    readonly kubeconfig: string,
    credentials: Credentials,
    /** The flags that it has besides those of its cluster. */
    readonly flags: readonly string[],
  ) {
    this.client = new ApiClient(url, credentials);
    this.ended = once(process, 'close');
    process.stdout?.on('data', (chunk: Buffer) => {
      this.output += chunk.toString('utf8');
    });
    this.serving = new Promise((resolve) => {
      process.stderr?.on('data', (chunk: Buffer) => {
        this.log += chunk.toString('utf8');
        if (this.hasLoggedServing || !/INFO {2}serving\b|"message":"serving"/.test(this.log)) return;
        this.hasLoggedServing = true;
        resolve();
      });
    });
  }

  /** Whether the process has not ended. */
  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Ends the process and waits for it; the default lets it finish its requests. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.client.close();
    try {
      await end(this.process, signal);
    } catch (error) {
      throw new Error(`${this.url} does not stop:\n${this.log}`, { cause: error });
    }
  }
}

/**
 * How often to check whether a server is ready before it has logged that it serves requests, since some log no such
 * line.
 */
const startPollMs = 500;

/** Longer than an orderly stop may take. A process that still runs then is killed, and the test fails. */
const stopMs = 90_000;

/** Resolves once the process has ended and all of its output has arrived. */
async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'close');
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, stopMs);
  child.kill(signal);
  await exited;
  clearTimeout(late);
  if (isLate) throw new Error(`process ${child.pid} did not end within ${stopMs} ms of ${signal}`);
}

/** What a test cluster consists of when its first server starts. */
interface ClusterResources {
  readonly directory: string;
  readonly postgres: TestPostgres;
  readonly databaseUrl: string;
  readonly pki: Pki;
  readonly flags: readonly string[];
  readonly route: Route;
  /** The program of the servers. */
  readonly mainFile: string;
  readonly nodeFlags: readonly string[];
}

/** A real database and real serving processes over it, with certificates, tokens and kubeconfigs. */
export class TestCluster {
  readonly servers: TestServer[] = [];
  private readonly children: ChildProcess[] = [];

  readonly directory: string;
  readonly postgres: TestPostgres;
  readonly databaseUrl: string;
  readonly pki: Pki;
  private readonly flags: readonly string[];
  private readonly route: Route;
  private readonly nodeFlags: readonly string[];
  private mainFile: string;

  private constructor(resources: ClusterResources) {
    this.directory = resources.directory;
    this.postgres = resources.postgres;
    this.databaseUrl = resources.databaseUrl;
    this.pki = resources.pki;
    this.flags = resources.flags;
    this.route = resources.route;
    this.nodeFlags = resources.nodeFlags;
    this.mainFile = resources.mainFile;
  }

  static async start(options: TestClusterOptions = {}): Promise<TestCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-e2e-'));
    removeWithUs(directory);
    const { fsync, programs } = options;
    const postgres = await startTestPostgres({
      ...(fsync === true ? { fsync } : {}),
      ...(programs === undefined ? {} : { programs }),
    });
    let cluster: TestCluster | undefined;
    let route: Route | undefined;
    try {
      const databaseUrl = await postgres.createTestDatabase();
      const pki = await ensurePki({
        directory: join(directory, 'pki'),
        bindAddress: '127.0.0.1',
        serviceClusterIpRange: '10.0.0.0/16',
        clock: systemClock,
      });
      writeFileSync(join(directory, 'tokens.csv'), tokenFile, { mode: 0o600 });
      const direct = (server: TestPostgres, url: string) => pooledRoute(options.pooler ?? poolerMode(), server, url);
      route = await (options.route ?? direct)(postgres, databaseUrl);
      const hasAccounts = options.accounts ?? options.controllers ?? options.mainFile !== undefined;
      const made = new TestCluster({
        directory,
        postgres,
        databaseUrl,
        pki,
        route,
        flags: [...(hasAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']), ...(options.flags ?? [])],
        mainFile: options.mainFile ?? ownMainFile,
        nodeFlags: options.nodeFlags ?? [],
      });
      cluster = made;
      await Promise.all(Array.from({ length: options.servers ?? 2 }, () => made.addServer()));
      if (options.controllers === true) {
        made.startControllers(options.controllerFlags ?? []);
        if (hasAccounts && made.servers.length > 0) await made.defaultAccount();
      }
      return made;
    } catch (error) {
      if (cluster === undefined) await route?.stop();
      await (cluster ?? postgres).stop();
      throw error;
    }
  }

  get first(): TestServer {
    return this.servers[0] as TestServer;
  }

  get second(): TestServer {
    return this.servers[1] as TestServer;
  }

  /**
   * Starts one more serving process, on the port given or a free one, and waits until `/readyz` answers `readyStatus`
   * (a server that denies everything never answers 200).
   */
  async addServer(port?: number, flags: readonly string[] = [], readyStatus = 200): Promise<TestServer> {
    if (port !== undefined) return this.serve(port, flags, readyStatus);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.serve(await freePort(), flags, readyStatus);
      } catch (error) {
        // Another program may take a free port first.
        if (attempt === 3 || !String(error).includes('EADDRINUSE')) throw error;
      }
    }
  }

  private async serve(securePort: number, flags: readonly string[], readyStatus: number): Promise<TestServer> {
    const url = `https://127.0.0.1:${securePort}`;
    const kubeconfig = join(this.directory, `kubeconfig-${securePort}`);
    writeFileSync(
      kubeconfig,
      formatKubeconfig({ server: url, authority: this.pki.authority, client: this.pki.admin }),
      { mode: 0o600 },
    );
    const child = spawn(
      process.execPath,
      [
        ...this.nodeFlags,
        this.mainFile,
        'serve',
        `--secure-port=${securePort}`,
        '--bind-address=127.0.0.1',
        `--tls-cert-file=${this.pki.serving.certificateFile}`,
        `--tls-private-key-file=${this.pki.serving.privateKeyFile}`,
        `--client-ca-file=${this.pki.authorityFile}`,
        `--token-auth-file=${join(this.directory, 'tokens.csv')}`,
        ...this.flags,
        ...flags,
      ],
      { env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    endWithUs(child);
    const credentials = { ca: this.pki.authority, token: tokens.admin };
    const server = new TestServer(url, child, kubeconfig, credentials, flags);
    this.children.push(child);
    await this.ready(server, readyStatus);
    this.servers.push(server);
    return server;
  }

  /** Runs the control loops in a process of their own, which by default signs with the authority of the cluster. */
  startControllers(flags: readonly string[] = []): ChildProcess {
    const signing = [
      `--cluster-signing-cert-file=${this.pki.authorityFile}`,
      `--cluster-signing-key-file=${this.pki.authorityKeyFile}`,
    ];
    return this.startProgram('controllers', [...signing, ...flags]);
  }

  /**
   * Runs another command of the program on the database of the cluster, until the cluster stops or the test kills it.
   *
   * @param nodeFlags flags of Node.js
   */
  startProgram(command: string, flags: readonly string[], nodeFlags: readonly string[] = []): ChildProcess {
    const child = spawn(process.execPath, [...nodeFlags, this.mainFile, command, ...flags], {
      env: this.environment,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    endWithUs(child);
    this.children.push(child);
    return child;
  }

  /** Resolves when the control loops have created the first account, so that tests can create pods. */
  private async defaultAccount(): Promise<void> {
    const path = '/api/v1/namespaces/default/serviceaccounts/default';
    await eventually(async () => (await this.first.client.get(path)).status === 200, 'the default account');
  }

  /** Makes processes that start from now on run this program, such as another release. */
  useProgram(mainFile: string): void {
    this.mainFile = mainFile;
  }

  /** Stops one server and starts another on its port. */
  async restartServer(server: TestServer, signal: NodeJS.Signals = 'SIGTERM'): Promise<TestServer> {
    const port = Number(new URL(server.url).port);
    this.servers.splice(this.servers.indexOf(server), 1);
    await server.stop(signal);
    return this.addServer(port);
  }

  /** A client without any credentials, or with those given. */
  clientFor(server: TestServer, credentials: Partial<Credentials> = {}): ApiClient {
    return new ApiClient(server.url, { ca: this.pki.authority, ...credentials });
  }

  /** The administrator's certificate and key. */
  get adminCertificate(): { cert: string; key: string } {
    return { cert: this.pki.admin.certificate, key: this.pki.admin.privateKey };
  }

  async stop(): Promise<void> {
    // All processes are stopped, even if one of them fails to stop.
    const ended = await Promise.allSettled([
      ...this.servers.map((server) => server.stop()),
      ...this.children.map((child) => end(child, 'SIGTERM')),
    ]);
    await this.route.stop();
    await this.postgres.stop();
    rmSync(this.directory, { recursive: true, force: true });
    forgetFolder(this.directory);
    for (const outcome of ended) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** The environment with which the processes find the database. */
  private get environment(): NodeJS.ProcessEnv {
    const { databaseUrl, listenDatabaseUrl } = this.route;
    return {
      ...process.env,
      PLINTH_DATABASE_URL: databaseUrl,
      ...(listenDatabaseUrl === undefined ? {} : { PLINTH_LISTEN_DATABASE_URL: listenDatabaseUrl }),
    };
  }

  private async ready(server: TestServer, readyStatus: number): Promise<void> {
    // The limit is long because the machine may be busy. A server that fails to start ends, which is noticed at once.
    const deadline = performance.now() + 120_000;
    for (;;) {
      if (!server.isRunning) {
        await server.ended;
        throw new Error(`the server did not start:\n${server.log}`);
      }
      const answer = await server.client.get('/readyz').catch(() => undefined);
      if (answer?.status === readyStatus) return;
      if (performance.now() > deadline) throw new Error(`the server is not ready:\n${server.log}`);
      // Before the server serves, checks are rare, since each costs both sides a new connection.
      if (server.hasLoggedServing) await delay(10);
      else await Promise.race([server.serving, server.ended, delay(startPollMs, undefined, { ref: false })]);
    }
  }
}

/** The shortest and the longest pause between two checks of `eventually`, in milliseconds. */
const pauseMs = { least: 30, most: 500 } as const;
/** A pause takes this many times as long as the check before it. */
const pauseTimes = 4;

/**
 * Polls until `check` returns a value other than undefined and false; rejects after `timeoutMs`. The pause is longer
 * after a slow check, so that the checks take only a small part of the processor time.
 */
export async function eventually<T>(
  check: () => Promise<T | undefined | false> | T | undefined | false,
  what: string,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const began = performance.now();
    const value = await check();
    if (value !== undefined && value !== false) return value;
    const now = performance.now();
    if (now > deadline) throw new Error(`not in time: ${what}`);
    await delay(Math.min(pauseMs.most, Math.max(pauseMs.least, pauseTimes * (now - began))));
  }
}

export { freePort };

/** Reads a file of the repository, from the compiled or the source tree. */
export function readRepositoryFile(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8');
}
