import {
  type FieldError,
  type FieldPath,
  invalid,
  required,
  typeInvalid,
} from '../../../base/machinery/field-error.js';
import { ExactNumber } from '../../../base/machinery/json/exact-numbers.js';
import { Comparer } from './comparison.js';
import { placeText, type SchemaFault, toErrors } from './faults.js';
import { formatCheck } from './formats.js';
import { isRecord, type JsonRecord } from './json-objects.js';
import { oldItems } from './list-items.js';
import type { NestedValidation, SchemaTypeName, StructuralSchema, ValueValidation } from './structural-schema.js';
import { structureFaults } from './structure-faults.js';
import { ValidationBudget } from './validation-budget.js';
import { ValidationBudgetExceeded } from './validation-budget-exceeded.js';
import {
  arrayFault,
  commonFault,
  formatFault,
  multipleFault,
  numberFormatFault,
  numberFormats,
  objectFault,
  rangeFault,
  stringFault,
} from './value-faults.js';

export interface ValidateOptions {
  /** The value before an update: faults of unchanged parts are not reported. Undefined on create. */
  readonly old?: unknown;
}

/** The most errors to report: more would not help anyone. */
const maxFaults = 1000;

/**
 * The faults of a value: types, all keywords of OpenAPI, formats, embedded resources, lists that are maps or sets.
 * `path` is where the value is; undefined for a whole object. Expects a value that {@link pruned} and {@link
 * withDefaults} made.
 *
 * With `old`, a fault is reported only if a value that it concerns changed: the field, or the object or list around it.
 * Items of a list map are compared by their keys, other lists as wholes. Two kinds of rules have other exceptions:
 * faults of list maps and sets are reported only if all lists of the old object were free of them, faults of embedded
 * resources always.
 *
 * A value without faults costs no allocation besides the walk. The work is linear in the value: work that a schema
 * could multiply (alternatives, patterns, comparisons of enums) is counted, and a value that takes too much of it is
 * refused. At most a thousand errors are returned.
 */
export function validateValue(
  schema: StructuralSchema,
  value: unknown,
  path: FieldPath | undefined,
  { old }: ValidateOptions = {},
): FieldError[] {
  const faults: SchemaFault[] = [];
  if (!isValid(schema, value, new ValidationBudget()))
    collectFaults(schema, value, old, faults, new ValidationBudget());
  if (schema.hasStructureRules) structureFaults(schema, value, old, faults, maxFaults);
  return toErrors(faults.slice(0, maxFaults), path);
}

/**
 * Like {@link validateValue}, for one of many values that share a budget. Does not check embedded resources and lists
 * that are maps or sets.
 */
export function validateWithin(
  schema: StructuralSchema,
  value: unknown,
  path: FieldPath,
  work: ValidationBudget,
): FieldError[] {
  const faults: SchemaFault[] = [];
  if (!isValid(schema, value, work)) collectFaults(schema, value, undefined, faults, work);
  return toErrors(faults.slice(0, maxFaults), path);
}

function isValid(schema: StructuralSchema, value: unknown, work: ValidationBudget): boolean {
  const walk = new Validation(work, undefined, undefined);
  try {
    walk.visit(schema, value, undefined);
  } catch (error) {
    if (!(error instanceof ValidationBudgetExceeded)) throw error;
    return false;
  }
  return walk.faults === 0;
}

function collectFaults(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  faults: SchemaFault[],
  work: ValidationBudget,
): void {
  const walk = new Validation(work, faults, old === undefined ? undefined : new Comparer());
  try {
    walk.visit(schema, value, old);
  } catch (error) {
    if (error instanceof ValidationBudgetExceeded) faults.push(tooMuchWork);
    else if (!(error instanceof EnoughFaults)) throw error;
  }
}

const tooMuchWork: SchemaFault = {
  place: '',
  toError: (path) => invalid(path, '', 'takes too much work to validate: the schema has too many alternatives'),
};

class EnoughFaults extends Error {}

type Kind = SchemaTypeName | 'null';

/** One walk through a value: either to the first fault, or collecting all of them. */
class Validation {
  faults = 0;
  /** The position of the walk; kept only while faults are collected. */
  private readonly segments: (string | number)[] = [];
  /** The number of faults at which the branch being tried has failed; undefined to go on. */
  private failedAt: number | undefined;

  constructor(
    private readonly work: ValidationBudget,
    private sink: SchemaFault[] | undefined,
    private readonly comparer: Comparer | undefined,
  ) {
    this.failedAt = sink === undefined ? 1 : undefined;
  }

