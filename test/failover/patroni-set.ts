import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../../src/base/database/with-client.js';
import { migrate } from '../../src/storage/postgres/migrate.js';
import { chooseServiceUser, identity, type ServiceUser } from '../../src/tools/local-postgres/embedded/service-user.js';
import { childrenOf, isRunning } from '../e2e/support/processes.js';
import { endWithUs, forgetFolder, removeWithUs } from '../support/child-guard.js';
import { freePort } from '../support/ports.js';
import { TcpProxy } from '../support/tcp-proxy.js';

/** Programs of Debian that a set needs. */
export const patroniNeeds = ['patroni', 'etcd', '/usr/lib/postgresql/15/bin/postgres'];
const programs = '/usr/lib/postgresql/15/bin';

/** Seconds, the smallest that Patroni allows: how long a leader that does not answer keeps its lock. */
const ttl = 20;
const startMs = 120_000;
/** Patroni 3.0 sometimes leaves a standby on a timeline that the primary does not have. */
const patienceMs = 40_000;

/** One member: a Patroni with its PostgreSQL. */
export interface Member {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly folder: string;
  /** The way from this Patroni to the store of locks. */
  readonly toLocks: TcpProxy;
  process: ChildProcess;
}

/** Roles and states of members, as Patroni reports them. */
interface Reported {
  readonly members: readonly { readonly name: string; readonly role: string; readonly state: string }[];
}

export interface PatroniOptions {
  /** Whether a commit waits for a standby. Without it, a failover may lose the last commits. */
  readonly isSynchronous: boolean;
  readonly log: (line: string) => void;
}

/** Three PostgreSQL under Patroni, with an etcd for its locks, as they run in production. */
export class PatroniSet {
  readonly members: Member[] = [];

  private constructor(
    private readonly folder: string,
    private readonly user: ServiceUser,
    private readonly locks: ChildProcess,
    private readonly locksUrl: string,
    private readonly options: PatroniOptions,
  ) {}

  static async start(options: PatroniOptions): Promise<PatroniSet> {
    const user = await chooseServiceUser();
    const folder = mkdtempSync(join(tmpdir(), 'plinth-patroni-'));
    removeWithUs(folder);
    give(user, folder);
    const [clients, peers] = [await freePort(), await freePort()];
    const [clientUrl, peerUrl] = [`http://127.0.0.1:${clients}`, `http://127.0.0.1:${peers}`];
    const locks = spawn(
      'etcd',
      [
        ...['--data-dir', join(folder, 'etcd'), '--log-level', 'error', '--unsafe-no-fsync'],
        ...['--listen-client-urls', clientUrl, '--advertise-client-urls', clientUrl],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...['--initial-cluster', `default=${peerUrl}`],
      ],
      { stdio: 'ignore', ...identity(user), cwd: folder },
    );
    endWithUs(locks);
    const set = new PatroniSet(folder, user, locks, clientUrl, options);
    try {
      for (const name of ['one', 'two', 'three']) {
        await set.addMember(name, clients);
        // The first one makes the data, the others copy it.
        await set.primary(startMs);
      }
      await set.healed();
      const primary = await set.primary();
      await withClient(set.urlOf(primary, 'postgres'), (client) => client.query('create database plinth'));
      await migrate(set.urlOf(primary));
      return set;
    } catch (error) {
      await set.stop();
      throw error;
    }
  }

  /** Where the processes find the primary, whichever member that is. */
  get databaseUrl(): string {
    const hosts = this.members.map(({ port }) => `127.0.0.1:${port}`).join(',');
    return `postgresql://postgres:secret@${hosts}/plinth?target_session_attrs=read-write&sslmode=disable`;
  }

