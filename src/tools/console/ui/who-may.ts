import { listAt, textAt } from './dig.js';

/** Verbs that people ask about, in the order of columns. */
export const askedVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] as const;
export type AskedVerb = (typeof askedVerbs)[number];

/** The subject of the question. */
export interface AskedObject {
  readonly group: string;
  readonly resource: string;
  /** Empty for objects in no namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** The rules of a cluster, from its objects. */
export interface RbacObjects {
  readonly clusterRoles: readonly unknown[];
  readonly clusterRoleBindings: readonly unknown[];
  /** Those of the namespace of the object. */
  readonly roles: readonly unknown[];
  readonly roleBindings: readonly unknown[];
}

export interface Holder {
  readonly kind: string;
  readonly name: string;
  /** Of a service account. */
  readonly namespace: string;
  readonly verbs: ReadonlySet<AskedVerb>;
  /** The bindings that give the rights. */
  readonly through: readonly { readonly binding: string; readonly role: string; readonly namespace: string }[];
}

/** Who may do what to an object by RBAC: subjects with rights, those who may most first. */
export function whoMay(asked: AskedObject, objects: RbacObjects): readonly Holder[] {
  const byName = (roles: readonly unknown[]) => new Map(roles.map((role) => [textAt(role, 'metadata', 'name'), role]));
  const clusterRoles = byName(objects.clusterRoles);
  const roles = byName(objects.roles);
  const found = new Map<string, { verbs: Set<AskedVerb>; through: Holder['through'][number][]; subject: unknown }>();
  for (const [bindings, namespace] of [
    [objects.clusterRoleBindings, ''],
    [asked.namespace === '' ? [] : objects.roleBindings, asked.namespace],
  ] as const) {
    for (const binding of bindings) {
      const isClusterRole = namespace === '' || textAt(binding, 'roleRef', 'kind') === 'ClusterRole';
      const role = textAt(binding, 'roleRef', 'name');
      const verbs = verbsOf(asked, (isClusterRole ? clusterRoles : roles).get(role));
      if (verbs.length === 0) continue;
      for (const subject of listAt(binding, 'subjects')) {
        const key = JSON.stringify(['kind', 'namespace', 'name'].map((field) => textAt(subject, field)));
        const holder = found.get(key) ?? { verbs: new Set(), through: [], subject };
        for (const verb of verbs) holder.verbs.add(verb);
        holder.through.push({ binding: textAt(binding, 'metadata', 'name'), role, namespace });
        found.set(key, holder);
      }
    }
  }
  return [...found.values()]
    .map(({ subject, verbs, through }) => ({
      kind: textAt(subject, 'kind'),
      name: textAt(subject, 'name'),
      namespace: textAt(subject, 'namespace'),
      verbs,
      through,
    }))
    .sort((a, b) => b.verbs.size - a.verbs.size || compare(a.kind, b.kind) || compare(a.name, b.name));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function verbsOf({ group, resource, name }: AskedObject, role: unknown): readonly AskedVerb[] {
  const found = new Set<AskedVerb>();
  for (const rule of listAt(role, 'rules')) {
    const has = (field: string, value: string) => {
      const given = listAt(rule, field);
      return given.includes('*') || given.includes(value);
    };
    const names = listAt(rule, 'resourceNames');
    if (!has('apiGroups', group) || !has('resources', resource)) continue;
    for (const verb of askedVerbs) {
      // A request that creates has no name yet; a list has one only as a field selector of exactly that name.
      const isNamed = names.length === 0 || (verb !== 'create' && names.includes(name));
      if (isNamed && has('verbs', verb)) found.add(verb);
    }
  }
  return [...found];
}
