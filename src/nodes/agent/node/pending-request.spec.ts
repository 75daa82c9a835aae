import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { forgetPendingRequest, pendingRequest, type RequestedCertificate } from './pending-request.js';

describe('pendingRequest', () => {
  let wanted: RequestedCertificate;
  beforeEach(async () => {
    const folder = await fs.mkdtemp(join(tmpdir(), 'plinth-pending-'));
    const hosts = ['a.example', '192.0.2.1'];
    wanted = { folder, kind: 'server', nodeName: 'a', signer: 'example.com/serving', hosts };
  });
  afterEach(() => fs.rm(wanted.folder, { recursive: true }));

  const file = () => join(wanted.folder, 'kubelet-server-pending.json');

  it('is the same until it is forgotten, and only its owner reads its key', async () => {
    const first = await pendingRequest(wanted);
    assert.deepEqual(await pendingRequest(wanted), first);
    const { commonName, dnsNames, publicKey } = parseCertificateRequest(Buffer.from(first.request));
    assert.deepEqual([commonName, dnsNames], ['system:node:a', ['a.example']]);
    const own = createPublicKey(createPrivateKey(first.privateKey)).export({ type: 'spki', format: 'der' });
    assert.deepEqual(publicKey, own);
    assert.equal((await fs.stat(file())).mode & 0o777, 0o600);
    await forgetPendingRequest(wanted);
    const next = await pendingRequest(wanted);
    assert.notEqual(next.name, first.name);
    assert.notEqual(next.privateKey, first.privateKey);
  });

  it('has a name for itself as soon as anything else is wanted', async () => {
    const names = new Set<string>();
    const others = [{}, { hosts: ['a.example', '192.0.2.2'] }, { nodeName: 'b' }, { signer: 'example.com/other' }];
    for (const other of others) {
      const { name, privateKey } = await pendingRequest({ ...wanted, ...other });
      assert.match(name, /^csr-[0-9a-f]{32}$/);
      names.add(name).add(privateKey);
    }
    assert.equal(names.size, 2 * others.length);
    await pendingRequest({ ...wanted, kind: 'client', hosts: undefined });
    assert.equal((await fs.readdir(wanted.folder)).length, 2, 'one for each purpose');
  });

  it('is made anew where the file of the last one is broken', async () => {
    const { name } = await pendingRequest(wanted);
    const whole = await fs.readFile(file(), 'utf8');
    for (const broken of [
      '',
      'null',
      '{"name":1}',
      whole.slice(0, 80),
      whole.replace(/"request":"[^"]*"/, '"request":1'),
    ]) {
      await fs.writeFile(file(), broken);
      assert.notEqual((await pendingRequest(wanted)).name, name, broken);
    }
  });
});
