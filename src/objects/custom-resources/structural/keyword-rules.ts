import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { JSONSchemaProps } from '../../apis/apiextensions/v1/json-schema.types.js';
import { shown } from './faults.js';
import { listTypeErrors } from './list-type-rules.js';
import { checkPattern, compileWork } from './pattern.js';
import { PatternError } from './pattern-error.js';
import { vendorMarkerErrors } from './vendor-markers.js';

const types = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const metaFields: ReadonlySet<string> = new Set(['metadata', 'kind', 'apiVersion']);

/** The context of a schema. */
interface SchemaScope {
  readonly isRoot: boolean;
  /** Whether the schema describes apiVersion, kind or metadata of an object or embedded resource. */
  readonly isInMeta: boolean;
  /** Why the schema may not have a default; empty when it may. */
  readonly noDefaults: string;
}

/** Errors of each schema of a tree by itself, including those within allOf and the like. */
export function* keywordErrors(
  props: JSONSchemaProps,
  path: FieldPath,
  hasStatus: boolean,
): Steps<{ readonly errors: FieldError[]; readonly isReadable: boolean }> {
  const rules = new KeywordRules();
  if (hasStatus) rules.checkRootWithStatus(props, path);
  if (props.nullable === true)
    rules.errors.push(forbidden(path.child('nullable'), 'nullable cannot be true at the root'));
  yield* rules.check(props, path, { isRoot: true, isInMeta: false, noDefaults: '' });
  return rules;
}

/** The compile time allowed for all patterns of a schema, in microseconds, and what each part of the schema adds. */
const basePatternWork = 10_000;
const patternWorkPerSchema = 15;

class KeywordRules {
  readonly errors: FieldError[] = [];
  /** Whether the schema has nothing that a structural schema can't express. */
  isReadable = true;
  private patternWork = basePatternWork;
  private readonly patterns = new Set<string>();

  *check(props: JSONSchemaProps, path: FieldPath, scope: SchemaScope): Steps {
    yield;
    this.patternWork += patternWorkPerSchema;
    this.checkUnsupported(props, path, scope);
    this.checkExtensions(props, path);
    for (const error of listTypeErrors(props, path)) this.errors.push(error);
    for (const error of vendorMarkerErrors(props, path)) this.errors.push(error);
    if (props.pattern) this.checkPattern(props.pattern, path.child('pattern'));
    yield* this.checkBelow(props, path, scope);
  }

  private checkUnsupported(props: JSONSchemaProps, path: FieldPath, scope: SchemaScope): void {
    const { type } = props;
    if (type && !types.includes(type)) this.errors.push(notSupported(path.child('type'), type, types));
    if (props.default !== undefined && scope.noDefaults !== '') {
      this.errors.push(forbidden(path.child('default'), `must not be set ${scope.noDefaults}`));
    }
    if (props.id) this.refuse(path, 'id', 'id is not supported');
    if (props.additionalItems !== undefined) this.refuse(path, 'additionalItems', 'additionalItems is not supported');
    if (hasMembers(props.patternProperties)) {
      this.refuse(path, 'patternProperties', 'patternProperties is not supported');
    }
    if (hasMembers(props.definitions)) this.refuse(path, 'definitions', 'definitions is not supported');
    if (props.dependencies !== undefined) this.refuse(path, 'dependencies', 'dependencies is not supported');
    if (props.$ref !== undefined) this.refuse(path, '$ref', '$ref is not supported');
    if (type === 'null') this.refuse(path, 'type', 'type cannot be set to null, use nullable as an alternative');
    if (Array.isArray(props.items)) this.refuse(path, 'items', 'items must be a schema object and not an array');
    if (scope.isInMeta && props['x-kubernetes-embedded-resource'] === true) {
      const detail = 'must not be used inside of resource meta';
      this.errors.push(forbidden(path.child('x-kubernetes-embedded-resource'), detail));
    }
    if (props.uniqueItems === true) {
      const detail = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
      this.errors.push(forbidden(path.child('uniqueItems'), detail));
    }
    const { additionalProperties } = props;
    if (additionalProperties !== undefined && additionalProperties !== true && hasMembers(props.properties)) {
      const detail = 'additionalProperties and properties are mutual exclusive';
      this.errors.push(forbidden(path.child('additionalProperties'), detail));
    }
  }

  private refuse(path: FieldPath, name: string, detail: string): void {
    this.isReadable = false;
    this.errors.push(forbidden(path.child(name), detail));
  }

