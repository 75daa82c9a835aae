import type { SecureServingOptions } from '../config/secure-serving.options.js';
import { systemTimers, type Timers } from '../controllers/timers.js';
import { groupName } from '../machinery/vendor.js';
import type { OutageLogger } from '../observability/outage-log.js';
import type { GroupContext } from '../registry/group-context.js';
import { Store } from '../registry/store.js';
import { advertisedAddress } from './advertised-address.js';
import { Advertiser } from './advertiser.js';
import { ApiEndpoints } from './api-endpoints.js';
import { type ServingAddress, ServingLeases } from './serving-leases.js';

/** The advertiser of a process that serves with these options. */
export async function buildAdvertiser(
  context: GroupContext,
  serving: Pick<SecureServingOptions, 'bindAddress' | 'advertiseAddress' | 'securePort'>,
  logger: OutageLogger,
): Promise<Advertiser> {
  const ip = await advertisedAddress(serving);
  const own = ip === undefined ? undefined : { ip, port: serving.securePort };
  return advertiserOf(context, own, logger, systemTimers);
}

/** The same for an address that is known. */
export function advertiserOf(
  { registry, storage, clock, names }: GroupContext,
  own: ServingAddress | undefined,
  logger: OutageLogger,
  timers: Timers,
): Advertiser {
  const storeOf = (group: string, resource: string) => {
    const found = registry.find(group, 'v1', resource);
    if (found === undefined) throw new Error(`the resource ${resource} is not registered`);
    return new Store(found, storage, clock);
  };
  const endpoints = new ApiEndpoints({
    names,
    clock,
    services: storeOf('', 'services'),
    endpoints: storeOf('', 'endpoints'),
    slices: storeOf(groupName('discovery', names), 'endpointslices'),
  });
  const leases = new ServingLeases(storage, clock, () => timers.elapsed());
  return new Advertiser({ leases, endpoints, own, logger, timers });
}
