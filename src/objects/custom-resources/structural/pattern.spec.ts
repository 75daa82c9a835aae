import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RE2JS } from 're2js';
import { Pattern } from './pattern.js';
import { PatternAutomaton } from './pattern-automaton.js';
import { ValidationBudget } from './validation-budget.js';
import { ValidationBudgetExceeded } from './validation-budget-exceeded.js';

const cases: readonly [pattern: string, found: readonly string[], notFound: readonly string[]][] = [
  ['', ['', 'a'], []],
  ['b', ['b', 'abc'], ['', 'a']],
  ['^b', ['b', 'bc'], ['ab', '']],
  ['b$', ['b', 'ab'], ['ba', 'b\n']],
  ['^$', [''], ['a', '\n']],
  ['^a|b$', ['ax', 'xb'], ['xa', 'bx']],
  ['(^|,)a(,|$)', ['a', 'x,a', 'a,x'], ['ba', 'ab']],
  ['^[a-z]+$', ['abc'], ['', 'aBc', 'a1']],
  ['^[^a-z]*$', ['', 'A1', 'ü', '😀'], ['Aa']],
  ['^.$', ['a', 'ü', '😀'], ['', '\n', 'ab']],
  ['^a{2,3}$', ['aa', 'aaa'], ['a', 'aaaa']],
  ['^a{2,}$', ['aa', 'aaaaa'], ['a']],
  ['^(ab){2}$', ['abab'], ['ab', 'ababab']],
  ['^a{x$', ['a{x'], ['a']],
  ['^(?:a*)*$', ['', 'aaa'], ['b']],
  ['^(a|b|)c??$', ['a', 'b', '', 'c', 'ac'], ['ab']],
  ['^[]a]$', [']', 'a'], ['b']],
  ['^[a-]$', ['a', '-'], ['b']],
  ['^[\\w.-]+$', ['a.b-c_1'], ['a b']],
  ['^[[:alpha:]_]$', ['a', '_'], ['1']],
  ['^\\d+\\.\\d+$', ['1.2'], ['1x2']],
  ['^\\S+\\s\\S+$', ['a b'], ['ab']],
  ['^\\x41\\x{1F600}$', ['A😀'], ['A']],
  ['^(?P<name>a)$', ['a'], ['b']],
  ['(?i)^true$', ['TRUE', 'True'], ['no']],
  ['^\\p{Lu}+$', ['ÄB'], ['ä']],
  ['\\bfoo\\b', ['a foo b'], ['afoo']],
  ['^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$', ['a.b-c.d'], ['a..b', '-a', 'a-']],
];

describe('patterns', () => {
  for (const [source, found, notFound] of cases) {
    it(source, () => {
      const pattern = Pattern.of(source);
      for (const text of found) assert.equal(pattern.isIn(text, new ValidationBudget()), true, text);
      for (const text of notFound) assert.equal(pattern.isIn(text, new ValidationBudget()), false, text);
    });
  }

  it('answer as RE2 does', () => {
    let state = 7;
    const random = (limit: number) => {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      return (state >> 8) % limit;
    };
    const pieces = ['a', 'b', '.', '[ab]', '[^a]', '(a|b)', '(?:ab|c)', '^', '$', '\\d', '\\.', '(a*)', '(b|^a)', '1'];
    const quantifiers = ['', '', '', '*', '+', '?', '{2}', '{0,3}', '{1,}', '*?'];
    const letters = ['a', 'b', 'c', '1', '.', '\n', '😀'];
    let compared = 0;
    for (let i = 0; i < 3000; i++) {
      let source = '';
      for (let j = random(6); j >= 0; j--) {
        source += (pieces[random(pieces.length)] as string) + (quantifiers[random(quantifiers.length)] as string);
        if (random(8) === 0) source += '|';
      }
      let expected: RE2JS;
      try {
        expected = RE2JS.compile(source);
      } catch {
        continue;
      }
      const { automaton } = PatternAutomaton.of(source);
      if (automaton === undefined) continue;
      compared++;
      for (let j = 0; j < 10; j++) {
        let text = '';
        for (let k = random(8); k > 0; k--) text += letters[random(letters.length)] as string;
        assert.equal(automaton.isIn(text), expected.test(text), `${source} in ${JSON.stringify(text)}`);
      }
    }
    assert.ok(compared > 1500, `${compared} patterns were compared`);
  });

  it('become tables where these are small', () => {
    const large = [
      '^.*a.{90}$',
      '(?:a.{20}|b.{30})x$',
      '^(a|b)*a(a|b){15}$',
      '(?i)a',
      'a{1000}b{1000}c{1000}d{1000}e{1000}',
    ];
    for (const source of large) assert.equal(PatternAutomaton.of(source).automaton, undefined, source);
    const small = [
      '^.{1,1000}$',
      '^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$',
      '(a?){30}a{30}$',
      '([0-9]+(\\.[0-9]+)?(Ki|Mi|Gi)?)',
    ];
    for (const source of small) assert.notEqual(PatternAutomaton.of(source).automaton, undefined, source);
  });

  it('are counted where they could take long', () => {
    const text = 'ab'.repeat(32 * 1024);
    assert.throws(() => Pattern.of('^.*a.{90}$').isIn(text, new ValidationBudget()), ValidationBudgetExceeded);
    assert.equal(Pattern.of('^.*a.{90}$').isIn('ab', new ValidationBudget()), false);
    assert.equal(Pattern.of('^[ab]*$').isIn(text, new ValidationBudget()), true);
    assert.equal(Pattern.of('(a?){30}b{30}$').isIn(text, new ValidationBudget()), false);
  });

  it('work before their table is built', () => {
    const work = new ValidationBudget();
    work.build(1_000_000);
    const pattern = Pattern.of('^not built yet$');
    assert.equal(pattern.isIn('not built yet', work), true);
    assert.equal(pattern.isIn('no', work), false);
    assert.equal(pattern.isIn('not built yet', new ValidationBudget()), true);
  });
});
