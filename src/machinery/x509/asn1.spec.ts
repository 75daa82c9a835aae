import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  Asn1Error,
  certificateTime,
  decodeDer,
  encodeDer,
  namedBits,
  primitive,
  sequence,
  tags,
  textOf,
} from './asn1.js';

const hex = (node: Parameters<typeof encodeDer>[0]) => encodeDer(node).toString('hex');

describe('texts of names', () => {
  it('are the same in every form that those who check certificates understand', () => {
    const text = 'system:masters';
    const utf16 = Buffer.from(text, 'utf16le').swap16();
    for (const tag of [tags.utf8String, tags.printableString, tags.teletexString, tags.ia5String, tags.visibleString]) {
      assert.equal(textOf(primitive(tag, Buffer.from(text))), text);
    }
    assert.equal(textOf(primitive(tags.bmpString, utf16)), text);
  });

  it('of other forms are refused, not misread', () => {
    const four = Buffer.from('a', 'utf16le');
    for (const tag of [tags.universalString, tags.octetString, tags.integer]) {
      assert.throws(() => textOf(primitive(tag, four)), Asn1Error);
    }
    assert.throws(() => textOf(primitive(tags.bmpString, Buffer.alloc(3))), Asn1Error);
    assert.throws(() => textOf(sequence()), Asn1Error);
  });
});

describe('DER', () => {
  it('of times changes its form in 2050', () => {
    const of = (text: string) => hex(certificateTime(Date.parse(text)));
    assert.equal(of('2049-12-31T23:59:59.999Z'), `170d${Buffer.from('491231235959Z').toString('hex')}`);
    assert.equal(of('2050-01-01T00:00:00Z'), `180f${Buffer.from('20500101000000Z').toString('hex')}`);
  });

  it('of named bits ends with the last one', () => {
    assert.equal(hex(namedBits([0])), '03020780');
    assert.equal(hex(namedBits([0, 2])), '030205a0');
    assert.equal(hex(namedBits([5, 6])), '03020106');
    assert.equal(hex(namedBits([0, 8])), '0303078080');
  });

  it('is read whole or not at all', () => {
    const der = encodeDer(sequence(primitive(tags.integer, Buffer.of(1))));
    assert.equal(hex(decodeDer(der)), der.toString('hex'));
    for (const bad of [Buffer.concat([der, der]), der.subarray(0, -1), Buffer.alloc(0), der.subarray(2)]) {
      assert.throws(() => decodeDer(bad), Asn1Error);
    }
  });
});
