import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiObject } from '../api-object.js';
import { sampleDeployment, sampleMap, sampleResource } from '../field-set/testing/sample-kinds.js';
import { decode, type KindType } from '../schema/index.js';
import { StatusError } from '../status-error.js';
import {
  type ApplyPatchOptions,
  applyPatch,
  conflictsError,
  updateManagedFields,
  withoutTimeChanges,
} from './index.js';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

type Json = Record<string, unknown>;

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const child of Object.values(value)) freeze(child);
  }
  return value;
}

/** An object of a kind, written by several managers in the way the server does it. */
class Subject {
  live: ApiObject | undefined;

  constructor(
    private readonly type: KindType,
    private readonly apiVersion: string,
  ) {}

  private config(body: Json): Json {
    const metadata = { name: 'n', ...(body.metadata as Json | undefined) };
    return freeze({ apiVersion: this.apiVersion, kind: this.type.kind.kind, ...body, metadata });
  }

  attempt(manager: string, body: Json, options: Partial<ApplyPatchOptions> = {}) {
    const all = { manager, apiVersion: this.apiVersion, time: early, force: false, ...options };
    return applyPatch(this.type, this.live, this.config(body), all);
  }

  apply(manager: string, body: Json, options: Partial<ApplyPatchOptions> = {}): ApiObject {
    const result = this.attempt(manager, body, options);
    if (result.kind === 'conflicts') throw conflictsError(result.conflicts);
    this.live = freeze(decode(this.type, result.object).value as ApiObject);
    return this.live;
  }

  update(manager: string, body: Json): ApiObject {
    const next = decode(this.type, this.config(body)).value as ApiObject;
    const entries = updateManagedFields(this.type, this.live, next, {
      manager,
      apiVersion: this.apiVersion,
      time: early,
    });
    if (entries !== undefined) next.metadata.managedFields = entries;
    this.live = freeze(next);
    return this.live;
  }

  conflict(manager: string, body: Json, options: Partial<ApplyPatchOptions> = {}): string {
    const result = this.attempt(manager, body, options);
    assert.equal(result.kind, 'conflicts');
    return result.kind === 'conflicts' ? conflictsError(result.conflicts).message : '';
  }

  refused(manager: string, body: Json): string {
    try {
      this.attempt(manager, body);
    } catch (error) {
      assert.ok(error instanceof StatusError, String(error));
      assert.ok(error.code === 400 || (error.code === 500 && error.reason === ''), error.message);
      return error.message;
    }
    assert.fail('applied');
  }

  owners(): Json {
    const entries = this.live?.metadata.managedFields ?? [];
    return Object.fromEntries(entries.map((entry) => [`${entry.manager} ${entry.operation}`, entry.fieldsV1]));
  }
}

const map = () => new Subject(sampleMap, 'v1');
const resource = () => new Subject(sampleResource, 'sample.example/v1');
const deployment = () => new Subject(sampleDeployment, 'apps/v1');

test('an applier owns exactly what it gives', () => {
  const subject = map();
  const created = subject.apply('one', { metadata: { labels: { x: 'y' } }, data: { a: '1', b: '1' } });
  assert.deepEqual(created.data, { a: '1', b: '1' });
  assert.deepEqual(created.metadata.managedFields, [
    {
      manager: 'one',
      operation: 'Apply',
      apiVersion: 'v1',
      time: early,
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {}, 'f:b': {} }, 'f:metadata': { 'f:labels': { 'f:x': {} } } },
    },
  ]);
});

test('applying the same again changes nothing, not even times', () => {
  const subject = map();
  const created = subject.apply('one', { data: { a: '1' } });
  assert.deepEqual(subject.apply('one', { data: { a: '1' } }, { time: late }), created);
});

test('other values are conflicts, the same values are shared', () => {
  const subject = map();
  subject.apply('one', { data: { a: '1', b: '1' } });
  assert.equal(
    subject.conflict('two', { data: { a: '2', b: '2', c: '2' } }),
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\n- .data.b',
  );
  subject.apply('two', { data: { a: '1', c: '2' } });
  assert.deepEqual(subject.owners(), {
    'one Apply': { 'f:data': { 'f:a': {}, 'f:b': {} } },
    'two Apply': { 'f:data': { 'f:a': {}, 'f:c': {} } },
  });
  const kept = subject.apply('one', { data: { b: '1' } });
  assert.deepEqual(kept.data, { a: '1', b: '1', c: '2' });
  assert.deepEqual(subject.owners()['one Apply'], { 'f:data': { 'f:b': {} } });
});

