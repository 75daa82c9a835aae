import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { machinePace, processorMs } from '../../../test/support/processor-time.js';
import { atOnce } from '../../base/machinery/turns.js';
import { mergeSwagger, type SwaggerParts, swaggerOf } from './swagger-merge.js';

const ref = (name: string) => ({ $ref: `#/definitions/${name}` });

interface Parts {
  readonly paths: object;
  readonly definitions: object;
}
const maps = ({ paths, definitions }: Parts): SwaggerParts => ({
  paths: new Map(Object.entries(paths)),
  definitions: new Map(Object.entries(definitions)),
});
const objects = ({ paths, definitions }: SwaggerParts) => ({
  paths: Object.fromEntries(paths),
  definitions: Object.fromEntries(definitions),
});
const merge = (own: Parts, others: readonly Parts[]) => objects(atOnce(mergeSwagger(maps(own), others.map(maps))));

/** The longest step in milliseconds, in the best of several runs, since the machine may be busy. */
function longestStep(make: () => Generator): number {
  const run = () => {
    const steps = make();
    for (let longest = 0; ; ) {
      const began = processorMs();
      const { done } = steps.next();
      longest = Math.max(longest, processorMs() - began);
      if (done) return longest;
    }
  };
  return Math.min(...Array.from({ length: 10 }, run));
}

describe('the document of an extension server', () => {
  it('is reduced to the group version and what that refers to', () => {
    const document = {
      paths: { '/apis/g/v1/': ref('a'), '/apis/g/v1/x': ref('a'), '/apis/g/v1x': ref('c'), '/healthz': ref('c') },
      definitions: { a: { items: ref('b') }, b: { items: [ref('a'), ref('missing'), ref('__proto__')] }, c: {} },
    };
    const { paths, definitions } = atOnce(swaggerOf(document, 'g', 'v1'));
    assert.deepEqual([...paths.keys()], ['/apis/g/v1/', '/apis/g/v1/x']);
    assert.deepEqual([...definitions.keys()], ['a', 'b']);
  });

  it('has its shared parameters where they are used: names lead to those of another document', () => {
    const limit = { name: 'limit', in: 'query' };
    const body = { name: 'body', in: 'body', schema: ref('a') };
    const [shared, missing] = [{ $ref: '#/parameters/limit-x' }, { $ref: '#/parameters/none' }];
    const document = {
      paths: {
        '/apis/g/v1/x': { parameters: [shared], post: { id: 1, parameters: [{ $ref: '#/parameters/b' }, missing] } },
      },
      parameters: { 'limit-x': limit, b: body },
      definitions: { a: {} },
    };
    const { paths, definitions } = atOnce(swaggerOf(document, 'g', 'v1'));
    const expected = { parameters: [limit], post: { id: 1, parameters: [body, missing] } };
    assert.deepEqual(paths.get('/apis/g/v1/x'), expected);
    assert.deepEqual([...definitions.keys()], ['a']);
  });

  for (const value of [null, [], {}, { paths: [] }, { paths: {}, definitions: 1 }, 'x']) {
    it(`is refused as ${JSON.stringify(value)}`, () =>
      assert.throws(() => atOnce(swaggerOf(value, 'g', 'v1')), /not an OpenAPI/));
  }
});

it('a huge definition is refused', () => {
  const huge = { enum: Array.from({ length: 30_000 }, (_, i) => i) };
  const document = { paths: { '/apis/g/v1/x': ref('a') }, definitions: { a: huge } };
  assert.throws(() => atOnce(swaggerOf(document, 'g', 'v1')), /more than 20000 values/);
});

it('a huge number of definitions is refused', () => {
  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [`d${i}`, {}]));
  const read = (document: object) => () => atOnce(swaggerOf(document, 'g', 'v1'));
  assert.throws(read({ paths: {}, definitions: many }), /more than 10000/);
  assert.throws(read({ paths: many }), /more than 10000/);
});

it('many definitions of many servers are read and merged in short steps', () => {
  const definitionsFrom = (n: number) =>
    Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`s${n}.d${i}`, { items: i < 9_999 ? ref(`s${n}.d${i + 1}`) : {} }]),
    );
  const document = { paths: { '/apis/g/v1/x': ref('s0.d0') }, definitions: definitionsFrom(0) };
  assert.ok(longestStep(() => swaggerOf(document, 'g', 'v1')) < 20 * machinePace());
  const parts = Array.from({ length: 8 }, (_, n) => maps({ paths: {}, definitions: definitionsFrom(n) }));
  assert.ok(longestStep(() => mergeSwagger(parts[0] as SwaggerParts, parts.slice(1))) < 20 * machinePace());
});

describe('merged documents', () => {
  it('describe no kind of this server twice', () => {
    const field = 'x-kubernetes-group-version-kind';
    const kind = (of: string, group = 'apps') => ({ group, version: 'v1', kind: of });
    const own = { paths: {}, definitions: { deployment: { type: 'object', [field]: [kind('Deployment')] } } };
    const definitions = {
      deployment: { type: 'string', [field]: [kind('Deployment')] },
      other: { [field]: [kind('Deployment'), kind('Flavour', 'g')] },
      odd: { [field]: 'x' },
    };
    const remote = { paths: {}, definitions };
    const expected = {
      ...own.definitions,
      deployment_v2: { type: 'string' },
      other: { [field]: [kind('Flavour', 'g')] },
      odd: { [field]: 'x' },
    };
    assert.deepEqual(merge(own, [remote]).definitions, expected);
  });

  it('follow a long chain of definitions in time proportional to its length', () => {
    const length = 20_000;
    const chain = (end: string) =>
      Object.fromEntries(
        Array.from({ length }, (_, i) => [`d${i}`, i === length - 1 ? { type: end } : { items: ref(`d${i + 1}`) }]),
      );
    const began = processorMs();
    const { definitions } = merge({ paths: {}, definitions: chain('string') }, [
      { paths: {}, definitions: chain('number') },
    ]);
    assert.equal(Object.keys(definitions).length, 2 * length);
    assert.deepEqual(definitions.d0_v2, { items: ref('d1_v2') });
    assert.ok(processorMs() - began < 5000);
  });

  it('share what is equal, and rename what is not', () => {
    const own = { paths: { '/own': {} }, definitions: { same: { type: 'object' }, other: { type: 'string' } } };
    const remote = {
      paths: { '/own': ref('other'), '/theirs': { get: ref('uses') } },
      definitions: {
        same: { type: 'object' },
        other: { type: 'number' },
        uses: { items: [ref('other'), ref('same')] },
      },
    };
    assert.deepEqual(merge(own, [remote]), {
      paths: { '/own': {}, '/theirs': { get: ref('uses') } },
      definitions: {
        ...own.definitions,
        other_v2: { type: 'number' },
        uses: { items: [ref('other_v2'), ref('same')] },
      },
    });
  });

  it('rename what refers to something renamed', () => {
    const own = { paths: {}, definitions: { a: { items: ref('b') }, b: { type: 'string' }, b_v2: {} } };
    const remote = { paths: { '/p': ref('a') }, definitions: { a: { items: ref('b') }, b: { type: 'number' } } };
    const { paths, definitions } = merge(own, [remote]);
    assert.deepEqual(paths, { '/p': ref('a_v2') });
    assert.deepEqual(definitions, { ...own.definitions, a_v2: { items: ref('b_v3') }, b_v3: { type: 'number' } });
  });
});
