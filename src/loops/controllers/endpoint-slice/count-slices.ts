import type { ServiceSlices, SliceChanges } from '../metrics/endpoint-slice-metrics.js';
import type { PortGroup, SlicePlan, StoredSlice } from '../services/pack-slices.js';

/** What a run that carries out `plan` leaves behind, and what it changes. An endpoint is known by its addresses. */
export function countSlices(
  existing: readonly StoredSlice[],
  groups: readonly PortGroup[],
  plan: SlicePlan,
  mostEndpoints: number,
): {
  readonly state: Omit<ServiceSlices, 'trafficDistribution'>;
  readonly changes: Omit<SliceChanges, 'hasHints' | 'trafficDistribution'>;
} {
  const before = new Set(existing.flatMap(({ endpoints }) => (endpoints ?? []).map(addressesOf)));
  const after = new Set(groups.flatMap(({ endpoints }) => endpoints.map(addressesOf)));
  const [created, updated, deleted] = [plan.create.length, plan.update.length, plan.delete.length];
  return {
    state: {
      slices: existing.length + created - deleted,
      // A group without endpoints has one empty slice.
      leastSlices: groups.reduce(
        (sum, { endpoints }) => sum + Math.max(1, Math.ceil(endpoints.length / mostEndpoints)),
        0,
      ),
      endpoints: groups.reduce((sum, { endpoints }) => sum + endpoints.length, 0),
    },
    changes: {
      created,
      updated,
      deleted,
      endpointsAdded: [...after].filter((addresses) => !before.has(addresses)).length,
      endpointsRemoved: [...before].filter((addresses) => !after.has(addresses)).length,
    },
  };
}

function addressesOf({ addresses }: { readonly addresses: readonly string[] | null }): string {
  return addresses?.join() ?? '';
}
