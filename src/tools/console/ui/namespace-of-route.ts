import type { ResourceName, Route } from './routes.js';

/** Whether a kind is that of namespaces themselves. */
export function isOfNamespaces({ group, resource }: Pick<ResourceName, 'group' | 'resource'>): boolean {
  return group === '' && resource === 'namespaces';
}

/**
 * The namespace that a page is about: that of the object it shows, which may be a namespace itself, otherwise the
 * chosen one.
 */
export function namespaceOfRoute(route: Route, chosen: string): string {
  const object = route.page === 'object' ? route : route.page === 'list' ? route.open : undefined;
  if (object === undefined || (route.page !== 'object' && route.page !== 'list')) return chosen;
  return (isOfNamespaces(route) ? object.name : object.namespace) || chosen;
}
