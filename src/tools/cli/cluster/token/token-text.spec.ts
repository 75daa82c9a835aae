import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KnownToken } from './bootstrap-tokens.js';
import { describeToken, tokenTable } from './token-table.js';
import { TokenText } from './token-text.js';

const now = Date.parse('2026-01-02T03:04:05Z');
const token = TokenText.parse('abcdef.0123456789abcdef') as TokenText;
const known: KnownToken = { token, description: '', expiresAt: now + 7_200_000, usages: ['signing'], groups: [] };

describe('the text of a bootstrap token', () => {
  it('is made anew each time, in the form of the specification', () => {
    const made = new Set(Array.from({ length: 200 }, () => String(TokenText.generate())));
    assert.equal(made.size, 200);
    for (const text of made) assert.equal(String(TokenText.parse(text)), text);
    // Every character can be in it.
    assert.equal(new Set([...made].join('').replaceAll('.', '')).size, 36);
  });

  it('is read in no other form', () => {
    for (const text of ['', 'abcdef', 'abcdef.', 'Abcdef.0123456789abcdef', `${token}x`, `${token}.`, ` ${token}`]) {
      assert.equal(TokenText.parse(text), undefined, text);
    }
  });

  it('is shown without its secret unless that is wanted', () => {
    assert.deepEqual(describeToken(known, false, now), {
      token: 'abcdef',
      description: '',
      ttl: 7200,
      expires: '2026-01-02T05:04:05Z',
      usages: ['signing'],
      groups: [],
    });
    assert.equal(describeToken(known, true, now).token, String(token));
    assert.match(
      tokenTable([known], false, now)[1] ?? '',
      /^abcdef +2h +2026-01-02T05:04:05Z +signing +<none> +<none>$/,
    );
    const ends = [Number.POSITIVE_INFINITY, now - 1, Number.NEGATIVE_INFINITY, now + 3_000_000_000];
    const shown = ends.map((expiresAt) =>
      tokenTable([{ ...known, expiresAt }], false, now)[1]
        ?.split(/ +/)
        .slice(1, 3),
    );
    assert.deepEqual(shown, [
      ['<forever>', '<never>'],
      ['<expired>', '2026-01-02T03:04:04Z'],
      ['<expired>', '<unreadable>'],
      ['34d', '2026-02-05T20:24:05Z'],
    ]);
  });
});
