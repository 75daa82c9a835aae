import { type FieldError, FieldPath, forbidden, notSupported } from '../../../base/machinery/field-error.js';
import { invalidError, StatusError } from '../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';

const matchPath = FieldPath.of('resourceVersionMatch');
const initialPath = FieldPath.of('sendInitialEvents');

/**
 * Checks that the parameters of a list can be combined. Throws a 400 for combinations that the table of specification
 * 4.4 calls invalid (specification 7), a 422 for other errors.
 */
export function checkListRules(query: URLSearchParams, names: Pick<VendorNames, 'suffix'>): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const version = query.get('resourceVersion') ?? '';
  const combinations: FieldError[] = [];
  const others: FieldError[] = [];
  if (match !== '') {
    if (version === '') {
      combinations.push(forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
    }
    if ((query.get('continue') ?? '') !== '') {
      combinations.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      others.push(notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']));
    }
    if (match === 'Exact' && version === '0') {
      combinations.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
    }
  }
  if (query.has('sendInitialEvents')) others.push(forbidden(initialPath, 'sendInitialEvents is forbidden for list'));
  const faults = [...combinations, ...others];
  if (faults.length === 0) return;
  const error = listError(names, faults);
  // A 400 with the message and causes of the 422.
  if (combinations.length > 0)
    throw new StatusError('BadRequest', error.message, { details: error.toStatus().details });
  throw error;
}

/** Checks that the parameters of a watch can be combined. Throws a 422 if they can't. */
export function checkWatchRules(
  query: URLSearchParams,
  names: Pick<VendorNames, 'suffix'>,
  hasInitialEvents: boolean,
): void {
  const match = query.get('resourceVersionMatch') ?? '';
  const asksInitial = query.has('sendInitialEvents');
  const faults: FieldError[] = [];
  if (asksInitial && match !== 'NotOlderThan') {
    faults.push(forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (asksInitial && !hasInitialEvents) {
    const detail = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
    faults.push(forbidden(initialPath, detail));
  }
  if (match !== '') {
    if (!asksInitial) {
      const detail = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
      faults.push(forbidden(matchPath, detail));
    }
    if (match !== 'NotOlderThan') faults.push(notSupported(matchPath, match, ['NotOlderThan']));
  }
  // A watch from no version begins with what is there, as if it had named this parameter.
  const fromNow = ['', '0'].includes(query.get('resourceVersion') ?? '');
  if ((query.get('continue') ?? '') !== '' && (match !== '' || fromNow)) {
    faults.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (faults.length > 0) throw listError(names, faults);
}

function listError({ suffix }: Pick<VendorNames, 'suffix'>, faults: readonly FieldError[]): StatusError {
  return invalidError({ group: `meta.${suffix}`, kind: 'ListOptions' }, '', faults);
}
