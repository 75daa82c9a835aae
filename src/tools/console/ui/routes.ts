/** What the page shows; it is the fragment of the address. */
export type Route =
  | { readonly page: 'home' }
  | ({ readonly page: 'list' } & ListRoute)
  | ({ readonly page: 'object' } & ObjectRoute)
  | { readonly page: 'server' }
  | { readonly page: 'map'; readonly namespace: string }
  | { readonly page: 'sql' };

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
}

export const tabs = ['yaml', 'events', 'owners', 'timeline'] as const;
export type Tab = (typeof tabs)[number];

export interface ObjectRoute extends ResourceName {
  readonly namespace: string;
  readonly name: string;
  readonly tab: Tab;
}

/** Reads a fragment; an unknown one means the start page. */
export function parseRoute(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#?\/?/, '').split('?', 2);
  const [page, ...segments] = path.split('/');
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
  if (page === 'list' && resource !== '') {
    return { page, ...named, namespace: get('ns'), labels: get('labels'), fields: get('fields'), text: get('q') };
  }
  if (page === 'object' && name !== '') {
    const tab = tabs.find((each) => each === get('tab')) ?? 'yaml';
    return { page, ...named, namespace: namespace === '-' ? '' : namespace, name, tab };
  }
  if (page === 'map') return { page, namespace: get('ns') };
  return page === 'server' || page === 'sql' ? { page } : { page: 'home' };
}

export function formatRoute(route: Route): string {
  switch (route.page) {
    case 'list': {
      const { namespace: ns, labels, fields, text: q } = route;
      return `#/list/${resourcePath(route)}${search({ ns, labels, fields, q })}`;
    }
    case 'object': {
      const { namespace, name, tab } = route;
      const path = `${resourcePath(route)}/${encoded(namespace || '-')}/${encoded(name)}`;
      return `#/object/${path}${search({ tab: tab === 'yaml' ? '' : tab })}`;
    }
    case 'map':
      return `#/map${search({ ns: route.namespace })}`;
    case 'home':
      return '#/';
    default:
      return `#/${route.page}`;
  }
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
