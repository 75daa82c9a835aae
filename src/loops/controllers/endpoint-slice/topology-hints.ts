import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { Endpoint } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { PortGroup } from '../services/pack-slices.js';
import type { AddressFamily, StoredService } from '../services/service-pods.js';
import { planZones, type ZoneShares } from './zone-shares.js';

/** Whether a service requests in an annotation that each zone gets endpoints of its own. */
export function wantsZones({ metadata }: StoredService, { labelPrefix }: Pick<VendorNames, 'labelPrefix'>): boolean {
  const { annotations = {} } = metadata;
  const old = annotations[`service.${labelPrefix}/topology-aware-hints`];
  const value = old ?? annotations[`service.${labelPrefix}/topology-mode`];
  return value === 'Auto' || value === 'auto';
}

/** The groups of one service with the zones that should use each endpoint, and for each family why it has no zones. */
export interface HintedGroups {
  readonly groups: PortGroup[];
  readonly problems: ReadonlyMap<AddressFamily, string | undefined>;
}

/** Sets for every ready endpoint which zone should use it; where that can't be decided, sets none. */
export function withZoneHints(groups: readonly PortGroup[], shares: ZoneShares | undefined): HintedGroups {
  const problems = new Map<AddressFamily, string | undefined>();
  const zones = new Map<Endpoint, string>();
  for (const family of new Set(groups.map((group) => group.family))) {
    const ready = groups
      .filter((group) => group.family === family)
      .flatMap(({ endpoints }) => endpoints.filter(({ conditions }) => conditions?.ready === true))
      .sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
    const plan = planZones(
      ready.map(({ zone = '' }) => zone),
      shares,
    );
    problems.set(family, 'problem' in plan ? plan.problem : undefined);
    if ('zones' in plan) for (const [i, zone] of plan.zones.entries()) zones.set(ready[i] as Endpoint, zone);
  }
  const hinted = ({ hints: _hints, ...endpoint }: Endpoint, zone: string | undefined): Endpoint =>
    zone === undefined ? endpoint : { ...endpoint, hints: { forZones: [{ name: zone }] } };
  return {
    groups: groups.map((group) => ({
      ...group,
      endpoints: group.endpoints.map((endpoint) => hinted(endpoint, zones.get(endpoint))),
    })),
    problems,
  };
}

function orderOf({ targetRef, addresses }: Endpoint): string {
  return `${targetRef?.name ?? ''} ${addresses?.[0] ?? ''}`;
}