  /** `old` is undefined where there was no value, or no corresponding one. */
  visit(schema: StructuralSchema, value: unknown, old: unknown): void {
    this.work.allowValue();
    if (this.isUnchanged(value, old)) return;
    const kind = kindOf(value);
    this.checkType(schema, kind, value);
    const { validation } = schema;
    if (kind === 'null') {
      if (validation !== undefined) this.checkCommon(validation, value);
      return;
    }
    if (kind === 'number' || (kind === 'integer' && validation !== undefined)) {
      const number = value as number | bigint | ExactNumber;
      this.failWith(numberFormatFault(validation?.format ?? '', schema.type, kind === 'integer', number));
    }
    if (validation !== undefined) this.checkValidation(validation, kind, value, old);
    if (kind === 'object') this.visitMembers(schema, value as JsonRecord, old);
    else if (kind === 'array' && schema.items !== undefined)
      this.visitItems(schema, schema.items, value as unknown[], old);
  }

  private visitMembers(schema: StructuralSchema, value: JsonRecord, old: unknown): void {
    const { properties, additionalProperties } = schema;
    const oldMembers = this.comparer !== undefined && isRecord(old) ? old : undefined;
    for (const key in value) {
      const member = properties.get(key) ?? additionalProperties;
      if (typeof member === 'object') {
        this.enter(key);
        this.visit(member, value[key], ownMember(oldMembers, key));
        this.leave();
      } else if (member === false) {
        this.fail((path, place) => invalid(path, key, `${place}.${key} in body is a forbidden property`));
      }
      if (this.hasFailed()) return;
    }
  }

  private visitItems(schema: StructuralSchema, items: StructuralSchema, value: readonly unknown[], old: unknown): void {
    const isMap = this.comparer !== undefined && schema.xListType === 'map' && Array.isArray(old);
    const before = isMap ? oldItems(schema, old) : undefined;
    for (let i = 0; i < value.length; i++) {
      this.enter(i);
      this.visit(items, value[i], before?.(value[i]));
      this.leave();
      if (this.hasFailed()) return;
    }
  }

  private visitNested(nested: NestedValidation, kind: Kind, value: unknown, old: unknown): void {
    this.work.charge(1);
    const { validation, properties, items } = nested;
    if (nested.type !== undefined && !isOfType(nested.type, kind)) this.failType(nested.type, kind);
    if (validation !== undefined) this.checkValidation(validation, kind, value, old);
    if (kind === 'object' && properties.size > 0) {
      const oldMembers = this.comparer !== undefined && isRecord(old) ? old : undefined;
      for (const [key, property] of properties) {
        this.work.charge(1);
        if (!Object.hasOwn(value as JsonRecord, key)) continue;
        this.visitNestedChild(property, (value as JsonRecord)[key], ownMember(oldMembers, key), key);
        if (this.hasFailed()) return;
      }
    } else if (kind === 'array' && items !== undefined) {
      for (let i = 0; i < (value as unknown[]).length; i++) {
        this.visitNestedChild(items, (value as unknown[])[i], undefined, i);
        if (this.hasFailed()) return;
      }
    }
  }

  private visitNestedChild(nested: NestedValidation, value: unknown, old: unknown, segment: string | number): void {
    if (this.isUnchanged(value, old)) return;
    const kind = kindOf(value);
    this.enter(segment);
    if (kind !== 'null') this.visitNested(nested, kind, value, old);
    else if (nested.validation !== undefined) this.checkCommon(nested.validation, value);
    this.leave();
  }

  private checkType(schema: StructuralSchema, kind: Kind, value: unknown): void {
    const { type } = schema;
    if (type === undefined) {
      if (!schema.xIntOrString || kind === 'integer' || kind === 'string' || (kind === 'null' && schema.nullable))
        return;
      this.failType('integer,string', kind);
    } else if (!isOfType(type, kind) && !(kind === 'null' && schema.nullable)) {
      const format = schema.validation?.format ?? '';
      const isKnown = numberFormats.has(format) || formatCheck(format) !== undefined;
      const isOfFormat = kind !== 'null' && kind !== 'string' && kind !== 'array' && isKnown;
      if (isOfFormat) this.failType(format, goFormat(value));
      else this.failType(type, kind);
    }
  }

  private failType(expected: string, found: string): void {
    this.fail((path, place) => typeInvalid(path, found, `${place} in body must be of type ${expected}: "${found}"`));
  }

  private checkCommon(validation: ValueValidation, value: unknown): void {
    if (validation.enum !== undefined) this.failWith(commonFault(validation, value, this.work));
  }

  private checkValidation(validation: ValueValidation, kind: Kind, value: unknown, old: unknown): void {
    if (validation.hasAlternatives) this.checkAlternatives(validation, kind, value, old);
    if (validation.enum !== undefined) this.failWith(commonFault(validation, value, this.work));
    if (kind === 'string') {
      this.failWith(stringFault(validation, value as string, this.work));
      this.failWith(formatFault(validation, value as string));
    } else if (kind === 'integer' || kind === 'number') {
      this.failWith(multipleFault(validation, value as number | bigint | ExactNumber));
      this.failWith(rangeFault(validation, value as number | bigint | ExactNumber));
    } else if (kind === 'array') this.failWith(arrayFault(validation, value as unknown[]));
    else if (kind === 'object') {
      this.failWith(objectFault(validation, value as JsonRecord));
      for (const name of validation.required) {
        if (Object.hasOwn(value as JsonRecord, name)) continue;
        this.enter(name);
        this.fail((path) => required(path));
        this.leave();
      }
    }
  }

