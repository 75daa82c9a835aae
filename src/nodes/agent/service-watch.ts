import type { ApiObject } from '../../base/machinery/api-object.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import type { Service } from '../../objects/apis/core/v1/service.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { watchObjects } from '../connection/object-watch.js';
import { serviceEnvironment } from './containers/service-environment.js';
import { podAnnotations } from './pods/pod-form.js';

/** The address of the API's own service, which all pods may see. */
const masterNamespace = 'default';
const masterName = 'kubernetes';

/** Watches the services that appear in containers' environment variables. */
export class ServiceWatch {
  private readonly services = new Map<string, Service>();
  private isListed = false;

  constructor(
    private readonly dependencies: {
      readonly api: ApiUser;
      readonly timers: Timers;
      readonly random: () => number;
      readonly logger: Logger;
    },
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    await watchObjects<Service & ApiObject>(
      {
        ...this.dependencies,
        path: '/api/v1/services',
        known: () => this.services.keys(),
        onObject: (service) => this.services.set(service.metadata.uid ?? '', service),
        onGone: (uid) => this.services.delete(uid),
        onListed: () => {
          this.isListed = true;
        },
      },
      signal,
    );
  }

  /**
   * @throws Error while the services have not been read; static pods, of which the API may be one, don't wait for that
   */
  environmentOf({ metadata, spec }: Pod): ReadonlyMap<string, string> {
    const isStatic = Object.keys(metadata.annotations ?? {}).some((key) => key.endsWith(`/${podAnnotations.hash}`));
    if (!this.isListed && !isStatic)
      throw new Error('services have not yet been read at least once, cannot construct envs');
    const seesAll = spec.enableServiceLinks !== false;
    const all = [...this.services.values()].filter(
      (service) =>
        (seesAll && service.metadata.namespace === metadata.namespace) ||
        (service.metadata.namespace === masterNamespace && service.metadata.name === masterName),
    );
    // If names are equal, the service of the pod's own namespace counts.
    all.sort(
      (a, b) =>
        Number(a.metadata.namespace === metadata.namespace) - Number(b.metadata.namespace === metadata.namespace),
    );
    return serviceEnvironment(all);
  }
}
