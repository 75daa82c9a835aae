import { CelError } from '../cel-error.js';
import type { LibraryBuilder } from '../function-table.js';
import { listOf, mapOf, opaque, types } from '../values/cel-type.js';
import { ListValue, type MapKey, MapValue, OpaqueValue, type Value } from '../values/value.js';

const { bool, string } = types;
const urlTypeName = 'kubernetes.URL';
const urlType = opaque(urlTypeName);
// Scheme, authority, path and query. URLs with a scheme need an authority; those without are absolute paths.
const shape = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?$/;
const authorityShape = /^(?:([^@]*)@)?(\[[0-9a-fA-F:.%]+\]|[^:[\]@]*)(?::(\d*))?$/;
const badCharacters = /[\s<>"^`{|}\\\p{Cc}]/u;
const badEscape = /%(?![0-9a-fA-F]{2})/;

interface UrlParts {
  readonly scheme: string;
  readonly hostname: string;
  /** The port; undefined without a colon after the host name. */
  readonly port: string | undefined;
  readonly path: string;
  readonly query: string;
}

class UrlValue extends OpaqueValue {
  readonly typeName = urlTypeName;

  constructor(
    readonly text: string,
    readonly parts: UrlParts,
  ) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof UrlValue && other.text === this.text;
  }

  get host(): string {
    const { hostname, port } = this.parts;
    return port === undefined ? hostname : `${hostname}:${port}`;
  }
}

/** Reads an absolute URL or an absolute path; undefined for any other string. */
function parse(text: string): UrlValue | undefined {
  const match = shape.exec(text);
  if (match === null) return undefined;
  const [, scheme = '', authority, path = '', query = ''] = match;
  if (scheme === '' && !path.startsWith('/')) return undefined;
  if (scheme !== '' && authority === undefined && !path.startsWith('/')) return undefined;
  const parts = authorityShape.exec(authority ?? '');
  if (parts === null) return undefined;
  const [, , hostname = '', port] = parts;
  if (badCharacters.test(hostname) || badEscape.test(hostname) || badEscape.test(path)) return undefined;
  if (/[\p{Cc}]/u.test(text) || (badCharacters.test(path) && / /.test(hostname))) return undefined;
  return new UrlValue(text, { scheme: scheme.toLowerCase(), hostname, port, path, query });
}

function url(text: string): UrlValue {
  const value = parse(text);
  if (value === undefined)
    throw new CelError(`URL parse error during conversion from string: ${JSON.stringify(text.slice(0, 256))}`);
  return value;
}

/** Escapes characters that may not appear in a path. */
function escapedPath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]/gu, (c) => encodeURIComponent(c));
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function queryMap(query: string): MapValue {
  const lists = new Map<string, Value[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equalsAt = pair.indexOf('=');
    const key = decoded(equalsAt < 0 ? pair : pair.slice(0, equalsAt));
    const value = decoded(equalsAt < 0 ? '' : pair.slice(equalsAt + 1));
    if (key === undefined || value === undefined) continue;
    const known = lists.get(key);
    if (known === undefined) lists.set(key, [value]);
    else known.push(value);
  }
  const entries = new Map<MapKey, { key: Value; value: Value }>();
  for (const [key, values] of lists) entries.set(key, { key, value: new ListValue(values) });
  return new MapValue(entries);
}

/** `url` and its getters. */
export function urls(library: LibraryBuilder): void {
  const charged = <T extends Value>(read: (value: UrlValue) => T) => {
    return ({ budget }: { readonly budget: { charge(units: number): void } }, value: UrlValue): T => {
      budget.charge(value.text.length);
      return read(value);
    };
  };
  library
    .fn('url', [string], urlType, ({ budget }, text: string) => {
      budget.charge(text.length);
      return url(text);
    })
    .fn('isURL', [string], bool, ({ budget }, text: string) => {
      budget.charge(text.length);
      return parse(text) !== undefined;
    })
    .method('getScheme', [urlType], string, (_, { parts }: UrlValue) => parts.scheme)
    .method('getHost', [urlType], string, (_, value: UrlValue) => value.host)
    .method('getHostname', [urlType], string, (_, { parts }: UrlValue) => parts.hostname.replace(/^\[(.*)\]$/, '$1'))
    .method('getPort', [urlType], string, (_, { parts }: UrlValue) => parts.port ?? '')
    .method(
      'getEscapedPath',
      [urlType],
      string,
      charged((value) => escapedPath(value.parts.path)),
    )
    .method(
      'getQuery',
      [urlType],
      mapOf(string, listOf(string)),
      charged((value) => queryMap(value.parts.query)),
    );
}
