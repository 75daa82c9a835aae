import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { yamlText } from './yaml-text.js';

test('maps are sorted, and lists stand at the indent of their key', () => {
  const value = { b: [{ x: 1, a: [] }, ['y', {}], null], a10: true, a9: { '.': {}, 'f:a': {} } };
  assert.equal(yamlText(value), 'a9:\n  .: {}\n  f:a: {}\na10: true\nb:\n- a: []\n  x: 1\n- - "y"\n  - {}\n- null\n');
});

test('texts are quoted only where a reader would take them for something else', () => {
  for (const [text, shown] of [
    ['plain text', 'plain text'],
    ['', '""'],
    ['yes', '"yes"'],
    ['12', '"12"'],
    ['1_000', '"1_000"'],
    ['0x1f', '"0x1f"'],
    ['1.5e3', '"1.5e3"'],
    ['1.2.3.4', '1.2.3.4'],
    ['12:30', '"12:30"'],
    ['2026-01-02', '"2026-01-02"'],
    ['2026-01-02T03:04:05Z', '"2026-01-02T03:04:05Z"'],
    ['a: b', "'a: b'"],
    ['a #b', "'a #b'"],
    ["it's", "it's"],
    ["'it's", "'''it''s'"],
    ['- a', "'- a'"],
    ['-a', '-a'],
    ['@a', "'@a'"],
    [' a', "' a'"],
    ['a\tb', '"a\\tb"'],
    ['é', 'é'],
    ['a\nb', '|-\n  a\n  b'],
    ['a\n', '|\n  a'],
    ['a\n\n', '|+\n  a\n'],
    ['a \nb', '"a \\nb"'],
    ['~', '"~"'],
    ['.', '.'],
  ] as const) {
    assert.equal(yamlText({ k: text }), `k: ${shown}\n`, text);
  }
});

test('long texts are folded behind column 80', () => {
  const text = `only the following media types are accepted: ${'x'.repeat(40)} and more`;
  assert.equal(
    yamlText({ message: text }),
    `message: 'only the following media types are accepted: ${'x'.repeat(40)}\n  and more'\n`,
  );
  const plain = 'word '.repeat(40).trim();
  const shown = yamlText([{ a: plain }]);
  assert.deepEqual(parse(shown), [{ a: plain }]);
  assert.ok(
    shown.split('\n').every((line) => line.length <= 86),
    shown,
  );
  assert.match(shown, /\n {4}word/);
});

test('what is written is read as the same value', () => {
  const texts = [
    'a',
    ' a ',
    '\na',
    'a\n\nb\n',
    '"',
    '\\',
    'x: y',
    '#',
    '---',
    '...',
    'true',
    'null',
    '0',
    '-',
    '?',
    '1e3',
    '\u0000',
    '\u2028',
    '😀',
    '%a',
    "'",
    ': ',
    'a:',
    '[a',
    '{a',
    'x'.repeat(200),
    `${'a b '.repeat(60)}: c`,
    `"${' q'.repeat(80)}`,
  ];
  const value = {
    texts,
    keys: Object.fromEntries(texts.map((text, i) => [text, i])),
    numbers: [0, -1, 1.5, 1e21, 1e-7],
  };
  assert.deepEqual(parse(yamlText(value), { version: '1.1' }), value);
});