  /** The member that holds the lock. */
  async primary(timeoutMs = 90_000, except?: Member): Promise<Member> {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline) {
      for (const member of this.members) {
        if (member !== except && (await this.status(member, '/primary')) === 200) return member;
      }
      await delay(100);
    }
    throw new Error(`no primary within ${timeoutMs} ms`);
  }

  /**
   * Resolves once all members run, and a standby confirms commits where that is asked for. A set that does not get there by
   * itself is repaired as its administrator would.
   */
  async healed(timeoutMs = 2 * startMs): Promise<void> {
    const startedAt = performance.now();
    let repairs = 0;
    let last: unknown;
    for (;;) {
      const waitedMs = performance.now() - startedAt;
      if (waitedMs > timeoutMs) break;
      if (waitedMs > patienceMs * (repairs + 1)) {
        if (repairs++ % 2 === 0) await this.repair();
        else await this.restartAll();
      }
      const reported = await this.reported();
      last = reported ?? last;
      const members = reported?.members ?? [];
      const roles = members.filter(({ state }) => state === 'running' || state === 'streaming').map(({ role }) => role);
      const follower = this.options.isSynchronous ? 'sync_standby' : 'replica';
      if (roles.length === 3 && roles.includes('leader') && roles.includes(follower)) return;
      await delay(200);
    }
    throw new Error(`the members did not heal: ${JSON.stringify(last)}\n${this.logs()}`);
  }

  /** Copies the standbys again, and starts the primary's Patroni again, while its PostgreSQL runs on. */
  private async repair(): Promise<void> {
    const leader = await this.primary();
    this.options.log(`${leader.name} has standbys that do not follow it: they are made anew`);
    const gone = new Promise((resolve) => leader.process.once('exit', resolve));
    signal(leader.process.pid ?? 0, 'SIGKILL');
    await gone;
    this.restart(leader);
    for (const member of this.members) {
      if (member === leader) continue;
      const body = JSON.stringify({ force: true });
      await fetch(`http://127.0.0.1:${member.restPort}/reinitialize`, { method: 'POST', body }).catch(() => undefined);
    }
  }

  /**
   * Starts all Patronis again, while the PostgreSQL run on, and drops the note of who is synchronous: the leader of Patroni 3.0
   * sometimes takes its own note for that of another one for ever.
   */
  private async restartAll(): Promise<void> {
    this.options.log('every Patroni is started again');
    const key = Buffer.from('/service/plinth/sync').toString('base64');
    await fetch(`${this.locksUrl}/v3/kv/deleterange`, { method: 'POST', body: JSON.stringify({ key }) });
    for (const member of this.members) {
      const gone = new Promise((resolve) => member.process.once('exit', resolve));
      signal(member.process.pid ?? 0, 'SIGKILL');
      await gone;
      this.restart(member);
    }
  }

  /** Asks Patroni to give the role to another member. */
  async switchOver(): Promise<void> {
    const deadline = performance.now() + startMs;
    for (;;) {
      const leader = await this.primary();
      const answer = await fetch(`http://127.0.0.1:${leader.restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: leader.name }),
      });
      if (answer.status === 200) return;
      // No standby has caught up yet.
      if (performance.now() > deadline) throw new Error(`switchover: ${answer.status} ${await answer.text()}`);
      await this.healed();
    }
  }

  /** The processes of a member: Patroni, PostgreSQL and its children. */
  processesOf(member: Member): number[] {
    const postmaster = this.postmasterOf(member);
    return [member.process.pid ?? 0, ...(postmaster === undefined ? [] : [postmaster, ...childrenOf(postmaster)])];
  }

  postmasterOf({ folder }: Member): number | undefined {
    try {
      const pid = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
      return isRunning(pid) ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  /** Runs Patroni again after its process was killed. */
  restart(member: Member): void {
    member.process = this.launch(member);
  }

  async stop(): Promise<void> {
    for (const member of this.members) {
      for (const pid of this.processesOf(member)) signal(pid, 'SIGKILL');
      await member.toLocks.stop();
    }
    this.locks.kill('SIGKILL');
    if (this.locks.exitCode === null && this.locks.signalCode === null) await once(this.locks, 'exit');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 20 });
    forgetFolder(this.folder);
  }

  urlOf({ port }: Member, database = 'plinth'): string {
    return `postgresql://postgres:secret@127.0.0.1:${port}/${database}?sslmode=disable`;
  }

  /** The last lines that Patroni and PostgreSQL wrote. */
  logs(): string {
    return this.members.map(({ name, folder }) => `${name}:\n${tail(join(folder, 'log'))}`).join('\n');
  }

  private async addMember(name: string, locksPort: number): Promise<void> {
    const folder = join(this.folder, name);
    mkdirSync(folder);
    give(this.user, folder);
    const parts = { name, folder, port: await freePort(), restPort: await freePort() };
    const toLocks = await TcpProxy.start(locksPort);
    writeFileSync(join(folder, 'patroni.yml'), configuration(parts, toLocks.port, this.options));
    writeFileSync(join(folder, 'log'), '');
    for (const file of ['patroni.yml', 'log']) give(this.user, join(folder, file));
    const member = { ...parts, toLocks };
    this.members.push({ ...member, process: this.launch(member) });
  }

  private launch({ folder }: Pick<Member, 'folder'>): ChildProcess {
    const command = 'exec patroni "$0/patroni.yml" >> "$0/log" 2>&1';
    const child = spawn('/bin/sh', ['-c', command, folder], { stdio: 'ignore', ...identity(this.user), cwd: folder });
    endWithUs(child);
    return child;
  }

  private async status({ restPort }: Member, path: string): Promise<number> {
    try {
      const answer = await fetch(`http://127.0.0.1:${restPort}${path}`, { signal: AbortSignal.timeout(1000) });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0;
    }
  }

  private async reported(): Promise<Reported | undefined> {
    for (const { restPort } of this.members) {
      try {
        const url = `http://127.0.0.1:${restPort}/cluster`;
        const answer = await fetch(url, { signal: AbortSignal.timeout(1000) });
        if (answer.ok) return (await answer.json()) as Reported;
      } catch {
        // The next member may answer.
      }
    }
    return undefined;
  }
}

/** Sends a signal to a process that may have ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

function give({ uid, gid }: ServiceUser, path: string): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

function tail(path: string): string {
  return readFileSync(path, 'utf8').split('\n').slice(-15).join('\n');
}

function configuration(
  { name, folder, port, restPort }: Omit<Member, 'toLocks' | 'process'>,
  locksPort: number,
  { isSynchronous }: PatroniOptions,
): string {
  const account = (username: string) => ({ username, password: 'secret' });
  return JSON.stringify({
    scope: 'plinth',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    // Without discovery: it would find the way around the proxy.
    etcd3: { hosts: [`127.0.0.1:${locksPort}`], use_proxies: true },
    bootstrap: {
      dcs: {
        ...{ ttl, loop_wait: 1, retry_timeout: 3, primary_start_timeout: 0, synchronous_mode: isSynchronous },
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_log_hints: 'on' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: join(folder, 'data'),
      bin_dir: programs,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: account('postgres'),
        replication: account('replicator'),
        rewind: account('rewinder'),
      },
      parameters: { unix_socket_directories: '', shared_buffers: '64MB' },
      // A copy for a standby would wait for the next checkpoint to end, which takes minutes.
      basebackup: [{ checkpoint: 'fast' }],
    },
  });
}
