import type { OutgoingHttpHeaders } from 'node:http';
import type { UserInfo } from '../../base/machinery/request-context.js';
import { type IdentityFields, spelled } from './identity-fields.js';
import { UnspeakableUserError } from './unspeakable-user-error.js';

/** Fields that concern one connection only (RFC 9110 section 7.6.1), and fields that this server sets itself. */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Prefix of the entry of `Sec-WebSocket-Protocol` in which browsers send a token. */
const tokenProtocol = 'base64url.bearer.authorization.';

/** A request that is forwarded to another server. */
export interface PassedRequest {
  /** Names and values alternate, as the client sent them. */
  readonly rawHeaders: readonly string[];
  readonly clientAddress: string;
  /** Host and port of the service. */
  readonly host: string;
  /** The protocol that the client wants to switch to. */
  readonly upgrade: string | undefined;
  readonly hasBody: boolean;
  /** Fields that may name a user; clients must not send them. */
  readonly identities: IdentityFields;
}

export interface ForwardedRequest extends PassedRequest {
  readonly user: UserInfo;
}

/**
 * The headers of a request to an extension server, including the fields that identify the user.
 *
 * @throws UnspeakableUserError
 */
export function forwardedHeaders(request: ForwardedRequest): OutgoingHttpHeaders {
  return { ...passedHeaders(request), ...identityHeaders(request.user, request.identities) };
}

/**
 * The headers of a request to another server, without anything that could identify the client as another user than the
 * authenticated one: its credentials, the impersonation fields, and fields like those that name the user.
 */
export function passedHeaders(request: PassedRequest): OutgoingHttpHeaders {
  const { rawHeaders, clientAddress, host, upgrade, hasBody, identities } = request;
  const named = namedByConnection(rawHeaders);
  const headers: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    const value = rawHeaders[i + 1] as string;
    if (name.startsWith(':') || connectionFields.has(name) || named.has(name) || identifies(name, identities)) continue;
    if (name === 'content-length' && !hasBody) continue;
    add(headers, name, value);
  }
  if (hasBody && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
  joinCookies(headers);
  hideToken(headers);
  const forwarded = headers['x-forwarded-for'];
  headers['x-forwarded-for'] = [...(forwarded === undefined ? [] : [forwarded].flat()), clientAddress].join(', ');
  headers.host = host;
  if (upgrade !== undefined) {
    headers.connection = 'Upgrade';
    headers.upgrade = upgrade;
  }
  return headers;
}

/**
 * The fields that name a user to an extension server. Such servers ignore the case of extra keys, so the values of keys
 * that differ only in case are joined.
 *
 * @throws UnspeakableUserError
 */
export function identityHeaders({ name, uid, groups, extra }: UserInfo, fields: IdentityFields): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = { [fields.user]: spoken(name) };
  if (uid !== '') headers[fields.uid] = spoken(uid);
  if (groups.length > 0) headers[fields.group] = groups.map(spoken);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) add(headers, `${fields.extraPrefix}${escapeKey(key)}`, spoken(value));
  }
  return headers;
}

/** The fields of the response that may be passed to the client; names and values alternate. */
export function answerHeaders(rawHeaders: readonly string[]): Record<string, string | string[]> {
  const named = namedByConnection(rawHeaders);
  const headers: Record<string, string | string[]> = {};
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase();
    if (!connectionFields.has(name) && !named.has(name)) add(headers, name, rawHeaders[i + 1] as string);
  }
  return headers;
}

function identifies(name: string, { names, prefixes }: IdentityFields): boolean {
  const plain = spelled(name);
  if (plain === 'authorization' || plain.startsWith('x-remote-') || plain.startsWith('impersonate-')) return true;
  return names.has(plain) || prefixes.some((prefix) => plain.startsWith(prefix));
}

function namedByConnection(rawHeaders: readonly string[]): ReadonlySet<string> {
  const named = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if ((rawHeaders[i] as string).toLowerCase() !== 'connection') continue;
    for (const name of (rawHeaders[i + 1] as string).split(',')) named.add(name.trim().toLowerCase());
  }
  return named;
}

function add(headers: Record<string, string | string[]>, name: string, value: string): void {
  // Names such as `constructor` are valid field names. Only the field `__proto__` is lost here: assigning it does not
  // create a property.
  const known = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (known === undefined || name === 'content-length') headers[name] = value;
  else if (typeof known === 'string') headers[name] = [known, value];
  else known.push(value);
}

/** HTTP/2 clients send each cookie in a field of its own; HTTP/1.1 has one field for all. */
function joinCookies(headers: Record<string, string | string[]>): void {
  const { cookie } = headers;
  if (Array.isArray(cookie)) headers.cookie = cookie.join('; ');
}

function hideToken(headers: Record<string, string | string[]>): void {
  const asked = headers['sec-websocket-protocol'];
  if (asked === undefined) return;
  const kept = [asked]
    .flat()
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => !name.startsWith(tokenProtocol));
  if (kept.length === 0) delete headers['sec-websocket-protocol'];
  else headers['sec-websocket-protocol'] = kept.join(', ');
}

/**
 * Encodes a string as UTF-8, one character per byte. Surrounding spaces would be lost in transit, and the server would
 * see another user.
 */
function spoken(text: string): string {
  const hasControls = [...text].some((character) => character < ' ' || character === '\u007f');
  // A string with unpaired surrogates would also arrive as a different user.
  if (hasControls || !text.isWellFormed() || /^ | $/.test(text)) {
    throw new UnspeakableUserError('the user of the request has a name, group or field that no header can carry');
  }
  return Buffer.from(text, 'utf8').toString('latin1');
}

const keyCharacter = /[A-Za-z0-9!#$&'*+.^_`|~-]/;

/** The key in lower case, as receivers read it; characters that a field name can't contain are percent-encoded. */
function escapeKey(key: string): string {
  let escaped = '';
  for (const byte of Buffer.from(
    key.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
    'utf8',
  )) {
    const character = String.fromCharCode(byte);
    escaped += keyCharacter.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return escaped;
}