test('force takes fields from others', () => {
  const subject = map();
  subject.apply('one', { data: { a: '1' } });
  subject.apply('two', { data: { b: '1', c: '1' } });
  const forced = subject.apply('one', { data: { a: '1', c: 'forced' } }, { force: true });
  assert.deepEqual(forced.data, { a: '1', b: '1', c: 'forced' });
  assert.deepEqual(subject.owners(), {
    'one Apply': { 'f:data': { 'f:a': {}, 'f:c': {} } },
    'two Apply': { 'f:data': { 'f:b': {} } },
  });
});

test('fields that an applier drops are removed, and so is an applier that owns nothing', () => {
  const subject = map();
  subject.apply('one', { data: { a: '1' } });
  subject.apply('two', { data: { b: '1', c: '1' }, immutable: true, metadata: { labels: { l: '1' } } });
  assert.deepEqual(subject.apply('two', { data: { b: '1' } }).data, { a: '1', b: '1' });
  assert.equal(subject.live?.immutable, undefined);
  assert.equal(subject.live?.metadata.labels, undefined);
  const rest = subject.apply('two', {});
  assert.deepEqual(rest.data, { a: '1' });
  assert.deepEqual(Object.keys(subject.owners()), ['one Apply']);
  const none = subject.apply('one', {});
  assert.deepEqual([none.data, none.metadata.name, none.metadata.managedFields], [undefined, 'n', undefined]);
});

test('an update never conflicts and takes ownership', () => {
  const subject = map();
  subject.apply('one', { data: { a: '1', b: '1' } });
  subject.update('upd', { data: { a: '1', b: 'changed' } });
  assert.deepEqual(subject.owners(), {
    'one Apply': { 'f:data': { 'f:a': {} } },
    'upd Update': { 'f:data': { 'f:b': {} } },
  });
  assert.equal(
    subject.conflict('one', { data: { a: '1', b: 'back' } }),
    'Apply failed with 1 conflict: conflict with "upd" using v1: .data.b',
  );
  assert.deepEqual(subject.apply('one', { data: { a: '1' } }).data, { a: '1', b: 'changed' });
});

test('conflicts with several owners are listed by owner', () => {
  const subject = map();
  subject.update('upd', { data: { z: '1' } });
  subject.apply('one', { data: { a: '1' } });
  const result = subject.attempt('two', { data: { a: '2', z: '2' } });
  assert.equal(result.kind, 'conflicts');
  const error = conflictsError(result.kind === 'conflicts' ? result.conflicts : []);
  assert.equal(error.code, 409);
  assert.equal(
    error.message,
    'Apply failed with 2 conflicts: conflicts with "one":\n- .data.a\nconflicts with "upd" using v1:\n- .data.z',
  );
  assert.deepEqual(error.details?.causes?.[0], {
    reason: 'FieldManagerConflict',
    message: 'conflict with "one"',
    field: '.data.a',
  });
});

test('an untracked object belongs to its own manager first', () => {
  const subject = map();
  const created = subject.update('old', { data: { a: '1' } });
  const { managedFields: _dropped, ...metadata } = created.metadata;
  subject.live = freeze({ ...created, metadata });
  assert.equal(
    subject.conflict('one', { data: { a: '9' } }),
    'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
  );
  subject.apply('one', { data: { b: '1' } });
  assert.deepEqual(subject.owners(), {
    'one Apply': { 'f:data': { 'f:b': {} } },
    'before-first-apply Update': { 'f:data': { '.': {}, 'f:a': {} } },
  });
});

test('keyed lists and sets merge by element', () => {
  const subject = resource();
  subject.apply('one', { spec: { items: [{ name: 'a', v: 1 }], tags: ['x'], plain: ['p'], whole: { k: 'v' } } });
  const both = subject.apply('two', { spec: { items: [{ name: 'b', v: 2 }], tags: ['y'] } });
  assert.deepEqual(both.spec, {
    items: [
      { name: 'a', v: 1 },
      { name: 'b', v: 2 },
    ],
    tags: ['x', 'y'],
    plain: ['p'],
    whole: { k: 'v' },
  });
  assert.deepEqual(subject.owners()['one Apply'], {
    'f:spec': {
      'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:v': {} } },
      'f:plain': {},
      'f:tags': { 'v:"x"': {} },
      'f:whole': {},
    },
  });
  assert.match(
    subject.conflict('two', { spec: { items: [{ name: 'a', v: 5 }] } }),
    / "one": \.spec\.items\[name="a"\]\.v$/,
  );
  const atomic = { items: [{ name: 'b', v: 2 }], tags: ['y'], plain: ['q'], whole: { o: 'v' } };
  assert.match(subject.conflict('two', { spec: atomic }), /"one":\n- \.spec\.plain\n- \.spec\.whole$/);
  const dropped = subject.apply('one', { spec: { tags: ['x', 'w'] } });
  assert.deepEqual(dropped.spec, { items: [{ name: 'b', v: 2 }], tags: ['x', 'y', 'w'] });
});

