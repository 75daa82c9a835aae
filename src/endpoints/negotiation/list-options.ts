import { createHash } from 'node:crypto';
import { type FieldError, FieldPath, forbidden, notSupported } from '../../machinery/field-error.js';
import type { RequestContext } from '../../machinery/request-context.js';
import { badRequestError, invalidError } from '../../machinery/status-error.js';
import type { VendorNames } from '../../machinery/vendor.js';
import { parseResourceVersion } from '../../registry/object-codec.js';
import type { ListPosition } from '../../storage/storage.interface.js';

/** What a list is to show, by the table of specification 4.4. */
export type ListSemantics =
  | { readonly kind: 'mostRecent' }
  | { readonly kind: 'notOlderThan'; readonly version: bigint }
  | { readonly kind: 'exact'; readonly version: bigint }
  /** No version: a token given out with a 410 goes on at the newest one. */
  | { readonly kind: 'continue'; readonly version: bigint | undefined; readonly after: ListPosition };

export interface ListOptions {
  /** 0: no limit. */
  readonly limit: number;
  readonly semantics: ListSemantics;
}

const matchPath = FieldPath.of('resourceVersionMatch');

/** Parses and checks limit, continue, resourceVersion and resourceVersionMatch of a list. */
export function parseListOptions(context: RequestContext, names: VendorNames): ListOptions {
  const { query } = context;
  const limit = parseLimit(query.get('limit'));
  const token = query.get('continue') ?? '';
  const versionText = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '') checkMatch(names, match, versionText, token);

  if (token !== '') {
    if (versionText !== '' && versionText !== '0') {
      throw badRequestError('specifying resource version is not allowed when using continue');
    }
    return { limit, semantics: decodeContinue(token) };
  }
  const version = parseResourceVersion(versionText);
  // Any version will do for `0`; the newest is the best of them.
  if (version === undefined) return { limit, semantics: { kind: 'mostRecent' } };
  const exact = match === 'Exact' || (match === '' && limit > 0);
  return { limit, semantics: { kind: exact ? 'exact' : 'notOlderThan', version } };
}

function checkMatch(names: VendorNames, match: string, version: string, token: string): void {
  const errors: FieldError[] = [];
  if (version === '') {
    errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  }
  if (token !== '') {
    errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    errors.push(notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']));
  }
  if (match === 'Exact' && version === '0') {
    errors.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (errors.length > 0) throw invalidError({ group: `meta.${names.suffix}`, kind: 'ListOptions' }, '', errors);
}

function parseLimit(text: string | null): number {
  if (text === null || text === '') return 0;
  if (!/^[+-]?\d{1,15}$/.test(text)) throw badRequestError(`limit: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}

interface ContinueToken {
  readonly v: string;
  readonly rv: string;
  readonly ns: string;
  readonly name: string;
}

const tokenFormat = 'p1';

/**
 * An opaque token for the page behind `after` at `version` (undefined: at whatever is newest then); any process can
 * read it.
 */
export function encodeContinue(version: bigint | undefined, after: ListPosition): string {
  const token: ContinueToken = { v: tokenFormat, rv: String(version ?? ''), ns: after.namespace, name: after.name };
  const text = JSON.stringify(token);
  return Buffer.from(`${checksum(text)}${text}`).toString('base64url');
}

function decodeContinue(text: string): ListSemantics {
  const bad = (detail: string) => badRequestError(`invalid continue token: continue key is not valid: ${detail}`);
  if (!/^[A-Za-z0-9_-]+={0,2}$/.test(text)) throw bad('not base64');
  const decoded = Buffer.from(text, 'base64url').toString('utf8');
  const body = decoded.slice(8);
  if (decoded.slice(0, 8) !== checksum(body)) throw bad('wrong checksum');
  const token = JSON.parse(body) as ContinueToken;
  if (token.v !== tokenFormat || !/^\d{0,19}$/.test(token.rv)) throw bad('unknown format');
  const version = token.rv === '' ? undefined : BigInt(token.rv);
  return { kind: 'continue', version, after: { namespace: token.ns, name: token.name } };
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 8);
}
