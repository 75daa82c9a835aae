import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SimpleTest } from '@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js';
import type { Value as SpecValue } from '@bufbuild/cel-spec/cel/expr/value_pb.js';
import { getConformanceSuite, type IncrementalTestSuite } from '@bufbuild/cel-spec/testdata/tests.js';
import { CelCompileError, CelError, type CelType, compileProgram, functionTable, types } from './index.js';
import { basics } from './library/basics.js';
import { conversions } from './library/conversions.js';
import { lists } from './library/lists.js';
import { regularExpressions } from './library/regular-expressions.js';
import { strings } from './library/strings.js';
import { Span, Timestamp } from './values/time.js';
import {
  isList,
  isMap,
  ListValue,
  listItems,
  type MapKey,
  MapValue,
  mapGet,
  mapKey,
  mapKeys,
  OptionalValue,
  TypeValue,
  Uint,
  type Value,
} from './values/value.js';

/**
 * Sections of the language's conformance vectors that are skipped, because the API does not have these parts of the
 * language: protobuf messages, the extensions for math and encodings, and containers of names.
 */
const otherSections = new Set([
  'proto2',
  'proto2_ext',
  'proto3',
  'enums',
  'wrappers',
  'bindings_ext',
  'block_ext',
  'math_ext',
  'encoders_ext',
  'namespace',
]);
const protobuf = /TestAll|typeUrl|Value\{|google\.protobuf\.(?:Value|Any|Struct|ListValue|\w+Value)/;

/**
 * Vectors for which this engine returns another result, because the language leaves the result open or the API does not
 * need it. The comments give the reasons.
 */
const deviations: readonly (readonly [string, RegExp])[] = [
  // The vectors convert the int, which loses its last digits; here the comparison is exact.
  ['comparisons', /^dyn\(9223372036854775807\) < 9223372036854775808\.0:/],
  ['comparisons', /^dyn\(9223372036854775808\.0\) > 9223372036854775807:/],
  ['comparisons', /^dyn\(9223372036854775808\.0\) <= 9223372036854775807:/],
  ['comparisons', /^dyn\(9223372036854775807\) >= 9223372036854775808\.0:/],
  // A half is rounded away from zero, as everywhere in JavaScript.
  ['string_ext', /^"%\.0f"\.format\(\[2\.5\]\):/],
];

const functions = functionTable([conversions, basics, strings, lists, regularExpressions]);

interface Vector {
  readonly section: string;
  readonly test: SimpleTest;
}

function collect(suite: IncrementalTestSuite, section: string, into: Vector[]): Vector[] {
  for (const { original } of suite.tests) into.push({ section, test: original });
  for (const child of suite.suites) collect(child, section === '' ? child.name : section, into);
  return into;
}

function isRelevant({ section, test }: Vector): boolean {
  // Skips vectors that only check types or switch off the type check: here the check always runs.
  if (otherSections.has(section) || test.checkOnly || test.disableCheck) return false;
  return !protobuf.test(JSON.stringify(test, (_, value) => (typeof value === 'bigint' ? String(value) : value)));
}

function read({ kind }: SpecValue): Value {
  switch (kind.case) {
    case 'nullValue':
      return null;
    case 'boolValue':
    case 'int64Value':
    case 'doubleValue':
    case 'stringValue':
    case 'bytesValue':
      return kind.value;
    case 'uint64Value':
      return new Uint(kind.value);
    case 'typeValue':
      return new TypeValue(kind.value);
    case 'listValue':
      return new ListValue(kind.value.values.map(read));
    case 'mapValue': {
      const entries = new Map<MapKey, { key: Value; value: Value }>();
      for (const entry of kind.value.entries) {
        const key = read(entry.key as SpecValue);
        entries.set(mapKey(key) as MapKey, { key, value: read(entry.value as SpecValue) });
      }
      return new MapValue(entries);
    }
    default:
      throw new Error(`a value of kind ${kind.case}`);
  }
}

/** A string that is the same for equal values of the same type. */
function spelled(value: Value): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'bigint') return `int ${value}`;
  if (typeof value === 'number') return Object.is(value, -0) ? 'double -0' : `double ${value}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint) return `uint ${value.value}`;
  if (value instanceof Uint8Array) return `bytes ${[...value]}`;
  if (value instanceof TypeValue) return `type ${value.name}`;
  if (value instanceof Timestamp || value instanceof Span) return `time ${value.nanoseconds}`;
  if (value instanceof OptionalValue) return `optional ${value.value === undefined ? 'none' : spelled(value.value)}`;
  if (isList(value)) return `[${listItems(value).map(spelled)}]`;
  if (isMap(value))
    return `{${mapKeys(value)
      .map((key) => `${spelled(key)}:${spelled(mapGet(value, key) as Value)}`)
      .sort()}}`;
  throw new Error('a value of another kind');
}

function result({ expr, bindings, typeEnv }: SimpleTest): string {
  const variables: Record<string, Value> = {};
  const declared: Record<string, CelType> = {};
  for (const { name } of typeEnv) declared[name] = types.dyn;
  for (const [name, { kind }] of Object.entries(bindings)) {
    declared[name] = types.dyn;
    if (kind.case === 'value') variables[name] = read(kind.value);
  }
  try {
    return spelled(compileProgram(expr, { variables: declared, functions, mixedLiterals: true }).evaluate(variables));
  } catch (error) {
    if (error instanceof CelError || error instanceof CelCompileError) return 'error';
    throw error;
  }
}

function expected({ resultMatcher }: SimpleTest): string | undefined {
  switch (resultMatcher.case) {
    case 'evalError':
    case 'anyEvalErrors':
      return 'error';
    case 'value':
      return spelled(read(resultMatcher.value));
    case 'typedResult':
      return resultMatcher.value.result === undefined ? undefined : spelled(read(resultMatcher.value.result));
    case undefined:
      return 'true';
    default:
      throw new Error(`a matcher of kind ${resultMatcher.case}`);
  }
}

describe('the conformance vectors of the language', () => {
  const bySection = new Map<string, Vector[]>();
  for (const vector of collect(getConformanceSuite(), '', []).filter(isRelevant)) {
    bySection.set(vector.section, [...(bySection.get(vector.section) ?? []), vector]);
  }
  for (const [section, vectors] of bySection) {
    it(`${section}: ${vectors.length} vectors`, () => {
      const failures = vectors.flatMap(({ test }) => {
        const want = expected(test);
        const got = result(test);
        return want === undefined || got === want ? [] : [`${test.expr}: ${got}, not ${want}`];
      });
      const known = deviations.filter(([name]) => name === section).map(([, pattern]) => pattern);
      const unexpected = failures.filter((failure) => !known.some((pattern) => pattern.test(failure)));
      assert.deepEqual(unexpected, []);
      assert.equal(failures.length - unexpected.length, known.length);
    });
  }
});
