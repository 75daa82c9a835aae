import { randomUUID } from 'node:crypto';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { formatTime } from '../../base/machinery/clock.js';
import { isDns1123Subdomain } from '../../base/machinery/names.js';
import { decode } from '../../base/machinery/schema/index.js';
import type { Timers } from '../../base/machinery/timers.js';
import type { Logger } from '../../base/observability/logger.js';
import type { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import type { WriteAdmission } from '../../objects/registry/store/admitted-store.js';
import type { Storage } from '../../storage/storage.interface.js';
import { coreResource } from './token-secrets.js';
import { workContext } from './work-context.js';
import { workStore } from './work-store.js';

export interface EventRecorderOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly timers: Timers;
  readonly logger: Logger;
}

/** Writes events about objects. A failure to write an event is only logged: no work depends on events. */
export class EventRecorder {
  private written = 0;

  /** @param component the reporting component, as named in events. */
  constructor(
    private readonly options: EventRecorderOptions,
    private readonly component: string,
  ) {}

  /** Writes a warning about an object that somebody should look at. */
  async warn(about: ApiObject, reason: string, message: string, signal: AbortSignal): Promise<void> {
    const { registry, timers, logger } = this.options;
    const { name = '', namespace = '', uid } = about.metadata;
    const now = timers.now();
    const time = formatTime(now);
    this.written += 1;
    const long = `${name}.${now.toString(16)}${this.written.toString(16)}`;
    const fits = isDns1123Subdomain(long).length === 0;
    const body = {
      metadata: { name: fits ? long : randomUUID(), namespace: namespace || 'default' },
      involvedObject: { kind: about.kind, apiVersion: about.apiVersion, name, namespace, uid },
      reason,
      message,
      type: 'Warning',
      source: { component: this.component },
      reportingComponent: this.component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    };
    try {
      const resource = coreResource(registry, 'events');
      const event = decode(resource.served.type, body).value as ApiObject;
      resource.definition.strategy.applyDefaults?.(event);
      const context = workContext(this.component, now, signal);
      const store = workStore(resource, this.options, { inLiveNamespaces: true });
      await store.create(context, event);
    } catch (error) {
      logger.warn('an event could not be written', { reason, object: `${namespace}/${name}`, error });
    }
  }
}
