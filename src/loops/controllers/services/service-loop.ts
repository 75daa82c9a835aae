import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  isRace,
  keyOf,
  ownKey,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import { errorMessage, isNamespaceTerminating } from '../frame/refusals.js';
import { type Labels, manyKeys, WideChanges } from '../frame/wide-changes.js';
import type { WorkOutcome } from '../work-queue.js';
import { type EndpointNames, endpointNames } from './endpoint-names.js';
import { mattersToServices, ServicePods, type StoredService, selectsPods } from './service-pods.js';
import { TriggerTimes } from './trigger-times.js';

/** Changes of pods of services with more pods than this are collected for a millisecond per pod, within a limit. */
const fewPods = 20;
const longestPauseMs = 500;

/** The frame of loops that record which pods are behind each service with a selector. Keys are services. */
export abstract class ServiceLoop extends ReconcileLoop {
  protected readonly services = this.informer<StoredService>('', 'services');
  protected readonly pods = this.informer<StoredPod>('', 'pods');
  protected readonly related: ServicePods;
  protected readonly labels: EndpointNames;
  protected readonly times = new TriggerTimes();
  private readonly wide = new WideChanges(
    (key) => this.enqueue(key),
    (namespace, labels) => this.enqueueSelecting(namespace, labels),
  );

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    this.related = new ServicePods(this.services, this.pods);
    this.labels = endpointNames(dependencies.names);
  }

  /** What the loop reads besides services and pods. */
  protected abstract otherSources(): readonly Source[];

  /** Brings the objects of a service with a selector to the desired state. */
  protected abstract publish(
    service: StoredService,
    pods: readonly StoredPod[],
    work: ReconcileContext,
  ): Promise<WorkOutcome>;

  /** Removes the objects made for a service that is gone. */
  protected abstract clear(namespace: string, name: string, work: ReconcileContext): Promise<void>;

  protected sources(): readonly Source[] {
    const podChanged = (pod: StoredPod | undefined, old: StoredPod | undefined) => {
      if (pod === undefined || old === undefined || mattersToServices(pod, old)) this.podsChanged([pod, old]);
      return [];
    };
    this.wide.clear();
    return [source(this.services, ownKey), source(this.pods, podChanged), ...this.otherSources()];
  }

  /** Queues the services whose selectors match these pods, or did. */
  protected podsChanged(pods: readonly (StoredPod | undefined)[]): void {
    const few = new Set<StoredService>();
    for (const pod of pods) {
      if (pod === undefined) continue;
      const { namespace = '', labels } = pod.metadata;
      if (this.related.mostServicesOf(namespace, labels) > manyKeys) this.wide.note(namespace, labels);
      else for (const service of this.related.servicesOf(namespace, labels)) few.add(service);
    }
    for (const service of few) this.enqueueSoon(service);
  }

  private enqueueSelecting(namespace: string, labels: Labels | undefined): void {
    const found =
      labels === undefined ? this.services.inNamespace(namespace) : this.related.servicesOf(namespace, labels);
    for (const service of found) if (selectsPods(service)) this.enqueueSoon(service);
  }

  /**
   * Changes to pods of a large service come in bursts, and each would cost a large write. One change may concern very
   * many services, so this looks at no pod.
   */
  protected enqueueSoon(service: StoredService): void {
    const pods = this.related.mostPodsOf(service);
    this.enqueue(keyOf(service), pods <= fewPods ? 0 : Math.min(longestPauseMs, pods));
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    if (this.wide.isKey(key)) return this.wide.work(key);
    const { namespace, name } = splitKey(key);
    const service = this.related.get(namespace, name);
    if (service === undefined) {
      this.times.forget(key);
      await this.clear(namespace, name, work);
      return 'done';
    }
    if (!selectsPods(service)) return 'done';
    return this.publish(service, this.related.podsOf(service), work);
  }

  /** Reports in an event why a write failed, unless it will never succeed or another writer was faster. */
  protected failed(error: unknown, about: ApiObject, reason: string, text: string): WorkOutcome {
    if (isNamespaceTerminating(error)) return 'done';
    if (!isRace(error)) this.events.warning(about, reason, `${text}: ${errorMessage(error)}`);
    throw error;
  }
}
