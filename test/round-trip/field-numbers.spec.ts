import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import protobuf from 'protobufjs/minimal.js';
import { decode, type Field, type StructType } from '../../src/base/machinery/schema/index.js';
import { encodeProtobuf } from '../../src/base/machinery/schema/protobuf/index.js';
import { declaredTypes } from '../support/declared-types.js';
import { Random } from '../support/random.js';
import { RandomValues } from '../support/random-values.js';

/**
 * Types by package (`core.v1`). The text of a type lists its fields: JSON name (nothing for inline ones), number,
 * and `v` for varint or `f` for eight bytes when it is neither text, bytes nor message. Fields without number are in
 * no protobuf message. Packages of which nothing is declared have only the names of their types.
 */
type Facts = Readonly<Record<string, Readonly<Record<string, string>> | string>>;

function readFacts(file: string): Facts {
  // Compiled code is at another depth than its source, so search upwards.
  for (let directory = import.meta.dirname; ; directory = dirname(directory)) {
    const path = join(directory, 'test', 'facts', file);
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Facts;
    assert.notEqual(directory, dirname(directory), 'the facts are missing');
  }
}

const info = readFacts('field-numbers.json');
/** Types that only this server has. Their numbers are written down too, so that no change of a declaration moves one. */
const ownFacts = readFacts('own-field-numbers.json');
const { structs, variants } = await declaredTypes();

/** Packages without declared types, and why. */
const undeclaredPackages: Readonly<Record<string, string>> = {
  'admission.v1beta1': 'webhooks are called with v1',
  'apidiscovery.v2beta1': 'aggregated discovery is served as v2',
  'apiextensions.v1beta1': 'only v1 is served',
  'apps.v1beta1': 'removed; only v1 is served',
  'apps.v1beta2': 'removed; only v1 is served',
  'authentication.v1beta1': 'only v1 is served',
  'authorization.v1beta1': 'only v1 is served',
  'extensions.v1beta1': 'removed; its kinds are served by apps, networking and policy',
  'flowcontrol.v1beta1': 'only v1 is declared',
  'flowcontrol.v1beta2': 'only v1 is declared',
  'flowcontrol.v1beta3': 'only v1 is declared',
  'imagepolicy.v1alpha1': 'no resource of this server',
  'networking.v1beta1': 'only v1 is served',
  'node.v1beta1': 'only v1 is served',
  'rbac.v1beta1': 'only v1 is served',
  runtime: 'its types are built into the codec',
};

/** Where a served older version uses the types of a newer one; both must have the same numbers. */
const sharedTypes: Readonly<Record<string, string>> = {
  'admissionregistration.v1alpha1': 'admissionregistration.v1',
  'admissionregistration.v1beta1': 'admissionregistration.v1',
  'batch.v1beta1': 'batch.v1',
  'coordination.v1beta1': 'coordination.v1',
  'discovery.v1beta1': 'discovery.v1',
  'events.v1beta1': 'events.v1',
  'policy.v1beta1': 'policy.v1',
  'scheduling.v1beta1': 'scheduling.v1',
  'storage.v1beta1': 'storage.v1',
};

/** Types that are not declared although others of their package are, and why. */
const undeclaredTypes: Readonly<Record<string, string>> = {
  ...because('internal form of what v1 keeps in annotations', 'autoscaling.v1', [
    'ContainerResourceMetricSource',
    'ContainerResourceMetricStatus',
    'ExternalMetricSource',
    'ExternalMetricStatus',
    'HorizontalPodAutoscalerCondition',
    'MetricSpec',
    'MetricStatus',
    'ObjectMetricSource',
    'ObjectMetricStatus',
    'PodsMetricSource',
    'PodsMetricStatus',
    'ResourceMetricSource',
    'ResourceMetricStatus',
  ]),
  ...because('never sent by clients of a resource', 'core.v1', [
    'AvoidPods',
    'PodSignature',
    'PodStatusResult',
    'Preconditions',
    'PreferAvoidPodsEntry',
    'RangeAllocation',
    'SerializedReference',
  ]),
  ...because('no part of any object', 'resource.v1alpha3', ['CELDeviceSelector', 'DeviceSelector']),
  ...because('no part of any object', 'scheduling.v1alpha3', [
    'WorkloadCompositePodGroupAllDisruptionMode',
    'WorkloadCompositePodGroupBasicSchedulingPolicy',
    'WorkloadCompositePodGroupDisruptionMode',
    'WorkloadCompositePodGroupGangSchedulingPolicy',
    'WorkloadCompositePodGroupSchedulingConstraints',
    'WorkloadCompositePodGroupSchedulingPolicy',
    'WorkloadCompositePodGroupSingleDisruptionMode',
  ]),
  ...because('no part of any object', 'meta.v1', ['GroupKind', 'List', 'Timestamp', 'TypeMeta']),
};

