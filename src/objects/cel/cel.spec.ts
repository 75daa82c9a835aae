import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ExactNumber } from '../../base/machinery/json/exact-numbers.js';
import { admissionEnvironment, CelCompileError, CelError, compileProgram, types, type Value } from './index.js';
import type { AuthorizationCheck } from './library/authorizers.js';
import { authorizerValue } from './library/authorizers.js';
import { isList, isMap, listItems, mapGet, mapKeys, OptionalValue } from './values/value.js';

const environment = admissionEnvironment();

const object = {
  metadata: { name: 'web', labels: { app: 'web', 'a/b': 'c' } },
  spec: {
    replicas: 3,
    ratio: 0.5,
    exact: new ExactNumber('1.0'),
    big: 9007199254740993n,
    containers: [
      { name: 'a', image: 'x:1' },
      { name: 'b', image: 'y:latest' },
    ],
  },
} as unknown as Value;

function plain(value: Value): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (isList(value)) return listItems(value).map(plain);
  if (value instanceof OptionalValue) return value.value === undefined ? 'none' : plain(value.value);
  if (isMap(value)) return Object.fromEntries(mapKeys(value).map((key) => [key, plain(mapGet(value, key) as Value)]));
  return value;
}

function evaluate(text: string): unknown {
  const authorizer = authorizerValue({
    answer: (question: AuthorizationCheck) => ({
      allowed: question.verb === 'get' && question.resource === 'pods' && question.namespace === 'n',
      reason: `${question.serviceAccount?.name ?? 'user'} ${question.path}`,
      error: '',
    }),
  });
  try {
    return plain(compileProgram(text, environment).evaluate({ object, oldObject: null, request: {}, authorizer }));
  } catch (error) {
    if (error instanceof CelError) return `error: ${error.message}`;
    throw error;
  }
}

describe('expressions over JSON objects', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['object.spec.replicas + 1 == 4', true],
    ['object.spec.replicas / 2', 1],
    ['object.spec.ratio * 2.0', 1],
    ['object.spec.exact + 0.5', 1.5],
    ['object.spec.big == 9007199254740993', true],
    ['object.spec.containers.all(c, c.image.contains(":"))', true],
    ['object.spec.containers.filter(c, c.image.endsWith(":latest")).map(c, c.name)', ['b']],
    ['object.spec.containers.map(c, c.name == "b", c.image)', ['y:latest']],
    ['object.spec.containers.exists_one(c, c.name == "a")', true],
    ['object.spec.containers.transformMap(i, c, c.name)', { 0: 'a', 1: 'b' }],
    ['object.metadata.labels.all(k, v, k != v || k == "a/b" || v == "web")', true],
    ['has(object.spec.nothing)', false],
    ['has(object.metadata.labels) && "a/b" in object.metadata.labels', true],
    ['object.spec.nothing', 'error: no such key: nothing'],
    ['object.?spec.?nothing.orValue("x")', 'x'],
    ['object.spec.?replicas.optMap(r, r * 2).orValue(0)', 6],
    ['object.metadata.labels[?"a/b"].value()', 'c'],
    ['oldObject == null', true],
    ['object.spec.containers[5]', 'error: index out of bounds: 5'],
    ['object.spec.nothing == 1 || object.spec.replicas == 3', true],
    ['[1, 2].exists(x, object.spec.nothing == x)', 'error: no such key: nothing'],
    ['{"a": 1, ?"b": optional.none()}', { a: 1 }],
    ['1 / 0 == 1', 'error: division by zero'],
    [
      'duration("a" + "b") == duration("1s")',
      "error: type conversion error from 'string' to 'google.protobuf.Duration'",
    ],
    [
      'timestamp("a" + "b") == timestamp("2020-01-01T00:00:00Z")',
      "error: type conversion error from 'string' to 'google.protobuf.Timestamp'",
    ],
    ['int("a") == 1', "error: type conversion error from 'string' to 'int'"],
    ['object.spec.replicas + "a"', 'error: no such overload'],
    // Members that every JavaScript object has are not keys.
    ['has(object.constructor) || has(object.__proto__) || "toString" in object', false],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(evaluate(text), expected));
});

