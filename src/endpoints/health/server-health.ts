import type { Storage } from '../../storage/storage.interface.js';
import type { ServingState } from '../serving-state.js';
import type { HealthCheck, HealthPath } from './health-checks.js';

const everywhere: readonly HealthPath[] = ['healthz', 'livez', 'readyz'];

/** Startup steps that are complete before requests are accepted, by the names that probes know. */
const doneBeforeServing: readonly string[] = [
  'autoregister-completion',
  'informer-sync',
  'poststarthook/bootstrap-controller',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-kube-apiserver-admission-initializer',
];

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

/** Fails while the process starts, after a time that it is given. */
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