test('elements follow the applied order, those of others keep their places', () => {
  const subject = resource();
  subject.apply('one', { spec: { tags: ['a', 'b', 'c'] } });
  assert.deepEqual((subject.apply('two', { spec: { tags: ['n', 'c', 'a'] } }).spec as Json).tags, ['b', 'n', 'c', 'a']);
  const other = resource();
  other.apply('one', { spec: { tags: ['a', 'b', 'c'] } });
  assert.deepEqual((other.apply('two', { spec: { tags: ['c', 'd'] } }).spec as Json).tags, ['a', 'b', 'c', 'd']);
});

test('an applier that reorders its elements leaves an unchanged apply of another one nothing to change', () => {
  // The expected orders are those of the newest release.
  const cases: readonly (readonly [live: string, mine: string, theirs: string, merged: string])[] = [
    ['abx', 'ab', 'ba', 'bxa'],
    ['axb', 'ab', 'ba', 'xba'],
    ['xab', 'ab', 'ba', 'xba'],
    ['abcxy', 'abc', 'cab', 'cxyab'],
    ['axbyc', 'abc', 'bca', 'xbyca'],
  ];
  for (const [live, mine, reordered, merged] of cases) {
    const others = [...live].filter((name) => !mine.includes(name));
    const specOf = (names: Iterable<string>) => ({
      spec: { tags: [...names], items: Array.from(names, (name) => ({ name, v: 1 })) },
    });
    const subject = resource();
    subject.update('upd', specOf(live));
    subject.apply('one', specOf(mine));
    subject.apply('two', specOf(others));
    const { tags, items } = subject.apply('one', specOf(reordered)).spec as { tags: string[]; items: Json[] };
    assert.equal(tags.join(''), merged, live);
    assert.equal(items.map(({ name }) => name).join(''), merged, live);
    const before = subject.live;
    assert.deepEqual(subject.apply('two', specOf(others)), before);
  }
});

test('an element is removed as a whole with its last owner, but a map with other members stays', () => {
  const subject = resource();
  subject.apply('one', { spec: { items: [{ name: 'a', v: 1 }], nested: { k: { a: '1' } }, deep: { a: '1' } } });
  subject.update('upd', {
    spec: { items: [{ name: 'a', v: 1 }], nested: { k: { a: '1' } }, deep: { a: '1', b: '2' } },
  });
  assert.deepEqual(subject.apply('one', {}).spec, { deep: { b: '2' } });
  assert.deepEqual(subject.owners(), { 'upd Update': { 'f:spec': { 'f:deep': { 'f:b': {} } } } });
});

test('null and empty values are claims', () => {
  const subject = resource();
  const object = subject.apply('one', {
    spec: { items: [{ name: 'a', w: {} }], free: { e: {}, n: null }, deep: {}, whole: null },
  });
  assert.deepEqual((object.spec as Json).deep, {});
  assert.deepEqual(subject.owners()['one Apply'], {
    'f:spec': {
      'f:deep': {},
      'f:free': { 'f:e': {}, 'f:n': {} },
      'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {}, 'f:w': {} } },
      'f:whole': {},
    },
  });
});

test('structs that are applied empty are claims, although absent ones are the same', () => {
  const subject = deployment();
  const body = (resources?: object, labels?: object) => ({
    spec: {
      template: {
        metadata: labels === undefined ? {} : { labels },
        spec: { containers: [{ name: 'c', ...(resources === undefined ? {} : { resources }) }] },
      },
    },
  });
  const claimed = () => JSON.stringify(subject.owners()['one Apply']);
  subject.apply('one', body({}, {}));
  assert.match(claimed(), /"f:metadata":\{"f:labels":\{\}\}/);
  assert.match(claimed(), /"f:resources":\{\}/);
  subject.apply('two', body({ limits: { cpu: '1' } }));
  assert.match(claimed(), /"f:resources":\{\}/);
  const { spec } = subject.apply('one', body());
  assert.doesNotMatch(claimed(), /f:resources/);
  assert.match(JSON.stringify(spec), /"limits":\{"cpu":"1"\}/, 'what is below belongs to another applier');
});

