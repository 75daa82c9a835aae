import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { chooseServiceUser, identity } from '../../src/tools/local-postgres/embedded/service-user.js';
import { endWithUs, forgetFolder, removeWithUs } from './child-guard.js';
import { answers, freePort } from './ports.js';

export interface PgBouncerOptions {
  /**
   * Server connections per database and user. With few of them, transactions of different clients often share a
   * connection.
   */
  readonly poolSize?: number;
  /**
   * Whether a client keeps a server connection for one transaction or for as long as it is connected; default
   * `transaction`.
   */
  readonly mode?: 'transaction' | 'session';
  /** Further settings of pgbouncer.ini. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A pooler for one test, in front of one server. */
export class PgBouncer {
  private readonly process: ChildProcess;
  private readonly directory: string;
  readonly port: number;

  private constructor(process: ChildProcess, directory: string, port: number) {
    this.process = process;
    this.directory = directory;
    this.port = port;
  }

  /** Starts a pooler in front of the server of the URL. Throws when the program is not installed. */
  static async start(targetUrl: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
    const { poolSize = 10, mode = 'transaction', settings: further = {} } = options;
    const program = locate();
    const user = await chooseServiceUser();
    const directory = mkdtempSync(join(tmpdir(), 'plinth-pgbouncer-'));
    removeWithUs(directory);
    const target = new URL(targetUrl);
    const port = await freePort();
    const settings = {
      listen_addr: '127.0.0.1',
      listen_port: port,
      unix_socket_dir: '',
      auth_type: 'trust',
      auth_file: join(directory, 'users.txt'),
      pool_mode: mode,
      default_pool_size: poolSize,
      max_client_conn: 1000,
      // How soon the pooler retries after a server outage.
      server_login_retry: 1,
      ...further,
    };
    const files = {
      'pgbouncer.ini': [
        '[databases]',
        `* = host=${target.hostname} port=${target.port}`,
        '[pgbouncer]',
        ...Object.entries(settings).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
      'users.txt': `"${decodeURIComponent(target.username)}" "${decodeURIComponent(target.password)}"\n`,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
    if (user.uid !== undefined && user.gid !== undefined) {
      for (const name of ['', ...Object.keys(files)]) chownSync(join(directory, name), user.uid, user.gid);
    }
    let log = '';
    const child = spawn(program, [join(directory, 'pgbouncer.ini')], {
      ...identity(user),
      cwd: directory,
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    endWithUs(child);
    child.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4000);
    });
    const pooler = new PgBouncer(child, directory, port);
    process.once('exit', pooler.killWithUs);
    const deadline = performance.now() + 120_000;
    while (!(await answers(pooler.through(targetUrl)))) {
      if (child.exitCode !== null || performance.now() > deadline) {
        await pooler.stop();
        throw new Error(`pgbouncer did not start: ${log}`);
      }
      await sleep(20);
    }
    return pooler;
  }

  private readonly killWithUs = (): void => {
    this.process.kill('SIGKILL');
    rmSync(this.directory, { recursive: true, force: true });
  };

  /** The URL that leads through the pooler. */
  through(url: string): string {
    const pooled = new URL(url);
    pooled.hostname = '127.0.0.1';
    pooled.port = String(this.port);
    return pooled.href;
  }

  async stop(): Promise<void> {
    process.off('exit', this.killWithUs);
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = new Promise((resolve) => this.process.once('exit', resolve));
      this.process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.directory, { recursive: true, force: true });
    forgetFolder(this.directory);
  }
}

function locate(): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  const found = folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
  if (found === undefined) throw new Error('this test needs PgBouncer: install the package pgbouncer');
  return found;
}
