import type { ApiObject } from '../../../base/machinery/api-object.js';
import { parseLabelSelector } from '../../../base/machinery/label-selector.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { MetricsApi, MetricsRequest } from './remote-metrics.js';

/**
 * The metrics of pods that this server measures itself, where it is configured to serve them. An extension server for the same
 * group goes first, as for clients, and has all other metrics.
 */
export class ServedMetrics implements MetricsApi {
  constructor(
    private readonly registry: Pick<ResourceRegistry, 'findServed'>,
    private readonly names: VendorNames,
    private readonly remote: MetricsApi & { has(group: MetricsRequest['group']): boolean },
  ) {}

  async get(request: MetricsRequest): Promise<unknown> {
    const { group, path, query, signal } = request;
    const [place, namespace, resource = ''] = path;
    if (group !== 'metrics' || place !== 'namespaces' || this.remote.has(group)) return this.remote.get(request);
    const served = this.registry.findServed(groupName(group, this.names), 'v1beta1', resource);
    if (served?.definition.type !== 'computed') return this.remote.get(request);
    const selector = parseLabelSelector(query.labelSelector ?? '');
    const wants = ({ metadata }: ApiObject) => selector.matches(metadata.labels);
    const items = await served.definition.compute({ namespace, name: undefined, wants, signal });
    return { items: items.filter((item) => item.metadata.namespace === namespace && wants(item)) };
  }
}
