import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { ensurePki, ensureSelfSignedServing, type Pki, type PkiOptions } from './pki.js';

const day = 86_400_000;

describe('pki', () => {
  let directory: string;
  const at = (now: number, bindAddress = '127.0.0.1'): PkiOptions => ({
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

  it('serves and identifies over TLS', async () => {
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

  it('keeps what is good', async () => {
    const first = await ensurePki(at(now));
    const serving = await servingOf(first);
    const second = await ensurePki(at(now + 100 * day));
    assert.equal(second.authority, first.authority);
    assert.deepEqual(second.admin, first.admin);
    assert.equal((await servingOf(second)).fingerprint256, serving.fingerprint256);
  });

  it('renews a leaf near its end, and one that lacks the address', async () => {
    const first = await ensurePki(at(now));
    const later = await ensurePki(at(now + 340 * day));
    assert.equal(later.authority, first.authority);
    assert.notEqual(later.admin.certificate, first.admin.certificate);
    const elsewhere = await ensurePki(at(now + 340 * day, '192.0.2.7'));
    assert.deepEqual(elsewhere.admin, later.admin);
    assert.ok((await servingOf(elsewhere)).checkIP('192.0.2.7'));
  });

  it('replaces damaged files, and everything signed by a replaced authority', async () => {
    const first = await ensurePki(at(now));
    await writeFile(join(directory, 'admin.key'), 'no key');
    const second = await ensurePki(at(now));
    assert.equal(second.authority, first.authority);
    assert.notEqual(second.admin.privateKey, 'no key');
    await rm(join(directory, 'ca.key'));
    const third = await ensurePki(at(now));
    assert.notEqual(third.authority, first.authority);
    assert.ok((await servingOf(third)).verify(new X509Certificate(third.authority).publicKey));
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
    // Beside an authority its certificate is as good.
    const pki = await ensurePki(at(now));
    const shared = await servingOf(pki);
    await ensureSelfSignedServing(at(now));
    assert.equal((await servingOf(pki)).fingerprint256, shared.fingerprint256);
  });
});
