import { defaultFeatureGates, type FeatureGates } from '../../../base/config/feature-gates.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { parseResourceVersion } from '../../../objects/registry/store/object-codec.js';
import type { ContinuePosition, ContinueQuery, ContinueTokens } from './continue-tokens.js';
import { parseCountedNumber } from './query-number.js';

/** Which state a list shows, by the table of specification 4.4. */
export type ListSemantics =
  | { readonly kind: 'mostRecent' }
  /** Version 0: any state. */
  | { readonly kind: 'notOlderThan'; readonly version: bigint }
  | { readonly kind: 'exact'; readonly version: bigint }
  | ({ readonly kind: 'continue' } & ContinuePosition);

export interface ListOptions {
  /** 0: no limit. */
  readonly limit: number;
  readonly semantics: ListSemantics;
}

/**
 * Parses and checks limit, continue, resourceVersion and resourceVersionMatch of a list.
 *
 * @param list the query of the list
 * @param features without `APIListChunking`, limit and continue are ignored
 */
export function parseListOptions(
  context: RequestContext,
  tokens: ContinueTokens,
  list: ContinueQuery,
  features: FeatureGates = defaultFeatureGates,
): ListOptions {
  const { query } = context;
  const isChunked = features.isOn('APIListChunking');
  const limit = isChunked ? parseLimit(query.get('limit')) : 0;
  parseTimeoutSeconds(query.get('timeoutSeconds'));
  const token = isChunked ? (query.get('continue') ?? '') : '';
  const versionText = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';
  if (match !== '') checkMatch(match, versionText, token);
  if (query.has('sendInitialEvents')) throw badRequestError('sendInitialEvents is forbidden for list');

  if (token !== '') {
    if (versionText !== '' && versionText !== '0') {
      throw badRequestError('specifying resource version is not allowed when using continue');
    }
    return { limit, semantics: { kind: 'continue', ...tokens.decode(list, token) } };
  }
  const version = parseResourceVersion(versionText);
  if (version === undefined) {
    return { limit, semantics: versionText === '0' ? { kind: 'notOlderThan', version: 0n } : { kind: 'mostRecent' } };
  }
  const exact = match === 'Exact' || (match === '' && limit > 0);
  return { limit, semantics: { kind: exact ? 'exact' : 'notOlderThan', version } };
}

/** Throws a 400 for a match that does not fit its version (specification 7). */
function checkMatch(match: string, version: string, token: string): void {
  const faults: string[] = [];
  if (version === '') faults.push('is forbidden unless resourceVersion is provided');
  if (token !== '') faults.push('is forbidden when continue is provided');
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    faults.push(`must be "Exact" or "NotOlderThan", not ${JSON.stringify(match)}`);
  }
  if (match === 'Exact' && version === '0') faults.push('"Exact" is forbidden for resourceVersion "0"');
  if (faults.length > 0) throw badRequestError(faults.map((fault) => `resourceVersionMatch ${fault}`).join(', '));
}

/**
 * Parses `timeoutSeconds` of a list or watch; undefined when it is missing or 0. A negative time is over. Throws a 400 for
 * text that is not a number.
 */
export function parseTimeoutSeconds(text: string | null): number | undefined {
  const seconds = parseCountedNumber(text, 'timeoutSeconds');
  return seconds === 0 ? undefined : seconds;
}

function parseLimit(text: string | null): number {
  return Math.max(0, parseCountedNumber(text, 'limit') ?? 0);
}