describe('functions of the API', () => {
  const cases: readonly (readonly [string, unknown])[] = [
    ['quantity("1.5Gi").compareTo(quantity("1536Mi"))', 0],
    ['quantity("500m").add(quantity("0.5")) == quantity("1")', true],
    ['quantity("10k").sub(1).asInteger()', 9999],
    ['quantity("100m").isLessThan(quantity("1"))', true],
    ['quantity("2Mi").isGreaterThan(quantity("2M"))', true],
    ['quantity("1500m").isInteger()', false],
    ['quantity("1500m").asApproximateFloat()', 1.5],
    ['quantity("1500m").asInteger()', 'error: cannot convert value to integer'],
    ['quantity("10Ei").isInteger() || quantity("-10Ei").isInteger()', false],
    ['quantity("10Ei").asInteger()', 'error: cannot convert value to integer'],
    ['quantity("7Ei").asInteger() == 7 * 1024 * 1024 * 1024 * 1024 * 1024 * 1024', true],
    ['quantity("4Ei").add(quantity("4Ei")).isInteger()', false],
    ['quantity("-3").sign()', -1],
    ['duration("2m3.321s").getMilliseconds()', 123321],
    ['duration("-1.5s").getMilliseconds()', -1500],
    ['timestamp("2020-01-01T00:00:01.5Z").getMilliseconds()', 500],
    ['isQuantity("1Zi") || isQuantity("")', false],
    [
      'url("https://u@example.com:80/a b?x=1&x=2#f").getHost()',
      'error: URL parse error during conversion from string: "https://u@example.com:80/a b?x=1&x=2#f"',
    ],
    ['url("https://u@example.com:80/a b?x=1&x=2").getHost()', 'example.com:80'],
    ['url("https://example.com:80/a b?x=1&x=2").getEscapedPath()', '/a%20b'],
    ['url("https://example.com/?x=1&x=2&y").getQuery()', { x: ['1', '2'], y: [''] }],
    ['url("https://[::1]:80/").getHostname()', '::1'],
    ['url("/path").getScheme()', ''],
    ['isURL("../a") || isURL("a:b")', false],
    ['isIP("1.2.3.4") && isIP("::1") && !isIP("1.2.3") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")', true],
    ['ip("2001:DB8::1") == ip("2001:db8:0:0:0:0:0:1")', true],
    ['string(ip("2001:db8:0:0:1:0:0:1"))', '2001:db8::1:0:0:1'],
    ['ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::1")', true],
    ['ip("127.0.0.1").isLoopback() && ip("169.254.1.1").isLinkLocalUnicast() && ip("8.8.8.8").isGlobalUnicast()', true],
    ['ip("::1").family()', 6],
    ['cidr("10.0.0.0/8").containsIP("10.1.2.3")', true],
    ['cidr("10.0.0.0/8").containsIP(ip("::1"))', false],
    ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && !cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))', true],
    ['string(cidr("10.1.2.3/8").masked())', '10.0.0.0/8'],
    ['isCIDR("10.0.0.0/33")', false],
    ['semver("1.2.3").isLessThan(semver("1.10.0")) && semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))', true],
    ['semver("v1.02", true).minor()', 2],
    ['isSemver("v1.0.0") || isSemver("1.0")', false],
    ['format.dns1123Label().validate("a-b").hasValue()', false],
    ['format.dns1123Label().validate("A b").value().size()', 1],
    ['format.named("nothing").hasValue()', false],
    ['format.uuid().validate("x").value()', ['does not match the UUID format']],
    ['[1, 2, 3].sum() + [4, 2].min() + [4, 2].max()', 12],
    ['["a", "c", "b"].isSorted()', false],
    ['[1, 2, 1].indexOf(1) + [1, 2, 1].lastIndexOf(1)', 2],
    ['[3, 1, 2].sort() == [1, 2, 3] && ["b", "a"].sort()[0] == "a"', true],
    ['[3, 1, 2].sortBy(x, -x) == [3, 2, 1] && [].sortBy(x, x) == []', true],
    ['[{"n": "b"}, {"n": "a"}].sortBy(e, e.n).map(e, e.n) == ["a", "b"]', true],
    ['[[2], [1, 1]].sortBy(x, x.size()).sortBy(y, y.sortBy(z, z)[0]) == [[1, 1], [2]]', true],
    ['lists.range(3) == [0, 1, 2] && lists.range(-1) == []', true],
    ['[1, 2, 3, 4].slice(1, 3) == [2, 3] && [1].slice(1, 1) == []', true],
    ['[[1, 2], [3]].flatten() == [1, 2, 3] && [[[1]], [[2], [3]]].flatten(2) == [1, 2, 3]', true],
    ['[1, 2, 1, 2].distinct() == [1, 2] && [1, 2].reverse() == [2, 1]', true],
    ['[1, 2].first().value() + [1, 2].last().value()', 3],
    ['[].first().hasValue()', false],
    ['sets.contains([1, 2, 3], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])', true],
    ['"abc 123 45".find("[0-9]+")', '123'],
    ['[dyn(null), dyn(1), dyn("a")].exists(x, has(x.y))', false],
    ['"abc 123 45".findAll("[0-9]+")', ['123', '45']],
    ['"abc 123 45".findAll("[0-9]+", 1)', ['123']],
    ['"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!".matches("^(a+)+$")', false],
    ['"%s has %d of %.1f".format(["x", 3, 2.25])', 'x has 3 of 2.3'],
    ['"a,b".split(",").join("-").upperAscii()', 'A-B'],
    ['authorizer.group("").resource("pods").namespace("n").check("get").allowed()', true],
    ['authorizer.group("").resource("pods").check("get").allowed()', false],
    ['authorizer.serviceAccount("n", "sa").path("/x").check("get").reason()', 'sa /x'],
  ];
  for (const [text, expected] of cases) it(text, () => assert.deepEqual(evaluate(text), expected));
});

