import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../../objects/apis/flowcontrol/v1/priority-level-configuration.types.js';

/** The only priority level without limits. */
const exemptName = 'exempt';
/** The priority level of requests that no flow schema matches; every server needs it. */
const catchAllName = 'catch-all';
const catchAllSpec: PriorityLevelConfigurationSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
};

const maxQueues = 10_000_000;
/** Bits of the hash that chooses the queues of a flow. */
const maxHashBits = 60;

const specPath = FieldPath.of('spec');
const limitedPath = specPath.child('limited');
const exemptPath = specPath.child('exempt');

/** Validates a new or changed PriorityLevelConfiguration. */
export function validatePriorityLevelConfiguration({ metadata, spec }: PriorityLevelConfiguration): FieldError[] {
  const errors: FieldError[] = [];
  const isKnownType = spec.type === 'Exempt' || spec.type === 'Limited';
  if (spec.type === '') errors.push(required(specPath.child('type')));
  else if (!isKnownType) errors.push(notSupported(specPath.child('type'), spec.type, ['Exempt', 'Limited']));
  else if ((metadata.name === exemptName) !== (spec.type === 'Exempt')) {
    const detail = "must be 'Exempt' if and only if `name` is 'exempt'";
    errors.push(invalid(specPath.child('type'), spec.type, detail));
  }
  if (metadata.name === exemptName && spec.type === 'Limited') {
    const detail = `spec of '${exemptName}' except the 'spec.exempt' field must equal the fixed value`;
    errors.push(invalid(specPath, spec, detail));
  }
  if (spec.type === 'Limited') {
    if (spec.limited === undefined) errors.push(required(limitedPath));
    else checkLimited(spec.limited, errors);
    if (spec.exempt !== undefined) errors.push(forbidden(exemptPath, ''));
  } else {
    if (spec.limited !== undefined) {
      errors.push(forbidden(limitedPath, ''));
      checkQueuingIsFit(spec.limited.limitResponse, limitedPath.child('limitResponse'), errors);
    }
    if (spec.type === 'Exempt') {
      if (spec.exempt !== undefined) checkExempt(spec.exempt, errors);
    } else if (spec.exempt !== undefined) errors.push(forbidden(exemptPath, ''));
  }
  if (metadata.name === catchAllName && !deepEqual(spec, catchAllSpec)) {
    errors.push(invalid(specPath, spec, `spec of '${catchAllName}' must equal the fixed value`));
  }
  return errors;
}

function checkExempt(
  { nominalConcurrencyShares, lendablePercent }: ExemptPriorityLevelConfiguration,
  errors: FieldError[],
): void {
  checkNotNegative(nominalConcurrencyShares, exemptPath.child('nominalConcurrencyShares'), errors);
  checkPercent(lendablePercent, exemptPath.child('lendablePercent'), errors);
}

function checkLimited(limited: LimitedPriorityLevelConfiguration, errors: FieldError[]): void {
  const { nominalConcurrencyShares, limitResponse, lendablePercent, borrowingLimitPercent } = limited;
  checkNotNegative(nominalConcurrencyShares, limitedPath.child('nominalConcurrencyShares'), errors);
  checkLimitResponse(limitResponse, limitedPath.child('limitResponse'), errors);
  checkPercent(lendablePercent, limitedPath.child('lendablePercent'), errors);
  if (borrowingLimitPercent !== undefined && borrowingLimitPercent < 0) {
    const detail = 'if specified, must be a non-negative integer';
    errors.push(invalid(limitedPath.child('borrowingLimitPercent'), borrowingLimitPercent, detail));
  }
}

function checkLimitResponse({ type, queuing }: LimitResponse, path: FieldPath, errors: FieldError[]): void {
  if (type !== '' && type !== 'Queue' && type !== 'Reject') {
    errors.push(notSupported(path.child('type'), type, ['Queue', 'Reject']));
  }
  checkQueuingIsFit({ type, queuing }, path, errors);
  if (type === 'Queue' && queuing !== undefined) checkQueuing(queuing, path.child('queuing'), errors);
}

/** Only the type `Queue` has settings for queues, and it needs them. */
function checkQueuingIsFit({ type, queuing }: LimitResponse, path: FieldPath, errors: FieldError[]): void {
  if (type === '') errors.push(required(path.child('type')));
  if (type === 'Queue' && queuing === undefined) errors.push(required(path.child('queuing')));
  if (type !== 'Queue' && queuing !== undefined) errors.push(forbidden(path.child('queuing'), ''));
}

function checkQueuing(queuing: QueuingConfiguration, path: FieldPath, errors: FieldError[]): void {
  const { queues, handSize, queueLengthLimit } = queuing;
  checkPositive(queueLengthLimit, path.child('queueLengthLimit'), errors);
  checkPositive(queues, path.child('queues'), errors);
  if (queues > maxQueues) errors.push(invalid(path.child('queues'), queues, `must not be greater than ${maxQueues}`));
  const handPath = path.child('handSize');
  if (handSize <= 0) checkPositive(handSize, handPath, errors);
  else if (handSize > queues) errors.push(invalid(handPath, handSize, `should not be greater than queues (${queues})`));
  else if (Math.ceil(Math.log2(queues) * handSize) > maxHashBits) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${maxHashBits}`;
    errors.push(invalid(handPath, handSize, detail));
  }
}

function checkPositive(value: number, path: FieldPath, errors: FieldError[]): void {
  if (value <= 0) errors.push(invalid(path, value, 'must be positive'));
}

function checkNotNegative(value: number | null | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value !== undefined && value !== null && value < 0) {
    errors.push(invalid(path, value, 'must be a non-negative integer'));
  }
}

function checkPercent(value: number | undefined, path: FieldPath, errors: FieldError[]): void {
  if (value !== undefined && (value < 0 || value > 100)) {
    errors.push(invalid(path, value, 'must be between 0 and 100, inclusive'));
  }
}
