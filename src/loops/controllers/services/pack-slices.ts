import type { ApiObject } from '../../../base/machinery/api-object.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import type { AddressFamily } from './service-pods.js';

export type StoredSlice = EndpointSlice & ApiObject;

/** Endpoints of one family that share their ports. */
export interface PortGroup {
  readonly family: AddressFamily;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

/** Steps that lead from the present slices to the wanted endpoints. */
export interface SlicePlan {
  readonly create: PortGroup[];
  readonly update: { readonly slice: StoredSlice; readonly content: PortGroup }[];
  readonly delete: StoredSlice[];
}

/** A present slice, and what it will contain. */
interface Draft {
  readonly slice: StoredSlice;
  endpoints: Endpoint[];
  isChanged: boolean;
}

/**
 * Distributes endpoints over slices of at most `most` each, with few writes: an endpoint stays in its slice, new ones
 * fill slices that change anyway, then one unchanged slice that can take all of the rest, then new slices. Slices that
 * become empty are deleted or get other content.
 *
 * An endpoint that is in two slices was put there by two writers that did not know of each other. The first slice keeps
 * it, and everything in the second is placed again: if only its duplicates were removed, the second would stay beside
 * the first for good, both half filled.
 */
export function packSlices(existing: readonly StoredSlice[], groups: readonly PortGroup[], most: number): SlicePlan {
  const plan: SlicePlan = { create: [], update: [], delete: [] };
  const inOrder = [...existing].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const byPorts = new Map<string, StoredSlice[]>();
  for (const slice of inOrder) {
    const key = groupKey(slice.addressType, slice.ports ?? []);
    const known = byPorts.get(key);
    if (known === undefined) byPorts.set(key, [slice]);
    else known.push(slice);
  }
  for (const group of groups) {
    const key = groupKey(group.family, group.ports);
    packGroup(byPorts.get(key) ?? [], group, most, plan);
    byPorts.delete(key);
  }
  for (const slices of byPorts.values()) plan.delete.push(...slices);
  return recycled(plan);
}

function packGroup(slices: readonly StoredSlice[], group: PortGroup, most: number, plan: SlicePlan): void {
  const { family, ports } = group;
  if (group.endpoints.length === 0) {
    packEmpty(slices, group, plan);
    return;
  }
  const wanted = new Map(group.endpoints.map((endpoint) => [endpointKey(endpoint), endpoint]));
  const missing = new Map(wanted);
  const drafts = slices.map((slice): Draft => {
    const present = (slice.endpoints ?? []).map(endpointKey);
    const isDouble = present.some((key) => wanted.has(key) && !missing.has(key));
    const endpoints: Endpoint[] = [];
    for (const key of isDouble ? [] : present) {
      const endpoint = missing.get(key);
      if (endpoint === undefined || endpoints.length === most) continue;
      missing.delete(key);
      endpoints.push(endpoint);
    }
    return { slice, endpoints, isChanged: !deepEqual(endpoints, slice.endpoints ?? []) };
  });
  const rest = [...missing.values()];
  for (const draft of drafts) if (draft.isChanged && draft.endpoints.length > 0) fill(draft, rest, most);
  if (rest.length > 0) {
    const [fullest] = drafts
      .filter(({ isChanged, endpoints }) => !isChanged && endpoints.length + rest.length <= most)
      .sort((a, b) => b.endpoints.length - a.endpoints.length);
    if (fullest !== undefined) fill(fullest, rest, most);
  }
  for (const { slice, endpoints, isChanged } of drafts) {
    if (endpoints.length === 0) plan.delete.push(slice);
    else if (isChanged) plan.update.push({ slice, content: { family, ports, endpoints } });
  }
  for (let i = 0; i < rest.length; i += most) plan.create.push({ family, ports, endpoints: rest.slice(i, i + most) });
}

/** A group without endpoints has one empty slice. */
function packEmpty([kept, ...others]: readonly StoredSlice[], group: PortGroup, plan: SlicePlan): void {
  if (kept === undefined) plan.create.push(group);
  else if ((kept.endpoints ?? []).length > 0) plan.update.push({ slice: kept, content: group });
  plan.delete.push(...others);
}

function fill(draft: Draft, rest: Endpoint[], most: number): void {
  const added = rest.splice(0, most - draft.endpoints.length);
  if (added.length === 0) return;
  draft.endpoints.push(...added);
  draft.isChanged = true;
}

/** Writes new content into slices that would be deleted, where the family allows. */
function recycled({ create, update, delete: deleted }: SlicePlan): SlicePlan {
  const plan: SlicePlan = { create: [], update: [...update], delete: [...deleted] };
  for (const content of create) {
    const at = plan.delete.findIndex(({ addressType }) => addressType === content.family);
    const [slice] = at < 0 ? [] : plan.delete.splice(at, 1);
    if (slice === undefined) plan.create.push(content);
    else plan.update.push({ slice, content });
  }
  return plan;
}

function groupKey(family: string, ports: readonly EndpointPort[]): string {
  const texts = ports.map(({ name = '', protocol = 'TCP', port, appProtocol }) =>
    JSON.stringify([name, protocol, port ?? null, appProtocol ?? null]),
  );
  return [family, ...texts.sort()].join(' ');
}

/** The identity of an endpoint: its addresses, its name and the object behind it. */
function endpointKey({ addresses, hostname, targetRef }: Endpoint): string {
  const { kind, namespace, name } = targetRef ?? {};
  return JSON.stringify([[...(addresses ?? [])].sort(), hostname ?? '', kind ?? '', namespace ?? '', name ?? '']);
}