test('an applier that was made the owner of what the server sets cannot drop it', () => {
  const map = new Subject(sampleMap, 'v1');
  const fieldsV1 = {
    'f:apiVersion': {},
    'f:kind': {},
    'f:metadata': { '.': {}, 'f:name': {}, 'f:uid': {}, 'f:creationTimestamp': {}, 'f:labels': { 'f:a': {} } },
  };
  const entry = { manager: 'one', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 };
  const set = { uid: 'u', creationTimestamp: early };
  map.update('other', { metadata: { ...set, labels: { a: '1' }, managedFields: [entry] }, data: { k: '1' } });
  const applied = map.apply('one', { data: { l: '2' } });
  const { managedFields: _owners, ...metadata } = applied.metadata;
  assert.deepEqual(
    { ...applied, metadata },
    {
      apiVersion: 'v1',
      kind: 'SampleMap',
      metadata: { name: 'n', ...set, labels: { a: '1' } },
      data: { k: '1', l: '2' },
    },
  );
});

test('values are compared in canonical spelling, keys with their defaults', () => {
  const body = (cpu: string) => ({
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: {
        spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }], resources: { limits: { cpu } } }] },
      },
    },
  });
  const subject = deployment();
  subject.apply('one', body('1000m'));
  subject.apply('two', body('1'));
  const container = 'k:{"name":"c"}';
  const port = 'k:{"containerPort":80,"protocol":"TCP"}';
  const owned = subject.owners()['two Apply'] as Record<string, Record<string, Record<string, Json>>>;
  assert.deepEqual(owned['f:spec']?.['f:template']?.['f:spec'], {
    'f:containers': {
      [container]: {
        '.': {},
        'f:name': {},
        'f:ports': { [port]: { '.': {}, 'f:containerPort': {} } },
        'f:resources': { 'f:limits': { 'f:cpu': {} } },
      },
    },
  });
});

test('owners of parts of a value that became atomic own all of it', () => {
  const subject = resource();
  subject.apply('one', { spec: { whole: { a: '1' } } });
  const [entry] = subject.live?.metadata.managedFields ?? [];
  const granular = { ...entry, fieldsV1: { 'f:spec': { 'f:whole': { 'f:a': {} } } } };
  subject.live = { ...(subject.live as ApiObject), metadata: { name: 'n', managedFields: [granular] } };
  assert.match(subject.conflict('two', { spec: { whole: { b: '2' } } }), /conflict with "one": \.spec\.whole$/);
});

test('fields that a write cannot change are neither claimed nor contested', () => {
  const subject = resource();
  subject.apply('ctl', { status: { phase: 'Up' } });
  subject.apply('one', { spec: { tags: ['a'] }, status: { phase: 'Down' } }, { resetFields: { 'f:status': {} } });
  assert.deepEqual(subject.owners()['one Apply'], { 'f:spec': { 'f:tags': { 'v:"a"': {} } } });
});

test('a current record of a client-side apply moves ownership without conflict', () => {
  const annotation = 'example/last-applied';
  const record = (data: Json) => JSON.stringify({ apiVersion: 'v1', kind: 'SampleMap', metadata: { name: 'n' }, data });
  const subject = map();
  subject.update('client', {
    metadata: { annotations: { [annotation]: record({ a: '1', b: '0' }) } },
    data: { a: '1', b: '1' },
  });
  const options = { lastAppliedAnnotation: annotation };
  assert.match(subject.conflict('kubectl', { data: { a: '2', b: '2' } }, options), /1 conflict: .*: \.data\.b$/);
  assert.match(subject.conflict('other', { data: { a: '2' } }, options), /\.data\.a$/);
  const applied = subject.apply('kubectl', { data: { a: '2' } }, options);
  assert.deepEqual(applied.data, { a: '2', b: '1' });
  assert.equal(
    applied.metadata.annotations?.[annotation],
    '{"apiVersion":"v1","data":{"a":"2"},"kind":"SampleMap","metadata":{"name":"n"}}\n',
  );
  const broken = map();
  broken.update('client', { metadata: { annotations: { [annotation]: '{' } }, data: { a: '1' } });
  assert.match(broken.conflict('kubectl', { data: { a: '2' } }, options), /\.data\.a$/);
});

