import 'reflect-metadata';
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import * as x509 from '@peculiar/x509';
import {
  keyAlgorithms,
  makeAuthority,
  makeCertificate,
  makeRequest,
} from '../../../../test/support/certificate-requests.js';
import { nameOfType, rawRequest, type TextType, textTags } from '../../../../test/support/raw-certificates.js';
import { bitString, certificateTime, decodeDer, encodeDer, primitive, sequence, tags } from './asn1.js';
import { CertificateAuthority } from './certificate-authority.js';
import { CertificateAuthorityError } from './certificate-authority-error.js';
import { parseCertificateRequest } from './certificate-request.js';
import { readName } from './distinguished-name.js';
import { certificateUsages } from './key-usages.js';
import { encodePem } from './pem.js';
import { readCertificate } from './read-certificate.js';
import { signatureMethod } from './signature-method.js';

const notBefore = Date.parse('2049-12-31T23:00:00Z');
const notAfter = Date.parse('2050-01-02T00:00:00Z');
const usages = certificateUsages(['client auth', 'digital signature', 'decipher only', 'client auth', 'dance']);
const keys = Object.keys(keyAlgorithms) as (keyof typeof keyAlgorithms)[];

/** A certificate of version 1 that names itself as its issuer. */
function oldRoot({ isSelfSigned = true } = {}): { certificate: string; privateKey: string } {
  const key = generateKeyPairSync('ed25519');
  const signer = isSelfSigned ? key : generateKeyPairSync('ed25519');
  const name = decodeDer(nameOfType('utf8', 'old root', 'devs'));
  const method = signatureMethod(signer.privateKey);
  assert.ok(method !== undefined);
  const dates = sequence(certificateTime(notBefore), certificateTime(notAfter));
  const publicKey = decodeDer(key.publicKey.export({ type: 'spki', format: 'der' }));
  const serial = primitive(tags.integer, Buffer.of(7));
  const content = sequence(serial, method.algorithm, name, dates, name, publicKey);
  const signature = bitString(sign(null, encodeDer(content), signer.privateKey));
  return {
    certificate: encodePem('CERTIFICATE', encodeDer(sequence(content, method.algorithm, signature))),
    privateKey: key.privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

describe('a certificate authority', () => {
  for (const key of keys) {
    it(`with a key of ${key} signs for every kind of key`, async () => {
      const { certificate, privateKey } = await makeAuthority({ key });
      const authority = CertificateAuthority.fromPem(certificate, privateKey);
      const issuer = new X509Certificate(certificate);
      for (const asked of keys) {
        const request = parseCertificateRequest(Buffer.from(await makeRequest({ key: asked })));
        const pem = authority.issue({ ...request, names: request, usages, notBefore, notAfter });
        const signed = new X509Certificate(pem);
        assert.ok(signed.verify(issuer.publicKey) && signed.checkIssued(issuer), asked);
        assert.deepEqual(signed.publicKey.export({ type: 'spki', format: 'der' }), request.publicKey);
      }
    });
  }

  it('includes the requested content, and nothing that makes an authority', async () => {
    const { certificate, privateKey } = await makeAuthority();
    const authority = CertificateAuthority.fromPem(certificate, privateKey, () => Buffer.alloc(16, 0xff));
    const names = [
      { type: 'dns', value: 'node.example.com' },
      { type: 'ip', value: '10.0.0.1' },
      { type: 'ip', value: '2001:db8::1' },
      { type: 'email', value: 'a@example.com' },
      { type: 'url', value: 'spiffe://a/b' },
    ] as const;
    const request = parseCertificateRequest(Buffer.from(await makeRequest({ subject: 'O=öther, CN=n, OU=x', names })));
    const pem = authority.issue({ ...request, names: request, usages, notBefore, notAfter });
    assert.match(pem, /^-----BEGIN CERTIFICATE-----\n[\s\S]*\n-----END CERTIFICATE-----\n$/);
    const signed = new x509.X509Certificate(pem);
    assert.equal(signed.subject, 'O=öther, CN=n, OU=x');
    assert.equal(signed.serialNumber, `7f${'ff'.repeat(15)}`);
    assert.deepEqual([signed.notBefore.getTime(), signed.notAfter.getTime()], [notBefore, notAfter]);
    const basic = signed.getExtension(x509.BasicConstraintsExtension);
    assert.deepEqual([basic?.ca, basic?.critical], [false, true]);
    const usage = signed.getExtension(x509.KeyUsagesExtension);
    assert.equal(usage?.usages, x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.decipherOnly);
    assert.equal(usage?.critical, true);
    assert.deepEqual(
      [...(signed.getExtension(x509.ExtendedKeyUsageExtension)?.usages ?? [])],
      [x509.ExtendedKeyUsage.clientAuth],
    );
    const authorityId = new x509.X509Certificate(certificate).getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
    assert.equal(signed.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId, authorityId);
    const alternative = signed.getExtension(x509.SubjectAlternativeNameExtension);
    assert.equal(alternative?.critical, false);
    assert.deepEqual(
      new Set(alternative?.names.toJSON().map(({ type, value }) => `${type} ${value}`)),
      new Set(['dns node.example.com', 'ip 10.0.0.1', 'ip 2001:db8::1', 'email a@example.com', 'url spiffe://a/b']),
    );
    assert.deepEqual(usages.unknown, ['dance']);
  });

  it('signs exactly the subject that was read', async () => {
    const { certificate, privateKey } = await makeAuthority();
    const authority = CertificateAuthority.fromPem(certificate, privateKey);
    for (const type of Object.keys(textTags) as TextType[]) {
      if (type === 'visible') continue;
      const organization = type === 'numeric' ? '12' : 'devs';
      const subject = nameOfType(type, '7', organization, '5');
      const request = parseCertificateRequest(Buffer.from(rawRequest(subject).pem));
      const pem = authority.issue({ ...request, names: request, usages, notBefore, notAfter });
      const signed = readCertificate(new X509Certificate(pem).raw);
      assert.deepEqual(encodeDer(signed.subject), subject, type);
      assert.deepEqual(readName(signed.subject), { commonNames: ['7'], organizations: [organization, '5'] });
      assert.deepEqual(request.organizations, [organization, '5']);
    }
  });

  it('may be a root of version 1, which nothing marks as an authority', async () => {
    const root = oldRoot();
    const authority = CertificateAuthority.fromPem(root.certificate, root.privateKey);
    const request = parseCertificateRequest(Buffer.from(await makeRequest()));
    const signed = new X509Certificate(authority.issue({ ...request, names: request, usages, notBefore, notAfter }));
    const issuer = new X509Certificate(root.certificate);
    assert.ok(signed.verify(issuer.publicKey) && signed.checkIssued(issuer));
  });

  it('is not a certificate of version 1 that another key signed', () => {
    const { certificate, privateKey } = oldRoot({ isSelfSigned: false });
    assert.throws(() => CertificateAuthority.fromPem(certificate, privateKey), /not that of an authority/);
  });

  it('is refused when its parts do not match', async () => {
    const one = await makeAuthority();
    const other = await makeAuthority();
    const leaf = await makeCertificate();
    const bad = [
      ['x', one.privateKey, /certificate .* cannot be read/],
      [one.certificate, 'x', /private key .* cannot be read/],
      [one.certificate, other.privateKey, /do not belong together/],
      [leaf, one.privateKey, /do not belong together/],
    ] as const;
    for (const [certificate, key, message] of bad) {
      assert.throws(
        () => CertificateAuthority.fromPem(certificate, key),
        (error) => error instanceof CertificateAuthorityError && message.test(error.message),
      );
    }
  });
});
