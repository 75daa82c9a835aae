import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { serverAuth, TestIdentity } from '../../../../test/support/test-authority.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { CertificateAuthority } from '../../../base/machinery/x509/certificate-authority.js';
import { readSigningKey } from '../../../server/authentication/service-account/token-issuer.js';
import { keepFile, OwnFiles } from '../own-files.js';
import { ensurePki, ensureSelfSignedServing, type Pki, type PkiRequest } from './pki.js';
import { ensureServiceAccountKey } from './service-account-key.js';

const day = 86_400_000;

describe('pki', () => {
  let directory: string;
  const at = (now: number, bindAddress = '127.0.0.1'): PkiRequest => ({
    directory,
    bindAddress,
    serviceClusterIpRange: '10.1.0.0/16',
    clock: { now: () => now },
  });
  const now = Date.now();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plinth-pki-'));
  });
  after(() => rm(directory, { recursive: true }));

  const servingOf = async (pki: Pki) => new X509Certificate(await readFile(pki.serving.certificateFile, 'utf8'));

  it('makes an authority, a serving certificate and an administrator', async () => {
    const pki = await ensurePki(at(now));
    const authority = new X509Certificate(pki.authority);
    const serving = await servingOf(pki);
    const admin = new X509Certificate(pki.admin.certificate);
    assert.equal(authority.ca, true);
    assert.ok(serving.verify(authority.publicKey) && serving.checkIssued(authority));
    assert.ok(admin.verify(authority.publicKey));
    assert.equal(admin.subject, 'O=system:masters\nCN=admin');
    for (const name of ['localhost', 'plinth', 'kubernetes.default.svc.cluster.local']) {
      assert.equal(serving.checkHost(name), name);
    }
    for (const address of ['127.0.0.1', '10.1.0.1', '::1']) assert.ok(serving.checkIP(address), address);
    for (const file of ['ca.key', 'apiserver.key', 'admin.key']) {
      assert.equal((await stat(join(directory, file))).mode & 0o777, 0o600);
    }
    assert.equal((await stat(directory)).mode & 0o077, 0);
  });

  it('makes certificates that serve and identify over TLS', async () => {
    const pki = await ensurePki(at(now));
    const server = createServer(
      {
        cert: await readFile(pki.serving.certificateFile),
        key: await readFile(pki.serving.privateKeyFile),
        ca: pki.authority,
        requestCert: true,
      },
      (_, response) => response.end(),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const seen = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const client = connect({
      port: (server.address() as AddressInfo).port,
      host: '127.0.0.1',
      ca: pki.authority,
      cert: pki.admin.certificate,
      key: pki.admin.privateKey,
    });
    await once(client, 'secureConnect');
    assert.equal(client.authorized, true);
    const [socket] = await seen;
    assert.equal(socket.authorized, true);
    assert.equal(socket.getPeerCertificate().subject.CN, 'admin');
    client.destroy();
    server.close();
  });

  it('keeps good files', async () => {
    const first = await ensurePki(at(now));
    const serving = await servingOf(first);
    const second = await ensurePki(at(now + 100 * day));
    assert.equal(second.authority, first.authority);
    assert.deepEqual(second.admin, first.admin);
    assert.equal((await servingOf(second)).fingerprint256, serving.fingerprint256);
  });

  it('renews a leaf certificate that expires soon or lacks the address', async () => {
    const first = await ensurePki(at(now));
    const later = await ensurePki(at(now + 340 * day));
    assert.equal(later.authority, first.authority);
    assert.notEqual(later.admin.certificate, first.admin.certificate);
    const elsewhere = await ensurePki(at(now + 340 * day, '192.0.2.7'));
    assert.deepEqual(elsewhere.admin, later.admin);
    assert.ok((await servingOf(elsewhere)).checkIP('192.0.2.7'));
  });

  it('replaces missing files, and everything signed by a replaced authority', async () => {
    const first = await ensurePki(at(now));
    await rm(join(directory, 'admin.key'));
    const second = await ensurePki(at(now));
    assert.equal(second.authority, first.authority);
    assert.notEqual(second.admin.privateKey, first.admin.privateKey);
    await rm(join(directory, 'ca.key'));
    const third = await ensurePki(at(now));
    assert.notEqual(third.authority, first.authority);
    assert.ok((await servingOf(third)).verify(new X509Certificate(third.authority).publicKey));
  });

  it('writes keys in the form of their algorithm, for every client', async () => {
    const pki = await ensurePki(at(now));
    for (const file of ['ca.key', 'apiserver.key', 'admin.key', 'front-proxy-ca.key']) {
      assert.match(await readFile(join(directory, file), 'utf8'), /^-----BEGIN EC PRIVATE KEY-----\n/, file);
    }
    const key = await ensureServiceAccountKey(directory);
    assert.match(await readFile(key, 'utf8'), /^-----BEGIN RSA PRIVATE KEY-----\n/);
    assert.equal(readSigningKey(key).verification.algorithm, 'RS256');
    assert.equal(await ensureServiceAccountKey(directory), key);
    CertificateAuthority.fromPem(pki.authority, await readFile(pki.authorityKeyFile, 'utf8'));
    const proxies = new X509Certificate(await readFile(pki.proxyAuthorityFile, 'utf8'));
    assert.ok(proxies.ca && !proxies.publicKey.equals(new X509Certificate(pki.authority).publicKey));
    const proxy = new X509Certificate(await readFile(pki.proxy.certificateFile, 'utf8'));
    assert.ok(proxy.verify(proxies.publicKey));
    assert.equal(proxy.subject, 'CN=front-proxy-client');
  });

  describe('in a folder with files of others', () => {
    let folder: string;
    const path = (name: string) => join(folder, name);
    const there = (): PkiRequest => ({ ...at(now), directory: folder });
    const put = (name: string, text: string) => writeFile(path(name), text);
    const contents = async () => {
      const names = (await readdir(folder)).filter((name) => !name.startsWith('.'));
      return Object.fromEntries(await Promise.all(names.map(async (n) => [n, await readFile(path(n), 'utf8')])));
    };

    beforeEach(async () => {
      folder = await mkdtemp(join(directory, 'foreign-'));
    });

    it('uses a working serving certificate, whatever its names, and lets clients trust it', async () => {
      const company = await TestIdentity.root('company');
      const serving = await company.issue({ subject: [{ CN: ['api'] }], usages: [serverAuth] });
      await put('apiserver.crt', serving.cert);
      await put('apiserver.key', serving.key);
      const pki = await ensurePki(there());
      assert.equal(await readFile(pki.serving.certificateFile, 'utf8'), serving.cert);
      assert.equal(await readFile(pki.serving.privateKeyFile, 'utf8'), serving.key);
      assert.equal(pki.servingAuthority, serving.cert);
      const before = await contents();
      await ensurePki(there());
      await ensureSelfSignedServing(there());
      assert.deepEqual(await contents(), before);
    });

    it('uses a working authority, and signs with it', async () => {
      const company = await TestIdentity.root('company');
      await put('ca.crt', company.cert);
      await put('ca.key', company.key);
      const pki = await ensurePki(there());
      assert.equal(pki.authority, company.cert);
      assert.ok(new X509Certificate(pki.admin.certificate).verify(new X509Certificate(company.cert).publicKey));
      assert.equal(pki.servingAuthority, company.cert);
    });

    it('names the fault of unusable files, and overwrites none', async () => {
      const company = await TestIdentity.root('company');
      const [one, other] = [
        await company.issue({ subject: [{ CN: ['a'] }] }),
        await company.issue({ subject: [{ CN: ['b'] }] }),
      ];
      const expired = await company.issue({ subject: [{ CN: ['a'] }], notAfter: new Date(now - day) });
      const cases: readonly (readonly [string, string | undefined, string | undefined, RegExp])[] = [
        ['apiserver', one.cert, other.key, /the key is not that of the certificate/],
        ['apiserver', expired.cert, expired.key, /has expired/],
        ['apiserver', one.cert, undefined, /certificate or key is missing/],
        ['apiserver', undefined, one.key, /certificate or key is missing/],
        ['apiserver', 'x', one.key, /the certificate cannot be read/],
        ['apiserver', one.cert, 'x', /the private key cannot be read/],
        ['ca', one.cert, one.key, /not that of an authority/],
        ['admin', one.cert, one.key, /not signed by the authority beside it/],
      ];
      for (const [name, certificate, key, expected] of cases) {
        folder = await mkdtemp(join(directory, 'foreign-'));
        if (certificate !== undefined) await put(`${name}.crt`, certificate);
        if (key !== undefined) await put(`${name}.key`, key);
        const before = await contents();
        await assert.rejects(
          ensurePki(there()),
          (error) => error instanceof StartupError && expected.test(error.message),
        );
        const after = await contents();
        for (const file of Object.keys(before)) assert.equal(after[file], before[file], file);
      }
    });

    it('keeps a key of account tokens, and refuses other files in its place', async () => {
      const { key } = await TestIdentity.root('any');
      await put('service-account.key', key);
      await ensureServiceAccountKey(folder);
      assert.equal(await readFile(path('service-account.key'), 'utf8'), key);
      await put('service-account.key', 'x');
      await assert.rejects(ensureServiceAccountKey(folder), StartupError);
      assert.equal(await readFile(path('service-account.key'), 'utf8'), 'x');
    });

    it('leaves files for the user alone when they were changed', async () => {
      const files = new OwnFiles(folder);
      const warnings: string[] = [];
      const logger = { warn: (message: string) => void warnings.push(message) };
      await keepFile(files, 'admin.kubeconfig', 'one', logger);
      await keepFile(files, 'admin.kubeconfig', 'two', logger);
      assert.equal(await files.read('admin.kubeconfig'), 'two');
      assert.equal((await stat(path('admin.kubeconfig'))).mode & 0o777, 0o600);
      assert.deepEqual(warnings, []);
      await put('admin.kubeconfig', 'mine');
      await keepFile(files, 'admin.kubeconfig', 'three', logger);
      assert.equal(await files.read('admin.kubeconfig'), 'mine');
      assert.equal(warnings.length, 1);
    });
  });

  it('signs a serving certificate by itself when there is no authority', async () => {
    const own = join(directory, 'serve');
    const options = { ...at(now), directory: own };
    const files = await ensureSelfSignedServing(options);
    const text = await readFile(files.certificateFile, 'utf8');
    const certificate = new X509Certificate(text);
    assert.ok(certificate.verify(certificate.publicKey));
    await ensureSelfSignedServing(options);
    assert.equal(await readFile(files.certificateFile, 'utf8'), text);
    // Beside an authority this certificate is as good.
    const pki = await ensurePki(at(now));
    const shared = await servingOf(pki);
    await ensureSelfSignedServing(at(now));
    assert.equal((await servingOf(pki)).fingerprint256, shared.fingerprint256);
  });
});