describe('the check of an expression', () => {
  const cases: readonly (readonly [string, string])[] = [
    [
      'object.spec.replicas <=',
      `ERROR: <input>:1:24: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | object.spec.replicas <=\n | .......................^`,
    ],
    [
      'objct.spec == 1',
      "ERROR: <input>:1:1: undeclared reference to 'objct' (in container '')\n | objct.spec == 1\n | ^",
    ],
    ['true &&\nfoo()', "ERROR: <input>:2:4: undeclared reference to 'foo' (in container '')\n | foo()\n | ...^"],
    [
      '1 + "a"',
      "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + \"a\"\n | ..^",
    ],
    ['request.foo', "ERROR: <input>:1:8: undefined field 'foo'\n | request.foo\n | .......^"],
    ['"a".matches("(")', 'ERROR: <input>:1:13: invalid matches argument\n'],
    ['duration("x") == duration("1s")', 'ERROR: <input>:1:10: invalid duration argument\n'],
    ['timestamp("x") == timestamp("y")', 'ERROR: <input>:1:11: invalid timestamp argument\n'],
    ['cel.foo(x)', "undeclared reference to 'foo' (in container '')\n | cel.foo(x)\n | .......^\nERROR: <input>:1:9"],
    [
      '[1].sortBy(x, [x])',
      "found no matching overload for '@sortByAssociatedKeys' applied to 'list(int).(list(list(int)))'",
    ],
    ['[1].filter(x, x)', "found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"],
    ['[1].exists_one(x, "a")', "found no matching overload for '_?_:_' applied to '(string, int, int)'"],
    ['[1].sortBy(1, x)', 'argument is not an identifier'],
    ['1.sortBy(x, x)', 'sortBy can only be applied to a list, identifier, comprehension, call or select expression'],
    ['"a".reverse()', "found no matching overload for 'reverse' applied to 'string.()'"],
    ['[[1]].sort()', "found no matching overload for 'sort' applied to 'list(list(int)).()'"],
    ['[1, "a"]', "expected type 'int' but found 'string'"],
    ['object.items.all(x, 1)', "expected type 'bool' but found 'int'"],
    ['has(object)', 'invalid argument to has() macro'],
    ['Foo{a: 1}', "undeclared reference to 'Foo'"],
    ['if', 'reserved identifier: if'],
    ['"a', `token recognition error at: '"a'`],
    ['object.a ===', "1:12: Syntax error: token recognition error at: '='"],
    ['(object.a', "missing ')' at '<EOF>'"],
    ['object.a 1', "extraneous input '1' expecting <EOF>"],
    ['object.a 1 2', "mismatched input '1' expecting <EOF>"],
    ['size(', "expecting {'[', '{', '(', ')', '.',"],
    ['[1', "mismatched input '<EOF>' expecting {']', ','}"],
    ['params.x', "undeclared reference to 'params'"],
    [`${'('.repeat(300)}1${')'.repeat(300)}`, 'expression recursion limit exceeded: 250'],
  ];
  for (const [text, expected] of cases) {
    it(`refuses ${text.slice(0, 40)}`, () => {
      assert.throws(
        () => compileProgram(text, environment),
        (error) => {
          assert.ok(error instanceof CelCompileError);
          assert.ok(error.message.includes(expected), error.message);
          return true;
        },
      );
    });
  }

  it('wants the declared result, if the type is known', () => {
    const options = { results: [types.bool] };
    assert.throws(() => compileProgram('"a"', environment, options), {
      message: 'must evaluate to bool but got string',
    });
    assert.equal(compileProgram('object.a', environment, options).type, types.dyn);
  });

  it('refuses what costs too much with any input', () => {
    const text = `[${'1,'.repeat(1500)}1].all(a, true) && [${'1,'.repeat(1500)}1].map(a, [${'1,'.repeat(1500)}1].map(b, [a, b])) == []`;
    assert.doesNotThrow(() => compileProgram(text, environment));
    const certain = text.slice(text.indexOf('&&') + 3);
    assert.throws(() => compileProgram(certain, environment), /estimated cost of at least \d+ exceeds the limit/);
  });
});
