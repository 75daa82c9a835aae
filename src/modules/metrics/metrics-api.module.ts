import { type DynamicModule, Module } from '@nestjs/common';
import { NODE_USAGE, type NodeUsage } from '../../base/machinery/node-usage.js';
import { VENDOR_NAMES, type VendorNames } from '../../base/machinery/vendor.js';
import type { ResourceDefinition } from '../../objects/registry/resource-definition.js';
import { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { apiGroupModule, type GroupHost } from '../api-group.module.js';
import { nodeMetricsResource } from './node-metrics.resource.js';
import { podMetricsResource } from './pod-metrics.resource.js';

/** Resources of the group `metrics`. */
export function metricsResources(
  names: VendorNames,
  stores: ResourceStores,
  usage: NodeUsage | undefined,
): ResourceDefinition[] {
  return [nodeMetricsResource(names, stores, usage), podMetricsResource(names, stores, usage)];
}

/** The API group `metrics`, which is served only if `--runtime-config` enables it. */
@Module({})
export class MetricsApiModule {
  static of(host: GroupHost): DynamicModule {
    return apiGroupModule(MetricsApiModule, host, {
      inject: [VENDOR_NAMES, ResourceStores, { token: NODE_USAGE, optional: true }],
      useFactory: metricsResources,
    });
  }
}
