import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rawName, type TextType, textNode, textTags, tlv } from '../../../../test/support/raw-certificates.js';
import { decodeDer } from './asn1.js';
import { Asn1Error } from './asn1-error.js';
import { readName } from './distinguished-name.js';

/** The organization that is read from a name with this value. */
function organization(value: Buffer): string | undefined {
  const { organizations } = readName(decodeDer(rawName([['O', value]])));
  assert.equal(organizations.length, 1);
  return organizations[0];
}

const types = (Object.keys(textTags) as TextType[]).filter((type) => type !== 'visible');

describe('texts of names', () => {
  for (const type of types) {
    it(`of the type ${type} are what they spell`, () => {
      const text = type === 'numeric' ? '12 3' : 'system:masters';
      assert.equal(organization(textNode(type, text)), text);
      assert.equal(organization(textNode(type, '')), '');
    });

    it(`of the type ${type} have no NUL`, () => {
      assert.throws(() => organization(textNode(type, '1\u0000')), Asn1Error);
    });

    it(`of the type ${type} are one piece of its own class`, () => {
      const whole = textNode(type, '11');
      assert.throws(() => organization(tlv(textTags[type] | 0x20, whole)), Asn1Error, 'in pieces');
      for (const cls of [0x40, 0x80, 0xc0]) {
        assert.throws(() => organization(tlv(textTags[type] | cls, whole.subarray(2))), Asn1Error, 'of another class');
      }
    });
  }

  it('keep letters beyond ASCII where the type has them', () => {
    for (const type of ['utf8', 'bmp', 'universal'] as const) {
      assert.equal(organization(textNode(type, '\ufefföų獹')), '\ufefföų獹');
    }
    for (const type of ['utf8', 'universal'] as const) assert.equal(organization(textNode(type, '𝕊')), '𝕊');
    for (const type of ['numeric', 'printable', 'teletex', 'ia5'] as const) {
      assert.throws(() => organization(textNode(type, '\u00f6')), Asn1Error, type);
    }
  });

  it('are refused when they can be read in more than one way', () => {
    const bad: readonly (readonly [TextType, string])[] = [
      ['utf8', 'c1b3'],
      ['utf8', 'eda080'],
      ['utf8', 'f8888080af'],
      ['utf8', 'c3'],
      ['bmp', '0061d800'],
      ['bmp', 'd835dd4a'],
      ['bmp', '006100'],
      ['bmp', '61'],
      ['universal', '0000d800'],
      ['universal', '00110000'],
      ['universal', '80000061'],
      ['universal', '000061'],
      ['printable', '405f'],
      ['visible', '61'],
      ['numeric', '61'],
    ];
    for (const [type, hex] of bad) {
      assert.throws(() => organization(tlv(textTags[type], Buffer.from(hex, 'hex'))), Asn1Error, `${type} ${hex}`);
    }
    for (const tag of [0x01, 0x02, 0x03, 0x04, 0x15, 0x19, 0x1b, 0x1d]) {
      assert.throws(() => organization(tlv(tag, Buffer.from('ff'))), Asn1Error, `tag ${tag}`);
    }
  });

  it('count in every attribute of a name, for any of them may be read elsewhere', () => {
    const name = rawName([['O', textNode('utf8', 'a')]], [['OU', tlv(textTags.utf8, Buffer.of(0xff))]]);
    assert.throws(() => readName(decodeDer(name)), Asn1Error);
  });
});

describe('names', () => {
  it('may have several attributes in one part, and keep their order', () => {
    const cn = textNode('utf8', 'n');
    const [a, b, c] = ['a', 'b', 'c'].map((text) => textNode('bmp', text)) as [Buffer, Buffer, Buffer];
    const name = rawName(
      [
        ['O', a],
        ['CN', cn],
        ['O', b],
      ],
      [['O', c]],
    );
    assert.deepEqual(readName(decodeDer(name)), { commonNames: ['n'], organizations: ['a', 'b', 'c'] });
  });
});
