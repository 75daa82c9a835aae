import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderFieldError } from './header-field-error.js';
import { fieldsWithPrefix, fieldValues, type RequestHead, removeFields, unescapeKey } from './header-fields.js';

/** A request head as Node makes it from header lines: one character per byte, equal names joined. */
function head(...lines: (readonly [string, string])[]): RequestHead {
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (const [name, text] of lines) {
    const value = Buffer.from(text).toString('latin1');
    const key = name.toLowerCase();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
    rawHeaders.push(name, value);
  }
  return { headers, rawHeaders };
}

describe('header fields', () => {
  it('are read line by line, whatever their case', () => {
    const sent = head(['X-A', 'one, two'], ['x-a', ' three '], ['X-B', 'four'], ['X_A', 'five']);
    assert.deepEqual(fieldValues(sent, 'x-a'), ['one, two', 'three']);
    assert.deepEqual(fieldValues(sent, 'x-c'), []);
    assert.deepEqual(fieldsWithPrefix(sent, 'x-'), [
      ['a', 'one, two'],
      ['a', 'three'],
      ['b', 'four'],
    ]);
  });

  it('are UTF-8, and nothing else', () => {
    assert.deepEqual(fieldValues(head(['x-a', 'jürgen ✓']), 'x-a'), ['jürgen ✓']);
    const broken: RequestHead = { headers: { 'x-a': 'j\u00fcrgen' }, rawHeaders: ['x-a', 'j\u00fcrgen'] };
    assert.throws(() => fieldValues(broken, 'x-a'), HeaderFieldError);
    // The test reads none of the invalid fields, so there is no reason to refuse the request.
    assert.deepEqual(fieldValues({ ...broken, headers: { ...broken.headers, 'x-b': '' } }, 'x-b'), []);
  });

  it('keep every character except surrounding spaces and tabs', () => {
    const names = ['\u3000a', 'a\u3000', '\u00a0a\u00a0', '\ufeffa', 'a\ufeff', '\u2028a', 'a\u0085', '\ufeff\u3000'];
    for (const name of names) {
      assert.deepEqual(fieldValues(head(['x-a', ` \t${name}\t `]), 'x-a'), [name], JSON.stringify(name));
      assert.deepEqual(fieldsWithPrefix(head(['x-a', name]), 'x-'), [['a', name]]);
    }
    assert.deepEqual(fieldValues(head(['x-a', ' \t']), 'x-a'), ['']);
  });

  it('can be removed', () => {
    const sent = head(['Host', 'h'], ['X-A', '1'], ['Accept', 'a'], ['x-a', '2']);
    const { headers, rawHeaders } = sent;
    removeFields(sent, (name) => name === 'x-a');
    assert.deepEqual(headers, { host: 'h', accept: 'a' });
    assert.deepEqual(rawHeaders, ['Host', 'h', 'Accept', 'a']);
    removeFields(sent, () => false);
    assert.equal(rawHeaders.length, 4);
  });

  it('may have escaped keys', () => {
    assert.equal(unescapeKey('acme.com%2Fproject'), 'acme.com/project');
    assert.equal(unescapeKey('a%zz'), 'a%zz');
    assert.equal(unescapeKey('a%ff'), 'a%ff');
  });
});
