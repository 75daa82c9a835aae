import type { Known } from './owners.js';

/** An object with the fields that its selectors need. */
export interface Selecting extends Known {
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface MapNode {
  readonly id: string;
  readonly known: Known;
  /** More objects of the same kind and owner that are shown as one. */
  readonly more: number;
  readonly column: number;
  readonly row: number;
}

export interface MapEdge {
  readonly from: string;
  readonly to: string;
  readonly how: 'owns' | 'selects' | 'routes';
}

export interface NamespaceMap {
  readonly nodes: readonly MapNode[];
  readonly edges: readonly MapEdge[];
  readonly columns: number;
  readonly rows: number;
}

/** Kinds whose `spec` is needed for what they select. */
export const selectingKinds: ReadonlySet<string> = new Set([
  'services',
  'networkpolicies',
  'poddisruptionbudgets',
  'ingresses',
]);

/** How many objects of one owner are shown one by one. */
const mostSiblings = 5;

interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** Whether labels fit a selector. An empty one fits all; an operator that is unknown fits nothing. */
export function selects(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  const fits = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    fits &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const value = labels[key];
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value);
        case 'NotIn':
          return value === undefined || !values.includes(value);
        case 'Exists':
          return value !== undefined;
        case 'DoesNotExist':
          return value === undefined;
        default:
          return false;
      }
    })
  );
}

/** The pods that an object selects, by its own rules; undefined if it selects none at all. */
function podSelector({ kind, spec = {} }: Selecting): LabelSelector | undefined {
  switch (kind.resource) {
    case 'services': {
      const selector = spec.selector as Readonly<Record<string, string>> | undefined;
      return selector === undefined || Object.keys(selector).length === 0 ? undefined : { matchLabels: selector };
    }
    case 'networkpolicies':
      return (spec.podSelector ?? {}) as LabelSelector;
    case 'poddisruptionbudgets':
      return spec.selector as LabelSelector | undefined;
    default:
      return undefined;
  }
}

/** Names of the services that an Ingress leads to. */
function backends({ spec = {} }: Selecting): ReadonlySet<string> {
  const names = new Set<string>();
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { service } = value as { readonly service?: { readonly name?: unknown } };
    if (typeof service?.name === 'string') names.add(service.name);
    for (const inner of Object.values(value)) look(inner);
  };
  look(spec);
  return names;
}

/** Related objects of a namespace, in columns from entry points to the objects that do the work. */
export function namespaceMap(objects: readonly Selecting[]): NamespaceMap {
  const byId = new Map(objects.map((each) => [idOf(each), each]));
  const groups = grouped(objects, byId);
  const edges = new Map<string, MapEdge>();
  const add = (from: string | undefined, to: string | undefined, how: MapEdge['how']) => {
    if (from !== undefined && to !== undefined && from !== to) edges.set(`${from} ${to} ${how}`, { from, to, how });
  };
  const pods = objects.filter(({ kind }) => kind.group === '' && kind.resource === 'pods');
  const services = new Map(
    objects.filter(({ kind }) => kind.resource === 'services').map((each) => [each.metadata.name, idOf(each)]),
  );
  for (const each of objects) {
    const id = idOf(each);
    for (const { uid } of each.metadata.ownerReferences ?? []) add(groups.get(uid), groups.get(id), 'owns');
    const selector = podSelector(each);
    for (const pod of selector === undefined ? [] : pods) {
      if (selects(selector ?? {}, pod.metadata.labels ?? {})) add(groups.get(id), groups.get(idOf(pod)), 'selects');
    }
    if (each.kind.resource === 'ingresses') {
      for (const name of backends(each)) add(id, groups.get(services.get(name) ?? ''), 'routes');
    }
  }
  return placed([...edges.values()], groups, byId);
}

function idOf({ kind, metadata }: Known): string {
  return metadata.uid ?? `${kind.resource}.${kind.group}/${metadata.name}`;
}

/** The node of each object: its own, or the one that represents it and its siblings. */
function grouped(objects: readonly Selecting[], byId: ReadonlyMap<string, Selecting>): Map<string, string> {
  const siblings = new Map<string, string[]>();
  for (const each of objects) {
    const owner = each.metadata.ownerReferences?.find(({ uid }) => byId.has(uid))?.uid;
    const key = owner === undefined ? idOf(each) : `${owner} ${each.kind.group}/${each.kind.resource}`;
    siblings.set(key, [...(siblings.get(key) ?? []), idOf(each)]);
  }
  const groups = new Map<string, string>();
  for (const ids of siblings.values()) {
    for (const id of ids) groups.set(id, ids.length > mostSiblings ? (ids[0] ?? id) : id);
  }
  return groups;
}

/** Places the objects: columns by the longest path from a start; rows so that neighbours are near each other. */
function placed(
  edges: readonly MapEdge[],
  groups: ReadonlyMap<string, string>,
  byId: ReadonlyMap<string, Selecting>,
): NamespaceMap {
  const sizes = new Map<string, number>();
  for (const group of groups.values()) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  const ids = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
  const column = new Map(ids.map((id) => [id, 0]));
  // As many rounds as there can be columns; more would only be needed for cycles.
  for (let round = 0; round < 8; round++) {
    for (const { from, to } of edges)
      column.set(to, Math.max(column.get(to) ?? 0, Math.min(7, (column.get(from) ?? 0) + 1)));
  }
  // An object that leads to only one column is placed beside it.
  for (const id of ids) {
    if (edges.some(({ to }) => to === id)) continue;
    const next = edges.filter(({ from }) => from === id).map(({ to }) => column.get(to) ?? 1);
    column.set(id, Math.max(0, Math.min(...next) - 1));
  }
  const order = new Map(ids.map((id) => [id, 0]));
  const used: number[] = [];
  const visited = new Set<string>();
  const visit = (id: string): number => {
    if (visited.has(id)) return order.get(id) ?? 0;
    visited.add(id);
    const rows = edges.filter(({ from }) => from === id).map(({ to }) => visit(to));
    const at = column.get(id) ?? 0;
    const wanted = rows.length === 0 ? 0 : Math.min(...rows);
    const row = Math.max(used[at] ?? 0, wanted);
    used[at] = row + 1;
    order.set(id, row);
    return row;
  };
  for (const id of [...ids].sort((a, b) => (column.get(a) ?? 0) - (column.get(b) ?? 0))) visit(id);
  const nodes = ids.flatMap((id) => {
    const known = byId.get(id);
    if (known === undefined) return [];
    return [{ id, known, more: (sizes.get(id) ?? 1) - 1, column: column.get(id) ?? 0, row: order.get(id) ?? 0 }];
  });
  return {
    nodes,
    edges,
    columns: Math.max(0, ...column.values()) + 1,
    rows: Math.max(0, ...used.filter(Number.isFinite)),
  };
}