  private checkExtensions(props: JSONSchemaProps, path: FieldPath): void {
    if (props['x-kubernetes-preserve-unknown-fields'] === false) {
      this.isReadable = false;
      this.errors.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
    }
    const mapType = props['x-kubernetes-map-type'];
    if (mapType === undefined) return;
    if (props.type !== 'object') {
      const detail = 'must be object if x-kubernetes-map-type is specified';
      this.errors.push(
        props.type ? invalid(path.child('type'), props.type, detail) : required(path.child('type'), detail),
      );
    }
    if (mapType !== 'atomic' && mapType !== 'granular') {
      this.errors.push(notSupported(path.child('x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
    }
  }

  /** Counts each pattern once: all its uses share what is compiled. */
  private checkPattern(source: string, path: FieldPath): void {
    if (this.patterns.has(source)) return;
    const refuse = (reason: string) => {
      this.errors.push(invalid(path, source, `must be a valid regular expression, but isn't: ${reason}`));
    };
    this.patternWork -= compileWork(source);
    if (this.patternWork < 0) {
      refuse('the patterns of the schema take too much work to compile');
      return;
    }
    try {
      checkPattern(source);
      this.patterns.add(source);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      refuse(error.message);
    }
  }

  private *checkBelow(props: JSONSchemaProps, path: FieldPath, scope: SchemaScope): Steps {
    const inner: SchemaScope = scope.isRoot ? { ...scope, isRoot: false } : scope;
    const { additionalProperties, properties, items } = props;
    if (typeof additionalProperties === 'object') {
      yield* this.check(additionalProperties, path.child('additionalProperties'), inner);
    }
    if (properties !== undefined) {
      const isObject = scope.isRoot || props['x-kubernetes-embedded-resource'] === true;
      const at = path.child('properties');
      for (const name of Object.keys(properties)) {
        const isMeta = isObject && metaFields.has(name);
        const noDefaults = scope.isRoot ? `in top-level ${name}` : inner.noDefaults;
        const own = isMeta ? { isRoot: false, isInMeta: true, noDefaults } : inner;
        yield* this.check(properties[name] as JSONSchemaProps, at.key(name), own);
      }
    }
    if (props.not !== undefined) yield* this.check(props.not, path.child('not'), inner);
    for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
      yield* this.checkList(props[keyword], path.child(keyword), inner);
    }
    if (Array.isArray(items)) yield* this.checkList(items, path.child('items'), inner);
    else if (items !== undefined) yield* this.check(items, path.child('items'), inner);
  }

  private *checkList(schemas: readonly JSONSchemaProps[] | undefined, path: FieldPath, scope: SchemaScope): Steps {
    if (schemas === undefined) return;
    for (const [i, schema] of schemas.entries()) yield* this.check(schema, path.index(i), scope);
  }

  /** The schema of the status is taken from its property, so the root may specify nothing else about it. */
  checkRootWithStatus(props: JSONSchemaProps, path: FieldPath): void {
    const isEarly = (key: string) => key === 'id' || key === '$schema' || key === '$ref';
    const disallowed = Object.keys(props).filter((key) => {
      return key !== 'type' && isSet(props[key as keyof JSONSchemaProps]) && !allowedWithStatus.has(key);
    });
    if (props.type && props.type !== 'object' && !disallowed.some(isEarly)) {
      const detail =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      this.errors.push(invalid(path.child('type'), props.type, detail));
    } else if (disallowed.length > 0) {
      const names = [...allowedWithStatus.values()].join(' ');
      const detail = `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`;
      this.errors.push(invalid(path, shown(props), detail));
    }
  }
}

/** The names that messages use for the keywords. */
const allowedWithStatus: ReadonlyMap<string, string> = new Map([
  ['description', 'Description'],
  ['type', 'Type'],
  ['format', 'Format'],
  ['title', 'Title'],
  ['maximum', 'Maximum'],
  ['exclusiveMaximum', 'ExclusiveMaximum'],
  ['minimum', 'Minimum'],
  ['exclusiveMinimum', 'ExclusiveMinimum'],
  ['maxLength', 'MaxLength'],
  ['minLength', 'MinLength'],
  ['pattern', 'Pattern'],
  ['maxItems', 'MaxItems'],
  ['minItems', 'MinItems'],
  ['uniqueItems', 'UniqueItems'],
  ['multipleOf', 'MultipleOf'],
  ['required', 'Required'],
  ['items', 'Items'],
  ['properties', 'Properties'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Example'],
  ['x-kubernetes-preserve-unknown-fields', 'XPreserveUnknownFields'],
  ['x-kubernetes-validations', 'XValidations'],
]);

function hasMembers(record: Readonly<Record<string, unknown>> | undefined): boolean {
  return record !== undefined && Object.keys(record).length > 0;
}

/** Whether a keyword has an effect. */
export function isSet(value: unknown): boolean {
  if (value === undefined || value === false || value === '') return false;
  return typeof value !== 'object' || value === null || Object.keys(value).length > 0;
}
