import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { certificateTime, decodeDer, encodeDer, namedBits, oidOf, primitive, sequence, tags } from './asn1.js';
import { Asn1Error } from './asn1-error.js';

const hex = (node: Parameters<typeof encodeDer>[0]) => encodeDer(node).toString('hex');

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

  it('has one form only', () => {
    const forms: Readonly<Record<string, string>> = {
      'a length of more bytes than needed': '308103020101',
      'a length of a leading zero': '30820003020101',
      'no length': '30800201010000',
      'an integer with a zero too many': '300402020001',
      'a boolean that is half true': '3003010101',
      'a tag of more than one byte': '30041f810100',
      'half of a wide character': '30041e010061',
    };
    for (const [what, hex] of Object.entries(forms)) {
      assert.throws(() => decodeDer(Buffer.from(hex, 'hex')), Asn1Error, what);
    }
  });

  it('of object identifiers has one form only', () => {
    assert.equal(oidOf(primitive(tags.oid, Buffer.from('55040a', 'hex'))), '2.5.4.10');
    for (const hex of ['', '5504800a', '80550a', '5504ff']) {
      assert.throws(() => oidOf(primitive(tags.oid, Buffer.from(hex, 'hex'))), Asn1Error, hex);
    }
    assert.throws(() => oidOf(primitive(tags.octetString, Buffer.from('55040a', 'hex'))), Asn1Error);
  });
});