function because(reason: string, group: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`${group}.${name}`, reason]));
}

interface FieldFact {
  readonly name: string;
  readonly number: number | undefined;
  readonly wireType: number;
}

const wireTypes: Readonly<Record<string, number>> = { '': 2, v: 0, f: 1 };

/** Package and last part of a type's name. */
function splitName({ name }: StructType): [string, string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

function factOf(of: Facts, type: StructType): string | undefined {
  const [packageName, name] = splitName(type);
  const types = of[packageName];
  return typeof types === 'object' ? types[name] : undefined;
}

function parseFields(text: string): FieldFact[] {
  if (text === '') return [];
  return text.split(',').map((field) => {
    const match = /^([^ ]*)(?: (\d+)([vf]?))?$/.exec(field);
    assert.ok(match, field);
    const [, name, number, wire] = match;
    return {
      name: name as string,
      number: number === undefined ? undefined : Number(number),
      wireType: wireTypes[wire ?? ''] as number,
    };
  });
}

/** Numbers and wire types at the top of a message, read without knowing its type. */
function readTags(data: Uint8Array): { number: number; wireType: number }[] {
  const reader = protobuf.Reader.create(data);
  const tags: { number: number; wireType: number }[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    tags.push({ number: tag >>> 3, wireType: tag & 7 });
    reader.skipType(tag & 7);
  }
  return tags;
}

const values = new RandomValues(new Random(1));

/** The message of an object with only this field. */
function encodeAlone(type: StructType, field: Field): Uint8Array {
  let { value } = decode(field.type, values.partOf(field.type));
  // Null stands for nothing, which has no number.
  while (value === null) ({ value } = decode(field.type, values.partOf(field.type)));
  const object = field.presence === 'inline' ? value : { [field.name]: value };
  return encodeProtobuf(type, object as object);
}

const wireLetters: Readonly<Record<number, string>> = { 0: 'v', 1: 'f', 2: '' };

/** What the extracted data of the release would contain for a declared type. */
function describeFields(type: StructType): string {
  const always = readTags(encodeProtobuf(type, {})).map((tag) => tag.number);
  const texts = type.fields.map((field) => {
    if (field.presence === 'inline') return ` ${field.number}`;
    const tag = readTags(encodeAlone(type, field)).find(({ number }) => !always.includes(number));
    return `${field.name} ${field.number}${wireLetters[tag?.wireType ?? 2]}`;
  });
  return texts.join(',');
}

function checkNumbers(type: StructType, expected: readonly FieldFact[]): void {
  const inMessages = expected.filter(({ number }) => number !== undefined);
  if (inMessages.length === 0) return;
  // Messages of inline structs are written even when they are empty.
  const always = readTags(encodeProtobuf(type, {})).map((tag) => tag.number);
  for (const { name, number, wireType } of inMessages) {
    const field = type.fields.find((f) =>
      name === '' ? f.presence === 'inline' && f.number === number : f.presence !== 'inline' && f.name === name,
    );
    assert.ok(field, `${type.name} has no field ${name} ${number}`);
    const tags = readTags(encodeAlone(type, field)).filter((tag) => name === '' || !always.includes(tag.number));
    assert.ok(tags.length > 0, `${type.name}.${name}`);
    for (const tag of tags) assert.deepEqual(tag, { number, wireType }, `${type.name}.${name}`);
  }
}

describe('protobuf numbers', () => {
  it('are those of every declared type', () => {
    let fields = 0;
    for (const type of structs.values()) {
      const text = factOf(info, type) ?? factOf(ownFacts, type);
      // The next test names it.
      if (text === undefined) continue;
      const expected = parseFields(text);
      const names = type.fields.map((field) => (field.presence === 'inline' ? '' : field.name));
      assert.deepEqual(
        names.sort(),
        expected.map(({ name }) => name).sort(),
        `${type.name} has the fields ${describeFields(type)}`,
      );
      checkNumbers(type, expected);
      fields += expected.length;
    }
    assert.ok(fields > 2500, String(fields));
  });

  it('of types that only this server has are written down, and of no others', () => {
    const declared: Record<string, Record<string, string>> = {};
    for (const type of structs.values()) {
      if (factOf(info, type) !== undefined) continue;
      const [packageName, name] = splitName(type);
      declared[packageName] = { ...declared[packageName], [name]: factOf(ownFacts, type) ?? describeFields(type) };
    }
    assert.deepEqual(
      ownFacts,
      declared,
      `add to test/facts/own-field-numbers.json what is new, and nothing else: ${JSON.stringify(declared, null, 2)}`,
    );
  });

  it('are those of the older versions that use types of newer ones', () => {
    for (const [older, newer] of Object.entries(sharedTypes)) {
      for (const [name, text] of Object.entries(info[older] as Record<string, string>)) {
        const shared = structs.get(`${newer}.${name}`);
        if (structs.has(`${older}.${name}`) || shared === undefined) continue;
        checkNumbers(shared, parseFields(text));
      }
    }
  });

  it('are known for every type, or the type is left out for a reason', () => {
    const unexplained: string[] = [];
    const stale = new Set([...Object.keys(undeclaredPackages), ...Object.keys(undeclaredTypes)]);
    for (const [group, types] of Object.entries(info)) {
      if (undeclaredPackages[group] !== undefined) {
        assert.equal(typeof types, 'string', `${group} is said to be undeclared`);
        stale.delete(group);
        continue;
      }
      for (const name of Object.keys(types)) {
        const full = `${group}.${name}`;
        if (structs.has(full) || structs.has(`${sharedTypes[group]}.${name}`)) continue;
        if (undeclaredTypes[full] === undefined) unexplained.push(full);
        stale.delete(full);
      }
    }
    assert.deepEqual(unexplained, []);
    assert.deepEqual([...stale], [], 'reasons for nothing');
  });

  it('of values with two possible types are fixed', () => {
    for (const variant of variants.values()) {
      const holder = { type: 'struct', name: 'Holder', fields: [], kind: undefined } as unknown as StructType;
      const field = { name: 'held', number: 1, presence: 'pointer', type: variant } as unknown as Field;
      const tagsOf = (held: unknown) => {
        const data = encodeProtobuf({ ...holder, fields: [field] }, { held });
        const reader = protobuf.Reader.create(data);
        assert.equal(reader.uint32(), 0x0a);
        return readTags(reader.bytes());
      };
      const schema = decode(variant.struct, {}).value;
      const first = { number: 1, wireType: 2 };
      const second = { number: 2, wireType: 2 };
      if (variant.alternative === 'bool') {
        assert.deepEqual(tagsOf(false), [{ number: 1, wireType: 0 }], variant.name);
        assert.deepEqual(tagsOf(schema).at(-1), second, variant.name);
      } else {
        const member = variant.alternative === 'list' ? schema : 'x';
        assert.deepEqual(tagsOf(schema), [first], variant.name);
        assert.deepEqual(tagsOf([member, member]), [second, second], variant.name);
      }
    }
    assert.ok(variants.size >= 3, String(variants.size));
  });
});
