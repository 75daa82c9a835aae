/** The share of the cluster's work in each zone, from 0 to 1; the sum is 1. */
export type ZoneShares = ReadonlyMap<string, number>;

/** Which zone should use each endpoint, in the order of the endpoints, or why none should. */
export type ZonePlan = { readonly zones: readonly string[] } | { readonly problem: string };

/** How much more traffic, as a share, an endpoint of one zone may get than endpoints of others. */
const overload = 0.2;

interface ZoneState {
  readonly zone: string;
  readonly desired: number;
  readonly least: number;
  /** Indexes of the endpoints that it uses. */
  readonly own: number[];
}

/**
 * Gives each zone as many endpoints as its share of the work needs. An endpoint is for its own zone, unless another
 * zone would be overloaded without it.
 *
 * @param endpoints the zone of each endpoint that is ready, '' for an unknown one; in an order that seldom changes
 * @param shares undefined when the nodes do not report enough
 */
export function planZones(endpoints: readonly string[], shares: ZoneShares | undefined): ZonePlan {
  if (shares === undefined || shares.size === 0) {
    const what = 'allocatable CPU or zone not specified on one or more nodes';
    return { problem: `Insufficient Node information: ${what}` };
  }
  if (shares.size < 2) return { problem: 'Nodes only ready in one zone' };
  const count = `(${endpoints.length} endpoints, ${shares.size} zones)`;
  if (endpoints.length < shares.size) return { problem: `Insufficient number of endpoints ${count}` };
  const states = new Map<string, ZoneState>();
  let least = 0;
  for (const [zone, share] of shares) {
    const desired = share * endpoints.length;
    const state: ZoneState = { zone, desired, least: Math.ceil(desired / (1 + overload)), own: [] };
    states.set(zone, state);
    least += state.least;
  }
  if (least > endpoints.length) {
    const text = 'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold';
    return { problem: `${text} ${count}` };
  }
  if (endpoints.includes('')) return { problem: 'One or more endpoints do not have a zone specified' };
  return { zones: distribute(endpoints, states) };
}

function distribute(endpoints: readonly string[], states: ReadonlyMap<string, ZoneState>): string[] {
  const homeless: number[] = [];
  for (const [i, zone] of endpoints.entries()) (states.get(zone)?.own ?? homeless).push(i);
  const all = [...states.values()].sort((a, b) => (a.zone < b.zone ? -1 : 1));
  const surplus = ({ own, desired }: ZoneState) => own.length - desired;
  // Endpoints of zones without nodes go where the lack is greatest.
  for (const i of homeless) poorest(all, surplus).own.push(i);
  for (;;) {
    const needy = all.filter(({ own, least }) => own.length < least);
    const donors = all.filter(({ own, least }) => own.length > least);
    if (needy.length === 0 || donors.length === 0) break;
    const given = poorest(donors, (state) => -surplus(state)).own.pop();
    if (given !== undefined) poorest(needy, surplus).own.push(given);
  }
  const zones = new Array<string>(endpoints.length).fill('');
  for (const { zone, own } of all) for (const i of own) zones[i] = zone;
  return zones;
}

/** The first state for which `value` is smallest. */
function poorest(states: readonly ZoneState[], value: (state: ZoneState) => number): ZoneState {
  return states.reduce((best, state) => (value(state) < value(best) ? state : best));
}
