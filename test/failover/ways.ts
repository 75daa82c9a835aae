import type { Route } from '../e2e/support/test-cluster.js';
import { Haproxy, haproxyProgram } from '../support/haproxy.js';
import { PgBouncer } from '../support/pgbouncer.js';
import type { PatroniSet } from './patroni-set.js';

/** How processes reach the primary: by all hosts in the URL, by HAProxy, or by PgBouncer in transaction mode before HAProxy. */
export const waysToPrimary = ['hosts', 'haproxy', 'pooler'] as const;
export type WayToPrimary = (typeof waysToPrimary)[number];

export const wayNeeds: Readonly<Record<WayToPrimary, readonly string[]>> = {
  hosts: [],
  haproxy: [haproxyProgram],
  pooler: [haproxyProgram, 'pgbouncer'],
};

/** Starts what is between. Behind a pooler, notifications take a way of their own through HAProxy. */
export async function openWay(way: WayToPrimary, set: PatroniSet): Promise<Route> {
  if (way === 'hosts') return { databaseUrl: set.databaseUrl, stop: async () => {} };
  const proxy = await Haproxy.start(set.members);
  const balanced = `postgresql://postgres:secret@127.0.0.1:${proxy.port}/plinth?sslmode=disable`;
  if (way === 'haproxy') return { databaseUrl: balanced, stop: () => proxy.stop() };
  const pooler = await PgBouncer.start(balanced);
  return {
    databaseUrl: pooler.through(balanced),
    listenDatabaseUrl: balanced,
    stop: async () => {
      await pooler.stop();
      await proxy.stop();
    },
  };
}
