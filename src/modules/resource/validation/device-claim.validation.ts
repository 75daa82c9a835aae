import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain } from '../../../base/machinery/names.js';
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  ExactDeviceRequest,
} from '../../../objects/apis/resource/v1/device-claim.types.js';
import { declared, declaredLast, onlyDeclared } from './declared.js';
import { validateDeviceConfiguration } from './device-configuration.validation.js';
import { validateDeviceLabel, validateFullyQualifiedName } from './device-names.validation.js';
import { DeviceExpressions, validateDeviceSelectors } from './device-selector.validation.js';
import { validateDeviceToleration } from './device-taint.validation.js';
import { validateDeclaredSet, validateItems } from './lists.validation.js';
import { RequestNames } from './request-names.js';

const maxEntries = 32;
const maxChoices = 8;
const modes = ['All', 'ExactCount'];

/** Validates what a new claim requests. */
export function validateDeviceClaim(claim: DeviceClaim, path: FieldPath): FieldError[] {
  const names = new RequestNames(claim);
  const expressions = new DeviceExpressions();
  return declaredLast([
    ...validateDeclaredSet(
      claim.requests,
      maxEntries,
      path.child('requests'),
      (request, at) => validateRequest(request, at, expressions),
      ({ name }) => name,
    ),
    ...validateItems(claim.constraints, maxEntries, path.child('constraints'), (constraint, at) =>
      validateConstraint(constraint, at, names),
    ),
    ...validateItems(claim.config, maxEntries, path.child('config'), (config, at) => [
      ...validateRequestReferences(config.requests, at.child('requests'), names),
      ...validateDeviceConfiguration(config, at),
    ]),
  ]);
}

/** Validates a list of names of requests that a constraint or configuration applies to. */
export function validateRequestReferences(
  references: readonly string[] | undefined,
  path: FieldPath,
  names: RequestNames,
): FieldError[] {
  return validateDeclaredSet(
    references,
    maxEntries,
    path,
    (name, at) => names.validateReference(name, at),
    (name) => name,
  );
}

function validateRequest(request: DeviceRequest, path: FieldPath, expressions: DeviceExpressions): FieldError[] {
  const { name, exactly, firstAvailable = [] } = request;
  const errors = validateDeviceLabel(name, path.child('name'));
  const rule = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly === undefined && firstAvailable.length === 0) return [...errors, required(path, rule)];
  const wanted =
    exactly === undefined
      ? []
      : [
          ...validateClassName(exactly.deviceClassName, path.child('exactly').child('deviceClassName')),
          ...validateWanted(exactly, path.child('exactly'), expressions),
        ];
  const choices = validateDeclaredSet(
    firstAvailable,
    maxChoices,
    path.child('firstAvailable'),
    (choice, at) => [
      ...validateDeviceLabel(choice.name, at.child('name')),
      ...validateDeclaredClassName(choice.deviceClassName, at.child('deviceClassName')),
      ...validateWanted(choice, at, expressions),
    ],
    (choice) => choice.name,
  );
  if (exactly !== undefined && firstAvailable.length > 0) {
    const detail = `${rule}, but multiple fields are set`;
    return [...errors, invalid(path, null, detail), ...onlyDeclared([...wanted, ...choices])];
  }
  return [...errors, ...wanted, ...choices];
}

function validateClassName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)];
  return isDns1123Subdomain(name).map((message) => invalid(path, name, message));
}

/** The rules for the class of an alternative are declared with the type, and count bytes. */
function validateDeclaredClassName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return declared([required(path)]);
  const messages = isDns1123Subdomain(name).map((message) => message.replace('253 characters', '253 bytes'));
  return declared(messages.map((message) => invalid(path, name, message)));
}

type Wanted = Pick<ExactDeviceRequest, 'selectors' | 'allocationMode' | 'count' | 'tolerations'>;

function validateWanted(wanted: Wanted, path: FieldPath, expressions: DeviceExpressions): FieldError[] {
  const { selectors, tolerations } = wanted;
  return [
    ...validateDeviceSelectors(selectors, path.child('selectors'), expressions),
    ...validateAllocationMode(wanted, path),
    ...(tolerations ?? []).flatMap((toleration, i) =>
      validateDeviceToleration(toleration, path.child('tolerations').index(i)),
    ),
  ];
}

function validateAllocationMode({ allocationMode = '', count = 0 }: Wanted, path: FieldPath): FieldError[] {
  if (allocationMode === 'All') {
    const detail = "must not be specified when allocationMode is 'All'";
    return Number(count) === 0 ? [] : [invalid(path.child('count'), count, detail)];
  }
  if (allocationMode !== 'ExactCount')
    return declared([notSupported(path.child('allocationMode'), allocationMode, modes)]);
  return Number(count) > 0 ? [] : [invalid(path.child('count'), count, 'must be greater than zero')];
}

function validateConstraint(constraint: DeviceConstraint, path: FieldPath, names: RequestNames): FieldError[] {
  const { requests, matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestReferences(requests, path.child('requests'), names);
  if (matchAttribute !== undefined) {
    return [...errors, ...declared(validateFullyQualifiedName(matchAttribute, path.child('matchAttribute')))];
  }
  if (distinctAttribute !== undefined) {
    return [...errors, ...declared(validateFullyQualifiedName(distinctAttribute, path.child('distinctAttribute')))];
  }
  const detail = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, required(path, detail)];
}
