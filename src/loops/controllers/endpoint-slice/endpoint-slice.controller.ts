import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Node } from '../../../objects/apis/core/v1/node.types.js';
import { podsByNode, type StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { isRace, keyOf, type Source, source } from '../frame/reconcile-loop.js';
import type { EndpointSliceMetrics } from '../metrics/endpoint-slice-metrics.js';
import { type PortGroup, packSlices, type StoredSlice } from '../services/pack-slices.js';
import { ServiceLoop } from '../services/service-loop.js';
import { familiesOf, isHeadless, type StoredService } from '../services/service-pods.js';
import { type SliceMetadata, withMetadata, writeSlices } from '../services/slice-writer.js';
import { ownedSlices, sliceKeys } from '../services/slices-of-service.js';
import type { WorkOutcome } from '../work-queue.js';
import { countSlices } from './count-slices.js';
import { NodeZones } from './node-zones.js';
import { wantsZones, withZoneHints } from './topology-hints.js';
import { wantedEndpoints } from './wanted-endpoints.js';

type StoredNode = Node & ApiObject;

const mostEndpoints = 100;

/**
 * Keeps EndpointSlices for each service with a selector: its pods with their addresses, by family and ports, with their
 * state and place. A service without any pods has one empty slice for each family.
 */
export class EndpointSliceController extends ServiceLoop {
  readonly name = 'endpointslice-controller';
  private readonly slices = this.informer<StoredSlice>('discovery', 'endpointslices');
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly slicesOf = ownedSlices(this.slices, this.labels, this.labels.sliceLoop);
  private readonly byNode = podsByNode(this.pods);
  private readonly zones = new NodeZones(this.dependencies.names);
  private readonly zoned = this.services.index('by zone', (service) =>
    wantsZones(service, this.dependencies.names) ? ['yes'] : [],
  );
  /** The last report about the zones of a service, by its key and the family; '' when zones are in use. */
  private readonly reported = new Map<string, string>();

  protected override started(signal: AbortSignal): void {
    signal.addEventListener('abort', () => this.counters?.clear(), { once: true });
    this.zones.clear();
    this.reported.clear();
  }

  protected otherSources(): readonly Source[] {
    const nodeChanged = (node: StoredNode | undefined, old: StoredNode | undefined) => {
      if (this.zones.set((node ?? old)?.metadata.name ?? '', node)) {
        for (const service of this.zoned.get('yes')) this.enqueueSoon(service);
      }
      if (this.zoneOf(node) === this.zoneOf(old) && node !== undefined && old !== undefined) return [];
      for (const pod of this.byNode.get((node ?? old)?.metadata.name ?? '')) this.podsChanged([pod]);
      return [];
    };
    return [source(this.slices, sliceKeys(this.labels, this.labels.sliceLoop)), source(this.nodes, nodeChanged)];
  }

  private zoneOf(node: StoredNode | undefined): string | undefined {
    return node?.metadata.labels?.[this.labels.zone];
  }

  protected async publish(
    service: StoredService,
    pods: readonly StoredPod[],
    work: ReconcileContext,
  ): Promise<WorkOutcome> {
    const { namespace = '', name = '' } = service.metadata;
    const time = this.times.next(keyOf(service), service, pods);
    const families = familiesOf(service);
    const nodeOf = (node: string) => this.nodes.get('', node);
    const wanted = families.flatMap((family): PortGroup[] => {
      const found = wantedEndpoints(service, pods, family, nodeOf, this.labels.zone);
      return found.length > 0 ? found : [{ family, ports: [], endpoints: [] }];
    });
    const groups = this.hinted(service, wanted);
    const existing = this.slicesOf(namespace, name);
    const sliceMetadata = this.sliceMetadata(service, time);
    const plan = withMetadata(packSlices(existing, groups, mostEndpoints), existing, sliceMetadata);
    try {
      await writeSlices(this.client<StoredSlice>('discovery', 'endpointslices'), work, plan, sliceMetadata);
    } catch (error) {
      this.counters?.failed(isRace(error) ? 'stale' : 'error');
      const text = `Error updating Endpoint Slices for Service ${namespace}/${name}`;
      return this.failed(error, service, 'FailedToUpdateEndpointSlices', text);
    }
    const { state, changes } = countSlices(existing, groups, plan, mostEndpoints);
    const { trafficDistribution = '' } = service.spec;
    const hasHints = wantsZones(service, this.dependencies.names);
    this.counters?.synced(
      keyOf(service),
      { ...state, trafficDistribution },
      { ...changes, hasHints, trafficDistribution },
    );
    return 'done';
  }

  private get counters(): EndpointSliceMetrics | undefined {
    return this.dependencies.loopMetrics?.endpointSlices;
  }

  private hinted(service: StoredService, groups: PortGroup[]): PortGroup[] {
    const key = keyOf(service);
    if (!wantsZones(service, this.dependencies.names)) {
      for (const { family } of groups) this.reported.delete(`${key} ${family}`);
      return groups;
    }
    const hinted = withZoneHints(groups, this.zones.shares);
    for (const [family, problem = ''] of hinted.problems) {
      if (this.reported.get(`${key} ${family}`) === problem) continue;
      this.reported.set(`${key} ${family}`, problem);
      const tail = `addressType: ${family}`;
      if (problem === '') {
        this.events.normal(service, 'TopologyAwareHintsEnabled', `Topology Aware Hints has been enabled, ${tail}`);
      } else this.events.warning(service, 'TopologyAwareHintsDisabled', `${problem}, ${tail}`);
    }
    return hinted.groups;
  }

  protected async clear(namespace: string, name: string, work: ReconcileContext): Promise<void> {
    this.counters?.forget(`${namespace}/${name}`);
    for (const family of ['IPv4', 'IPv6']) this.reported.delete(`${namespace}/${name} ${family}`);
    const client = this.client<StoredSlice>('discovery', 'endpointslices');
    for (const slice of this.slicesOf(namespace, name)) await client.delete(work, slice);
  }

  private sliceMetadata(service: StoredService, time: number | undefined): SliceMetadata {
    const { serviceName, sliceManagedBy, sliceLoop, headless, triggerTime } = this.labels;
    const { namespace = '', name = '', uid = '', deletionTimestamp } = service.metadata;
    const { [headless]: _headless, ...labels } = service.metadata.labels ?? {};
    if (isHeadless(service)) labels[headless] = '';
    labels[serviceName] = name;
    labels[sliceManagedBy] = sliceLoop;
    return {
      namespace,
      prefix: name,
      owner: { apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true },
      labels,
      trigger: { annotation: triggerTime, time },
      isEnding: deletionTimestamp !== undefined,
    };
  }
}
