import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSniCertificate } from './sni-certificate.js';

describe('certificates by host name', () => {
  it('have two files, and names where these are given', () => {
    const files = { certificate: 'a.crt', privateKey: 'a.key' };
    assert.deepEqual(parseSniCertificate('a.crt,a.key'), { ...files, names: [] });
    assert.deepEqual(parseSniCertificate('a.crt, a.key:*.Example.com, example.com'), {
      ...files,
      names: ['*.example.com', 'example.com'],
    });
    assert.deepEqual(parseSniCertificate('a.crt,a.key:api').names, ['api']);
  });

  for (const [text, problem] of [
    ['', /two|files/],
    ['a.crt', /files/],
    ['a.crt,', /files/],
    ['a.crt,a.key,b.key', /files/],
    ['a:b,c', /files/],
    ['a.crt,a.key:', /empty name/],
    ['a.crt,a.key:x,,y', /empty name/],
    ['a.crt,a.key:10.0.0.1', /address 10\.0\.0\.1/],
    ['a.crt,a.key:a.*.com', /a\.\*\.com/],
    ['a.crt,a.key:*', /host name/],
    ['a.crt,a.key:x y', /x y/],
  ] as const) {
    it(`are refused as ${JSON.stringify(text)}`, () => {
      assert.throws(() => parseSniCertificate(text), problem);
    });
  }
});
