/** What the page shows; it is the fragment of the address. */
export type Route =
  | { readonly page: 'home' }
  | ({ readonly page: 'list' } & ListRoute)
  | ({ readonly page: 'object' } & ObjectRoute)
  | { readonly page: 'server' }
  | { readonly page: 'map'; readonly namespace: string }
  | { readonly page: 'sql' }
  | ({ readonly page: 'changes' } & ChangesRoute)
  | ({ readonly page: 'restore' } & RestoreRoute)
  | { readonly page: 'create' }
  | { readonly page: 'helm'; readonly namespace: string }
  | ({ readonly page: 'release' } & ReleaseRoute)
  | { readonly page: 'search'; readonly text: string };

/** What changed since the moment that is shown. */
export interface ChangesRoute {
  /** The namespace; empty: all, and what is in none. */
  readonly namespace: string;
  /** The second moment in RFC 3339; empty: now. */
  readonly to: string;
}

/** What brings a namespace, or one object, back to the moment that is shown. */
export interface RestoreRoute {
  readonly namespace: string;
  /** The object as `resource.group/name`; empty: the whole namespace. */
  readonly of: string;
}

/** A revision of a Helm release; an empty one means the newest. */
export interface ReleaseRoute {
  readonly namespace: string;
  readonly name: string;
  readonly revision: string;
}

export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface ListRoute extends ResourceName {
  /** The namespace; empty: all. */
  readonly namespace: string;
  readonly labels: string;
  readonly fields: string;
  /** Words that rows must contain. */
  readonly text: string;
  /** The object that is shown beside the list. */
  readonly open?: OpenObject;
}

export interface OpenObject {
  readonly namespace: string;
  readonly name: string;
  readonly tab: Tab;
}

export const tabs = ['summary', 'yaml', 'events', 'owners', 'timeline', 'access', 'logs', 'terminal'] as const;
export type Tab = (typeof tabs)[number];

export interface ObjectRoute extends ResourceName, OpenObject {}

/** Reads a fragment; an unknown one means the start page. */
export function parseRoute(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#\/?/, '').split('?');
  const [page = '', ...segments] = path.split('/');
  const query = new URLSearchParams(search);
  const parts: string[] = [];
  for (const segment of segments) {
    try {
      parts.push(decodeURIComponent(segment));
    } catch {
      return { page: 'home' };
    }
  }
  const [group = '', version = '', resource = '', namespace = '', name = ''] = parts;
  const named = { group: group === 'core' ? '' : group, version, resource };
  const get = (key: string) => query.get(key) ?? '';
  const tab = tabs.find((each) => each === get('tab')) ?? 'summary';
  if (page === 'list' && resource !== '') {
    const filters = { namespace: get('ns'), labels: get('labels'), fields: get('fields'), text: get('q') };
    const opened = get('open');
    const slash = opened.indexOf('/');
    if (slash < 0 || slash === opened.length - 1) return { page, ...named, ...filters };
    const open = { namespace: opened.slice(0, slash), name: opened.slice(slash + 1), tab };
    return { page, ...named, ...filters, open };
  }
  if (page === 'object' && name !== '') {
    return { page, ...named, namespace: namespace === '-' ? '' : namespace, name, tab };
  }
  if (page === 'changes') return { page, namespace: get('ns'), to: get('to') };
  if (page === 'restore') return { page, namespace: get('ns'), of: get('of') };
  if (page === 'helm') return { page, namespace: get('ns') };
  if (page === 'release') return { page, namespace: get('ns'), name: get('name'), revision: get('revision') };
  if (page === 'search') return { page, text: get('q') };
  if (page === 'map') return { page, namespace: get('ns') };
  return page === 'server' || page === 'sql' || page === 'create' ? { page } : { page: 'home' };
}

export function formatRoute(route: Route): string {
  switch (route.page) {
    case 'list': {
      const { namespace: ns, labels, fields, text: q, open } = route;
      const opened = open === undefined ? '' : `${open.namespace}/${open.name}`.toWellFormed();
      const more = { open: opened, tab: open === undefined ? '' : tabText(open.tab) };
      return `#/list/${resourcePath(route)}${search({ ns, labels, fields, q, ...more })}`;
    }
    case 'object': {
      const { namespace, name, tab } = route;
      const path = `${resourcePath(route)}/${encoded(namespace || '-')}/${encoded(name)}`;
      return `#/object/${path}${search({ tab: tabText(tab) })}`;
    }
    case 'map':
      return `#/map${search({ ns: route.namespace })}`;
    case 'changes':
      return `#/changes${search({ ns: route.namespace, to: route.to })}`;
    case 'restore':
      return `#/restore${search({ ns: route.namespace, of: route.of })}`;
    case 'helm':
      return `#/helm${search({ ns: route.namespace })}`;
    case 'release':
      return `#/release${search({ ns: route.namespace, name: route.name, revision: route.revision })}`;
    case 'search':
      return `#/search${search({ q: route.text })}`;
    case 'home':
      return '#/';
    default:
      return `#/${route.page}`;
  }
}

/** The list of a kind, without filters. */
export function listRoute({ group, version, resource }: ResourceName, namespace: string): ListRoute & { page: 'list' } {
  return { page: 'list', group, version, resource, namespace, labels: '', fields: '', text: '' };
}

function tabText(tab: Tab): string {
  return tab === 'summary' ? '' : tab;
}

function resourcePath({ group, version, resource }: ResourceName): string {
  return [group || 'core', version, resource].map(encoded).join('/');
}

function search(values: Readonly<Record<string, string>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** An extension server may send names with lone surrogates, which no URL can contain. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
