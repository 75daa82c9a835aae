import type { Storage } from '../../../storage/storage.interface.js';
import type { ServingState } from '../serving-state.js';
import type { HealthCheck, HealthPath } from './health-checks.js';

const everywhere: readonly HealthPath[] = ['healthz', 'livez', 'readyz'];

/** Startup steps that are complete before requests are accepted, by the names that probes know. */
const doneBeforeServing: readonly string[] = [
  'autoregister-completion',
  'poststarthook/bootstrap-controller',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-admission-initializer',
];

/** A process that does not hear from the store for this long may answer from outdated data, in milliseconds. */
const mostLostMs = 60_000;
/** A database that takes longer for the smallest query, in milliseconds, is not fit for requests. */
const mostLagMs = 3_000;

/** How well the process follows the store. */
export interface StoreFollower {
  /** For how long the informers have not heard from the store, in milliseconds. */
  readonly informersLostMs: () => number;
  /** Time since the change log was last read, in milliseconds. */
  readonly logAgeMs: () => number;
}

/**
 * Checks of how a process follows its database, each of which can be requested alone. They only matter for readiness: a
 * restart of the process would not help.
 */
export function followerHealthChecks(
  storage: Pick<Storage, 'ping'>,
  follower: StoreFollower,
  now: () => number = () => performance.now(),
): HealthCheck[] {
  const paths = ['healthz', 'readyz'] as const;
  const alonePaths = ['livez'] as const;
  const limited = (name: string, what: string, age: () => number): HealthCheck => ({
    name,
    paths,
    alonePaths,
    check: () => {
      const ms = age();
      if (ms > mostLostMs) throw new Error(`${what} for ${Math.round(ms / 1000)} s`);
    },
  });
  return [
    limited('informer-sync', 'informers have not heard from the store', follower.informersLostMs),
    limited('log-reader', 'the change log was not read', follower.logAgeMs),
    {
      name: 'database-lag',
      paths,
      alonePaths,
      check: async () => {
        const begin = now();
        await storage.ping();
        const ms = now() - begin;
        if (ms > mostLagMs) throw new Error(`the database took ${Math.round(ms)} ms to answer`);
      },
    },
  ];
}

/** The checks of a process that starts: those of a serving one, with storage that is not open yet. */
export function startingHealthChecks(state: ServingState, graceMs: number): HealthCheck[] {
  const storage = { ping: () => Promise.reject(new Error('storage is not open yet')) };
  return serverHealthChecks(storage, state, graceMs);
}

/**
 * The checks of a serving process. Liveness ignores the database: restarting this process does not repair a database,
 * it only drops watches that would have survived the outage.
 */
export function serverHealthChecks(
  storage: Pick<Storage, 'ping'>,
  state: ServingState,
  graceMs: number,
): HealthCheck[] {
  return [
    { name: 'ping', paths: everywhere, check: () => undefined },
    { name: 'log', paths: everywhere, check: () => undefined },
    {
      name: 'storage',
      aliases: ['etcd'],
      paths: ['healthz', 'readyz'],
      alonePaths: ['livez'],
      check: () => storage.ping(),
    },
    startCheck(['healthz', 'readyz'], state, 0),
    startCheck(['livez'], state, graceMs),
    {
      name: 'shutdown',
      paths: ['readyz'],
      check: () => {
        if (state.isStopping) throw new Error('the process is shutting down');
      },
    },
  ];
}

/** Fails while the process starts, after a given time. */
function startCheck(paths: readonly HealthPath[], state: ServingState, graceMs: number): HealthCheck {
  return {
    name: 'poststarthook/start-serving',
    paths,
    aliases: doneBeforeServing,
    check: () => {
      if (state.isStarted || Date.now() - state.startedAt < graceMs) return;
      throw new Error('the start has not finished');
    },
  };
}
