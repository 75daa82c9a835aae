import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { keyAlgorithms, makeRequest } from '../../../../test/support/certificate-requests.js';
import {
  extensionRequest,
  nameOfType,
  type RawAttribute,
  type RawPair,
  rawExtension,
  rawName,
  rawRequest,
  textNode,
  tlv,
} from '../../../../test/support/raw-certificates.js';
import { parseCertificateRequest } from './certificate-request.js';
import { CertificateRequestError } from './certificate-request-error.js';
import { readPem } from './pem.js';

const alternativeNames = '551d11';

/** A PEM text with its DER changed. */
function withDer(pem: string, change: (der: Buffer) => Buffer): string {
  const [block] = readPem(pem);
  if (block === undefined) throw new Error('no PEM block');
  const body = change(Buffer.from(block.der)).toString('base64');
  return `-----BEGIN ${block.label}-----\n${body}\n-----END ${block.label}-----\n`;
}

function problemOf(pem: string): string {
  try {
    parseCertificateRequest(Buffer.from(pem));
  } catch (error) {
    if (error instanceof CertificateRequestError) return error.message;
    throw error;
  }
  return '';
}

describe('parseCertificateRequest', () => {
  for (const key of Object.keys(keyAlgorithms) as (keyof typeof keyAlgorithms)[]) {
    it(`reads and verifies ${key} requests`, async () => {
      const names = [
        { type: 'dns', value: 'node.example.com' },
        { type: 'ip', value: '10.0.0.1' },
        { type: 'ip', value: '2001:db8::1' },
        { type: 'email', value: 'a@example.com' },
        { type: 'url', value: 'spiffe://a/b' },
      ] as const;
      const pem = await makeRequest({ subject: 'CN=system:node:n, O=system:nodes, O=öther', names, key });
      const { subject, publicKey, keyType, ...asked } = parseCertificateRequest(Buffer.from(pem));
      assert.equal(createPublicKey({ key: publicKey, format: 'der', type: 'spki' }).asymmetricKeyType, keyType);
      assert.ok(subject.includes('system:node:n'));
      assert.deepEqual(asked, {
        commonName: 'system:node:n',
        organizations: ['system:nodes', 'öther'],
        dnsNames: ['node.example.com'],
        emailAddresses: ['a@example.com'],
        uris: ['spiffe://a/b'],
        ipAddresses: ['10.0.0.1', '2001:db8:0:0:0:0:0:1'],
        otherNames: 0,
      });
    });

    it(`refuses ${key} requests with a foreign signature`, async () => {
      const pem = await makeRequest({ key });
      const expected = {
        ecdsa: 'x509: ECDSA verification failure',
        p384: 'x509: ECDSA verification failure',
        p521: 'x509: ECDSA verification failure',
        rsa: 'crypto/rsa: verification error',
        ed25519: 'x509: Ed25519 verification failure',
      }[key];
      const flipped = withDer(pem, (der) => {
        der[der.length - 1] = (der.at(-1) as number) ^ 1;
        return der;
      });
      assert.equal(problemOf(flipped), expected);
    });
  }

  it('refuses data that is not a request', async () => {
    const pem = await makeRequest();
    const wrongLabel = 'PEM block type must be CERTIFICATE REQUEST';
    assert.equal(problemOf(''), wrongLabel);
    assert.equal(problemOf('not a pem'), wrongLabel);
    assert.equal(problemOf(pem.replaceAll('CERTIFICATE REQUEST', 'CERTIFICATE')), wrongLabel);
    assert.equal(
      problemOf(withDer(pem, (der) => Buffer.concat([der, Buffer.alloc(1)]))),
      'asn1: syntax error: trailing data',
    );
  });

  it('refuses requests that others may read differently', () => {
    const name = nameOfType('utf8', 'a');
    const dns = (text: string) => rawExtension(alternativeNames, tlv(0x30, tlv(0x82, Buffer.from(text, 'latin1'))));
    const cn: RawAttribute = ['CN', textNode('utf8', 'a')];
    const refused: Readonly<Record<string, readonly [RawPair, RegExp]>> = {
      'two common names': [rawRequest(rawName([cn], [cn])), /more than one common name/],
      'two common names in one part': [rawRequest(rawName([cn, cn])), /more than one common name/],
      'two lists of extensions': [
        rawRequest(name, extensionRequest(dns('a')), extensionRequest(dns('b'))),
        /requested more than once/,
      ],
      'one extension twice': [rawRequest(name, extensionRequest(dns('a'), dns('b'))), /more than once/],
      'a host name with a NUL': [rawRequest(name, extensionRequest(dns('a\u0000b'))), /not ASCII/],
      'a host name beyond ASCII': [rawRequest(name, extensionRequest(dns('\u00f6'))), /not ASCII/],
      'a subject with a longer length than needed': [
        rawRequest(Buffer.concat([Buffer.of(0x30, 0x81), name.subarray(1)])),
        /the one form/,
      ],
      'a subject without a length': [
        rawRequest(Buffer.concat([Buffer.of(0x30, 0x80), name.subarray(2), Buffer.alloc(2)])),
        /the one form/,
      ],
    };
    for (const [what, [{ pem }, expected]] of Object.entries(refused)) assert.match(problemOf(pem), expected, what);
    assert.equal(problemOf(rawRequest(name, extensionRequest(dns('a'))).pem), '');
  });

  it('fails with its own error only, whatever the bytes', async () => {
    const pem = await makeRequest({ names: [{ type: 'dns', value: 'a.b' }] });
    const [block] = readPem(pem);
    const length = block?.der.length ?? 0;
    for (let i = 0; i < length; i++) {
      for (const byte of [0x00, 0x30, 0x80, 0xff]) {
        const damaged = withDer(pem, (der) => {
          der[i] = byte;
          return der;
        });
        problemOf(damaged);
      }
      problemOf(withDer(pem, (der) => der.subarray(0, i)));
    }
  });
});

describe('readPem', () => {
  it('skips text around blocks and blocks that are not well formed', () => {
    const text = [
      'hello',
      '-----BEGIN A-----',
      'AAAA',
      '-----END B-----',
      '-----BEGIN C-----',
      'not base64!',
      '-----END C-----',
      '-----BEGIN D-----',
      'Proc-Type: 4,ENCRYPTED',
      '',
      'AAAA',
      'AAA=',
      '-----END D-----',
      '-----BEGIN E-----\r',
      '-----END E-----\r',
      'bye',
    ].join('\n');
    assert.deepEqual(readPem(text), [
      { label: 'D', hasHeaders: true, der: Buffer.alloc(5) },
      { label: 'E', hasHeaders: false, der: Buffer.alloc(0) },
    ]);
  });
});
