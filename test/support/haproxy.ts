import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { endWithUs, forgetFolder, removeWithUs } from './child-guard.js';
import { freePort } from './ports.js';

/** A server behind the balancer. */
export interface HaproxyServer {
  readonly port: number;
  /** Where Patroni says whether the server is the primary; without it, one that takes connections is good. */
  readonly restPort?: number;
}

/** The program, which Debian keeps with those of administrators. */
export const haproxyProgram = '/usr/sbin/haproxy';
const startMs = 30_000;
const longest = '2h';

/** An HAProxy that leads each connection to the one server that is the primary, as in front of Patroni. */
export class Haproxy {
  private constructor(
    private readonly process: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  /** Throws when it doesn't listen in time; whether a server behind it is good shows later. */
  static async start(servers: readonly HaproxyServer[]): Promise<Haproxy> {
    const folder = mkdtempSync(join(tmpdir(), 'plinth-haproxy-'));
    removeWithUs(folder);
    const port = await freePort();
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration(port, servers));
    const child = spawn(haproxyProgram, ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    endWithUs(child);
    let log = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4000);
    });
    const proxy = new Haproxy(child, folder, port);
    const deadline = performance.now() + startMs;
    while (!(await listens(port))) {
      if (child.exitCode !== null || performance.now() > deadline) {
        await proxy.stop();
        throw new Error(`haproxy did not start: ${log}`);
      }
      await delay(20);
    }
    return proxy;
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = new Promise((resolve) => this.process.once('exit', resolve));
      this.process.kill('SIGKILL');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
    forgetFolder(this.folder);
  }
}

function configuration(port: number, servers: readonly HaproxyServer[]): string {
  const asksPatroni = servers.some(({ restPort }) => restPort !== undefined);
  return [
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    `  timeout client ${longest}`,
    `  timeout server ${longest}`,
    'listen database',
    `  bind 127.0.0.1:${port}`,
    ...(asksPatroni ? ['  option httpchk OPTIONS /primary', '  http-check expect status 200'] : []),
    // Connections to a member that is no longer the primary are of no use to anybody.
    '  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions',
    ...servers.map(
      (server, i) => `  server s${i} 127.0.0.1:${server.port} check port ${server.restPort ?? server.port}`,
    ),
    '',
  ].join('\n');
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, '127.0.0.1');
    probe.once('connect', () => resolve(true)).once('error', () => resolve(false));
    probe.once('connect', () => probe.destroy());
  });
}