test('a config that is not an object of the kind is refused, with all faults', () => {
  const subject = resource();
  const prefix = 'failed to create typed patch object (/n; sample.example/v1, Kind=SampleResource): ';
  assert.equal(subject.refused('one', { bogus: 1 }), `${prefix}.bogus: field not declared in schema`);
  assert.equal(
    subject.refused('one', { spec: { items: [{ name: 'a' }, { name: 'a' }], tags: ['x', 'x'], plain: 3, deep: [] } }),
    `${prefix}errors:\n  .spec.items: duplicate entries for key [name="a"]\n  .spec.tags: duplicate entries for key [="x"]` +
      '\n  .spec.plain: expected list, got &{3}\n  .spec.deep: expected map, got &{[]}',
  );
  // An absent key counts as empty, as in the published schema.
  assert.equal(
    subject.refused('one', { spec: { items: [{ v: 1 }, {}] } }),
    `${prefix}.spec.items: duplicate entries for key [name=""]`,
  );
  assert.match(
    deployment().refused('one', { spec: { selector: { foo: 1 } } }),
    /: \.spec\.selector\.foo: field not declared in schema$/,
  );
  assert.match(
    subject.refused('one', { spec: { plain: ['a', 1] } }),
    /: \.spec\.plain\[1\]: expected string, got &value\.valueUnstructured\{Value:1\}$/,
  );
  assert.match(
    deployment().refused('one', { spec: { replicas: 'two' } }),
    /\.spec\.replicas: expected numeric \(int or float\)/,
  );
  assert.equal(
    deployment().refused('one', { spec: { replicas: 1.5 } }),
    'failed to convert new object (/n; apps/v1, Kind=SampleDeployment) to proper version: ' +
      'unable to convert unstructured object to apps/v1, Kind=SampleDeployment: cannot convert float64 to int32',
  );
  assert.equal(subject.refused('one', { apiVersion: 'a/b/c' }), 'invalid object type: /, Kind=');
  assert.equal(
    subject.refused('one', { spec: { items: ['a', 'b'], tags: [{}] } }),
    `${prefix}errors:\n  .spec.items: element 0: associative list with keys may not have non-map elements` +
      "\n  .spec.tags: element 0: associative list without keys has an element that's a map type",
  );
  assert.equal(subject.refused('one', { metadata: { managedFields: [{}] } }), 'metadata.managedFields must be nil');
  assert.equal(subject.refused('one', { apiVersion: undefined }), 'invalid object type: /, Kind=SampleResource');
  assert.match(subject.refused('one', { kind: 'Other' }), /^invalid object type: sample.example\/v1, Kind=Other$/);
  const deep = JSON.parse(`{"spec":{"free":${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}}}`);
  assert.match(subject.refused('one', deep), /nested deeper/);
});

test('undeclared fields are kept where the resource preserves them', () => {
  const subject = resource();
  const result = subject.attempt('one', { extra: { a: 1 } }, { allowUndeclared: true });
  assert.equal(result.kind, 'applied');
  if (result.kind === 'applied') {
    assert.deepEqual(result.object.extra, { a: 1 });
    assert.deepEqual(result.object.metadata.managedFields?.[0]?.fieldsV1, { 'f:extra': { '.': {}, 'f:a': {} } });
  }
});

test('a write without changes in the end keeps its times', () => {
  const subject = map();
  const live = subject.apply('one', { data: { a: '1' } });
  const entries = live.metadata.managedFields?.map((entry) => ({ ...entry, time: late })) ?? [];
  const touched = { ...live, metadata: { ...live.metadata, managedFields: entries } };
  assert.equal(withoutTimeChanges(live, touched), live.metadata.managedFields);
  const changed = { ...touched, data: { a: '2' } };
  assert.equal(withoutTimeChanges(live, changed), entries);
});

test('an apply that changes no value leaves the time of its manager as it was', () => {
  const subject = map();
  subject.apply('one', { data: { a: '1', b: '2' } }, { time: early });
  const timesOf = () => (subject.live?.metadata.managedFields ?? []).map(({ manager, time }) => [manager, time]);
  subject.apply('two', { data: { a: '1' } }, { time: late });
  assert.deepEqual(timesOf(), [
    ['two', undefined],
    ['one', early],
  ]);
  subject.apply('two', { data: { a: '1', b: '2' } }, { time: late });
  assert.deepEqual(timesOf()[0], ['two', undefined]);
  subject.apply('two', { data: { a: '1', b: '2', c: '3' } }, { time: late });
  assert.deepEqual(timesOf(), [
    ['one', early],
    ['two', late],
  ]);
});
