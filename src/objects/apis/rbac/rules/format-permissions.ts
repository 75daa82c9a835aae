import type { Permission } from './rule-cover.js';

/**
 * Joins permissions that differ only in their verb, so that a long list of single permissions becomes readable.
 * Permissions with several groups, resources or names stay unchanged.
 */
export function compactPermissions(permissions: readonly Permission[]): Permission[] {
  const others: Permission[] = [];
  const simple = new Map<string, { readonly permission: Permission; readonly verbs: string[] }>();
  for (const permission of permissions) {
    const key = simpleKey(permission);
    if (key === undefined) {
      others.push(permission);
      continue;
    }
    const found = simple.get(key);
    if (found === undefined) simple.set(key, { permission, verbs: [...(permission.verbs ?? [])] });
    else for (const verb of permission.verbs ?? []) found.verbs.push(verb);
  }
  return [...others, ...[...simple.values()].map(({ permission, verbs }) => ({ ...permission, verbs }))];
}

function simpleKey({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: Permission): string | undefined {
  const isSimple =
    (verbs ?? []).length > 0 &&
    apiGroups?.length === 1 &&
    resources?.length === 1 &&
    (resourceNames ?? []).length <= 1 &&
    (nonResourceURLs ?? []).length === 0;
  return isSimple ? JSON.stringify([apiGroups, resources, resourceNames ?? []]) : undefined;
}

/** One permission as messages show it: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function formatPermission(permission: Permission): string {
  const part = (name: string, values: readonly string[] | null | undefined) =>
    (values ?? []).length === 0 ? [] : [`${name}:${formatList(values ?? [])}`];
  const parts = [
    ...part('APIGroups', permission.apiGroups),
    ...part('Resources', permission.resources),
    ...part('NonResourceURLs', permission.nonResourceURLs),
    ...part('ResourceNames', permission.resourceNames),
    ...part('Verbs', permission.verbs),
  ];
  return `{${parts.join(', ')}}`;
}

/** `["a" "b"]` */
export function formatList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
