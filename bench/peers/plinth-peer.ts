import { readdirSync, readFileSync } from 'node:fs';
import { parentOf } from '../../test/e2e/support/processes.js';
import { TestCluster, tokens } from '../../test/e2e/support/test-cluster.js';
import type { PeerKind } from './peer.js';

/** Plinth over a PostgreSQL of its own: the embedded one, or one with the settings it comes with. */
export function plinthPeer(name: string, programs: string, flags: readonly string[]): PeerKind {
  return {
    name,
    async start() {
      const cluster = await TestCluster.start({
        servers: 1,
        fsync: true,
        programs,
        flags: ['--authorization-mode=Node,RBAC', ...flags],
      });
      return {
        url: cluster.first.url,
        token: tokens.admin,
        roots: { server: [cluster.first.process.pid as number], store: [postmasterOn(cluster.postgres.port)] },
        stop: () => cluster.stop(),
      };
    },
  };
}

/** The first process of the PostgreSQL of ours that listens on the port. */
export function postmasterOn(port: number): number {
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    try {
      const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      if (program?.endsWith('postgres') === true && args.includes('-p') && args.includes(String(port))) {
        return isPostgres(parentOf(pid)) ? parentOf(pid) : pid;
      }
    } catch {
      // The process ended meanwhile.
    }
  }
  throw new Error(`no PostgreSQL runs on port ${port}`);
}

function isPostgres(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.endsWith('postgres') === true;
}
