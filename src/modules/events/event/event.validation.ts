import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { structForm } from '../../../base/machinery/schema/struct-form.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Event, eventSource } from '../../../objects/apis/core/v1/event.types.js';
import { objectReference } from '../../../objects/apis/core/v1/reference.types.js';

const maxReportLength = 128;
const maxMessageLength = 1024;

const path = (...names: readonly [string, ...string[]]): FieldPath => FieldPath.of(names[0], ...names.slice(1));
const involvedNamespacePath = path('involvedObject', 'namespace');

/** Validates a new event; `strict` selects the checks of v1 in the events group. */
export function validateEvent(object: Event, names: VendorNames, strict: boolean): FieldError[] {
  const errors = validateChangedEvent(object, names, strict);
  if (strict) validateStrictly(object, errors);
  return errors;
}

/** Validates a changed event, in every version. */
export function validateChangedEvent(object: Event, names: VendorNames, strict: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = object.metadata.namespace ?? '';
  const involved = object.involvedObject.namespace ?? '';
  const noMatch = (): number => errors.push(invalid(involvedNamespacePath, involved, 'does not match event.namespace'));
  if (object.eventTime === null) {
    // Events about cluster-scoped objects live in the default namespace.
    const expected = involved === '' ? 'default' : involved;
    if (namespace !== expected) noMatch();
    return errors;
  }
  if (involved === '' && namespace !== 'default' && namespace !== names.systemNamespace) noMatch();
  validateReport(object, strict ? 'reportingController' : 'reportingComponent', errors);
  return errors;
}

/** The fields that never change: the names that messages show, and the names in the stored form. */
const fixedFields = [
  ['involvedObject', 'involvedObject'],
  ['reason', 'reason'],
  ['message', 'message'],
  ['source', 'source'],
  ['firstTimestamp', 'firstTimestamp'],
  ['lastTimestamp', 'lastTimestamp'],
  ['count', 'count'],
  ['type', 'type'],
  ['eventTime', 'eventTime'],
  ['action', 'action'],
  ['related', 'related'],
  ['reportingController', 'reportingComponent'],
  ['reportingInstance', 'reportingInstance'],
] as const satisfies readonly (readonly [string, keyof Event])[];

/** Validates an event that is changed in v1 of the events group: only its metadata and its series may change. */
export function validateStrictChange(object: Event, old: Event, names: VendorNames): FieldError[] {
  const errors = validateChangedEvent(object, names, true);
  if (!deepEqual(object.series, old.series)) validateSeries(object, errors);
  for (const [field, name] of fixedFields) {
    if (!deepEqual(object[name], old[name]))
      errors.push(invalid(path(field), shownForm(object, name), 'field is immutable'));
  }
  return errors;
}

/** The value of a field as messages show it. */
function shownForm(object: Event, name: keyof Event): unknown {
  const value = object[name];
  if (name === 'involvedObject' || name === 'related') return structForm(objectReference, value);
  if (name === 'source') return structForm(eventSource, value);
  return value === undefined ? (name === 'count' ? 0 : '') : value;
}

function validateSeries({ series }: Event, errors: FieldError[]): void {
  if (series === undefined) return;
  if ((series.count ?? 0) < 2) errors.push(invalid(path('series', 'count'), '', 'should be at least 2'));
  if (series.lastObservedTime === null) errors.push(required(path('series', 'lastObservedTime')));
}

/** @param controllerField the name of the field with the controller, which depends on the group of the request */
function validateReport(object: Event, controllerField: string, errors: FieldError[]): void {
  const controllerPath = path(controllerField);
  if (object.reportingComponent === '') errors.push(required(controllerPath));
  for (const m of isQualifiedName(object.reportingComponent)) {
    errors.push(invalid(controllerPath, object.reportingComponent, m));
  }
  for (const field of ['reportingInstance', 'action', 'reason'] as const) {
    const value = object[field] ?? '';
    if (value === '') errors.push(required(path(field)));
    else if (value.length > maxReportLength) errors.push(tooManyCharacters(path(field), maxReportLength));
  }
  if ((object.message ?? '').length > maxMessageLength) {
    errors.push(tooManyCharacters(path('message'), maxMessageLength));
  }
}

function tooManyCharacters(at: FieldPath, max: number): FieldError {
  return invalid(at, '', `can have at most ${max} characters`);
}

function validateStrictly(object: Event, errors: FieldError[]): void {
  const name = object.metadata.name ?? '';
  for (const m of isDns1123Subdomain(name)) errors.push(invalid(path('metadata', 'name'), name, m));
  validateSeries(object, errors);
  if (object.eventTime === null) errors.push(required(path('eventTime')));
  if (object.type !== 'Normal' && object.type !== 'Warning') {
    errors.push(invalid(path('type'), '', `has invalid value: ${object.type ?? ''}`));
  }
  const isSet = {
    firstTimestamp: object.firstTimestamp !== null,
    lastTimestamp: object.lastTimestamp !== null,
    count: (object.count ?? 0) !== 0,
    source: (object.source.component ?? '') !== '' || (object.source.host ?? '') !== '',
  };
  for (const [field, value] of Object.entries(isSet)) {
    if (value) errors.push(invalid(path(field), '', 'needs to be unset'));
  }
}
