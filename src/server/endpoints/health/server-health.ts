import type { Storage } from '../../../storage/storage.interface.js';
import type { ServingState } from '../serving-state.js';
import type { HealthCheck, HealthPath } from './health-checks.js';

const everywhere: readonly HealthPath[] = ['healthz', 'livez', 'readyz'];

/**
 * Steps of the startup, under the names that probes know; all are complete before requests are accepted. The default
 * RBAC policy has a check of its own, since it takes longer.
 */
const startupSteps: readonly string[] = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/peer-endpoint-reconciler-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-identity-lease-controller',
  'poststarthook/start-kube-apiserver-identity-lease-garbage-collector',
  'poststarthook/storage-readiness',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
];

/** Names that steps had in other releases. */
const formerNames: Readonly<Record<string, readonly string[]>> = {
  'poststarthook/start-apiserver-admission-initializer': ['poststarthook/start-kube-apiserver-admission-initializer'],
  'poststarthook/generic-apiserver-start-informers': ['poststarthook/start-serving'],
};

/** A process that has not heard from the store for longer than this, in milliseconds, may serve outdated data. */
const mostLostMs = 60_000;
/** A database that takes longer than this for the smallest query, in milliseconds, is too slow for requests. */
const mostLagMs = 3_000;

/** How closely the process follows the store. */
export interface StoreDelays {
  /** For how long the informers have not heard from the store, in milliseconds. */
  readonly informersLostMs: () => number;
  /** Time since the change log was last read, in milliseconds. */
  readonly logAgeMs: () => number;
}

/**
 * Checks of how closely a process follows its database, each of which can be requested individually. They only affect
 * readiness: a restart of the process would not help.
 */
export function storeDelayChecks(
  storage: Pick<Storage, 'ping'>,
  follower: StoreDelays,
  now: () => number = () => performance.now(),
): HealthCheck[] {
  const paths = ['healthz', 'readyz'] as const;
  const alonePaths = ['livez'] as const;
  const limited = (name: string, what: string, age: () => number, own: readonly HealthPath[] = paths): HealthCheck => ({
    name,
    paths: own,
    alonePaths: ['healthz', ...alonePaths],
    check: () => {
      const ms = age();
      if (ms > mostLostMs) throw new Error(`${what} for ${Math.round(ms / 1000)} s`);
    },
  });
  return [
    limited('informer-sync', 'informers have not heard from the store', follower.informersLostMs, ['readyz']),
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

/** The checks of a starting process: those of a serving process, but its storage is not open yet. */
export function startingHealthChecks(state: ServingState, graceMs: number): HealthCheck[] {
  const storage = { ping: () => Promise.reject(new Error('storage is not open yet')) };
  return serverHealthChecks(storage, state, graceMs);
}

/**
 * The checks of a serving process. Liveness ignores an outage of the database: restarting this process would not repair
 * the database, and would only drop watches that could survive the outage. A restart can only help when the startup
 * hangs.
 */
export function serverHealthChecks(
  storage: Pick<Storage, 'ping'>,
  state: ServingState,
  graceMs: number,
): HealthCheck[] {
  const isStarting = (ms: number) => {
    if (!state.isStarted && Date.now() - state.startedAt >= ms) throw new Error('the start has not finished');
  };
  const started = (name: string, paths: readonly HealthPath[], ms: number): HealthCheck => {
    const aliases = formerNames[name];
    return { name, paths, ...(aliases === undefined ? {} : { aliases }), check: () => isStarting(ms) };
  };
  const ready = ['healthz', 'readyz'] as const;
  return [
    { name: 'ping', paths: everywhere, check: () => undefined },
    { name: 'log', paths: everywhere, check: () => undefined },
    started('loopback-serving-certificate', ['healthz'], 0),
    started('loopback-serving-certificate', ['livez'], graceMs),
    { name: 'etcd', aliases: ['storage'], paths: ready, check: () => storage.ping() },
    // Checks whether this process has opened its storage.
    { ...started('etcd', ['livez'], graceMs), aliases: ['storage'] },
    { name: 'etcd-readiness', paths: ['readyz'], check: () => storage.ping() },
    ...startupSteps.map((name) => started(name, ready, 0)),
    ...startupSteps.map((name) => started(name, ['livez'], graceMs)),
    {
      name: 'shutdown',
      paths: ['readyz'],
      check: () => {
        if (state.isStopping) throw new Error('the process is shutting down');
      },
    },
  ];
}
