import type { RequestContext } from '../../../base/machinery/request-context.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import { listVersionParameter, parseResourceVersion } from '../../../objects/registry/store/object-codec.js';
import type { EndpointServices } from '../endpoint-services.js';
import type { ContinuePosition, ContinueScope } from './continue-tokens.js';
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
 * Parses limit, continue, resourceVersion and resourceVersionMatch of a list, whose combination `checkListRules` has
 * checked.
 *
 * @param services without the feature `APIListChunking`, limit and continue are ignored
 * @param list the scope of the list
 */
export function parseListOptions(
  context: RequestContext,
  services: Pick<EndpointServices, 'continueTokens' | 'features'>,
  list: ContinueScope,
): ListOptions {
  const { query } = context;
  const isChunked = services.features.isOn('APIListChunking');
  const limit = isChunked ? parseLimit(query.get('limit')) : 0;
  parseTimeoutSeconds(query.get('timeoutSeconds'));
  const token = isChunked ? (query.get('continue') ?? '') : '';
  const versionText = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch') ?? '';

  if (token !== '') {
    const position = services.continueTokens.decode(list, token);
    if (!/^0*$/.test(versionText)) {
      throw badRequestError('specifying resource version is not allowed when using continue');
    }
    return { limit, semantics: { kind: 'continue', ...position } };
  }
  const version = parseResourceVersion(versionText, listVersionParameter);
  if (version === undefined) {
    return {
      limit,
      semantics: /^0+$/.test(versionText) ? { kind: 'notOlderThan', version: 0n } : { kind: 'mostRecent' },
    };
  }
  const exact = match === 'Exact' || (match === '' && limit > 0);
  return { limit, semantics: { kind: exact ? 'exact' : 'notOlderThan', version } };
}

/** Throws a 400 for numbers of a list or watch that are none and have an effect. They are read before its selectors. */
export function checkNumbers(
  { query }: Pick<RequestContext, 'query'>,
  { features }: Pick<EndpointServices, 'features'>,
): void {
  parseCountedNumber(query.get('timeoutSeconds'));
  if (features.isOn('APIListChunking')) parseCountedNumber(query.get('limit'));
}

/**
 * Parses `timeoutSeconds` of a list or watch; undefined when it is missing or 0. A negative timeout counts as expired.
 * Throws a 400 for anything that is not a number.
 */
export function parseTimeoutSeconds(text: string | null): number | undefined {
  const seconds = parseCountedNumber(text);
  return seconds === 0 ? undefined : seconds;
}

function parseLimit(text: string | null): number {
  return Math.max(0, parseCountedNumber(text) ?? 0);
}