  private checkAlternatives(validation: ValueValidation, kind: Kind, value: unknown, old: unknown): void {
    const { allOf, anyOf, oneOf, not } = validation;
    if (anyOf.length > 0 && this.countValid(anyOf, kind, value, old, 1) === 0) {
      this.failWhole('must validate at least one schema (anyOf)');
      this.collectBest(anyOf, kind, value, old);
    }
    if (oneOf.length > 0) {
      const valid = this.countValid(oneOf, kind, value, old, oneOf.length);
      if (valid !== 1) {
        const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
        this.failWhole(`must validate one and only one schema (oneOf). ${found}`);
        if (valid === 0) this.collectBest(oneOf, kind, value, old);
      }
    }
    if (allOf.length > 0) {
      let valid = 0;
      for (const branch of allOf) {
        const before = this.faults;
        this.visitNested(branch, kind, value, old);
        if (this.faults === before) valid++;
        if (this.hasFailed()) return;
      }
      const none = valid === 0 ? '. None validated' : '';
      if (valid < allOf.length) this.failWhole(`must validate all the schemas (allOf)${none}`);
    }
    if (not !== undefined && this.isBranchValid(not, kind, value, old)) {
      this.failWhole('must not validate the schema (not)');
    }
  }

  /** The number of valid branches, counted up to `enough`. */
  private countValid(
    branches: readonly NestedValidation[],
    kind: Kind,
    value: unknown,
    old: unknown,
    enough: number,
  ): number {
    let valid = 0;
    for (const branch of branches) {
      if (this.isBranchValid(branch, kind, value, old) && ++valid === enough) break;
    }
    return valid;
  }

  private isBranchValid(branch: NestedValidation, kind: Kind, value: unknown, old: unknown): boolean {
    return this.faultsOf(branch, kind, value, old, true) === 0;
  }

  /** Tries a branch without collecting its faults. */
  private faultsOf(branch: NestedValidation, kind: Kind, value: unknown, old: unknown, firstOnly: boolean): number {
    const { sink, failedAt, faults } = this;
    this.sink = undefined;
    this.failedAt = firstOnly ? faults + 1 : undefined;
    this.visitNested(branch, kind, value, old);
    const found = this.faults - faults;
    this.sink = sink;
    this.failedAt = failedAt;
    this.faults = faults;
    return found;
  }

  /** Reports the faults of the branch that has the fewest: most likely that branch was meant. */
  private collectBest(branches: readonly NestedValidation[], kind: Kind, value: unknown, old: unknown): void {
    if (this.sink === undefined) return;
    let best: NestedValidation | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const branch of branches) {
      const faults = this.faultsOf(branch, kind, value, old, false);
      if (faults >= fewest) continue;
      best = branch;
      fewest = faults;
    }
    if (best !== undefined) this.visitNested(best, kind, value, old);
  }

  private failWhole(rule: string): void {
    this.fail((path, place) => invalid(path, '', `${JSON.stringify(place)} ${rule}`), true);
  }

  private failWith(found: SchemaFault['toError'] | undefined): void {
    if (found !== undefined) this.fail(found);
  }

  private fail(toError: SchemaFault['toError'], isOfWhole = false): void {
    this.faults++;
    if (this.sink === undefined) return;
    this.sink.push({ place: placeText(this.segments), toError, isOfWhole });
    if (this.sink.length >= maxFaults) throw new EnoughFaults();
  }

  private hasFailed(): boolean {
    return this.failedAt !== undefined && this.faults >= this.failedAt;
  }

  /** Whether faults of the value are excused because it did not change. */
  private isUnchanged(value: unknown, old: unknown): boolean {
    return old !== undefined && this.comparer?.areEqual(value, old) === true;
  }

  private enter(segment: string | number): void {
    if (this.sink !== undefined) this.segments.push(segment);
  }

  private leave(): void {
    if (this.sink !== undefined) this.segments.pop();
  }
}

function ownMember(object: JsonRecord | undefined, key: string): unknown {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The type of a JSON value: whole numbers are integers up to 64 bits, doubles up to 53. */
function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    case 'bigint':
      return BigInt.asIntN(64, value) === value ? 'integer' : 'number';
    default:
      if (value === null || value === undefined) return 'null';
      if (value instanceof ExactNumber) return Number.isSafeInteger(value.valueOf()) ? 'integer' : 'number';
      return Array.isArray(value) ? 'array' : 'object';
  }
}

function isOfType(type: SchemaTypeName, kind: Kind): boolean {
  return type === kind || (type === 'number' && kind === 'integer');
}

/** The name of the format that messages use for a value that has none of the schema's types. */
function goFormat(value: unknown): string {
  const kind = kindOf(value);
  if (kind === 'integer') return 'int64';
  return kind === 'number' ? 'float64' : '';
}
