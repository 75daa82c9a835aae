import type { SecureServingOptions } from '../../base/config/secure-serving.options.js';
import { systemTimers, type Timers } from '../../base/machinery/timers.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { OutageLogger } from '../../base/observability/outage-log.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { advertisedAddress } from './advertised-address.js';
import { Advertiser } from './advertiser.js';
import { ApiEndpoints } from './api-endpoints.js';
import { type ServingAddress, ServingLeases } from './serving-leases.js';

/** The names and stores that publishing needs. */
export interface AdvertiserContext {
  readonly names: VendorNames;
  readonly stores: ResourceStores;
}

/** Makes the advertiser for a process with these options. */
export async function buildAdvertiser(
  context: AdvertiserContext,
  serving: Pick<SecureServingOptions, 'bindAddress' | 'advertiseAddress' | 'securePort'>,
  logger: OutageLogger,
): Promise<Advertiser> {
  const ip = await advertisedAddress(serving);
  const own = ip === undefined ? undefined : { ip, port: serving.securePort };
  return advertiserOf(context, own, logger, systemTimers);
}

/** Makes the advertiser for a known address. */
export function advertiserOf(
  { names, stores }: AdvertiserContext,
  own: ServingAddress | undefined,
  logger: OutageLogger,
  timers: Timers,
): Advertiser {
  const { storage, clock } = stores;
  const { server } = names.fieldManagers;
  const endpoints = new ApiEndpoints({
    names,
    clock,
    services: stores.owning('', 'services', server),
    endpoints: stores.owning('', 'endpoints', server),
    slices: stores.owning(groupName('discovery', names), 'endpointslices', server),
  });
  const leases = new ServingLeases(storage, clock, () => timers.elapsed());
  return new Advertiser({ leases, endpoints, own, logger, timers });
}
