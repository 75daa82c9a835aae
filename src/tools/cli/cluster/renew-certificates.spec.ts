import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { chmod, copyFile, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { loadClientConfig } from '../../../base/outgoing/client-config.js';
import { formatKubeconfig } from '../kubeconfig.js';
import { keepFile } from '../own-files.js';
import { ensurePki, type Pki } from '../pki/pki.js';
import { storedCertificates } from '../pki/stored-pairs.js';
import { certificateTable, describeCertificate } from './certificate-table.js';
import { MadeHere } from './made-here.js';
import { renewCertificates } from './renew-certificates.js';

const now = Date.now();
const later = now + 100 * 86_400_000;

describe('the certificates of a control plane', () => {
  const folders: string[] = [];
  let directory: string;
  let pki: Pki;
  const read = (name: string) => readFile(join(directory, name), 'utf8');
  const of = async (name: string) => new X509Certificate(await read(name));

  beforeEach(async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'plinth-renew-')));
    folders.push(folder);
    directory = join(folder, 'pki');
    const names = ['api.example.com', '192.0.2.7', 'fd00::7'];
    const clock = { now: () => now };
    pki = await ensurePki({ directory, bindAddress: '0.0.0.0', serviceClusterIpRange: '10.1.0.0/16', names, clock });
    const made = await MadeHere.open(folder);
    const text = formatKubeconfig({ server: 'https://api:6443', authority: pki.authority, client: pki.admin });
    await keepFile(made.files, join(folder, 'admin.kubeconfig'), text, { warn: assert.fail });
  });
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  it('are shown with their ends', async () => {
    const described = (await storedCertificates(directory)).map((stored) => describeCertificate(stored, later));
    const [serving] = described.filter(({ name }) => name === 'apiserver');
    assert.deepEqual(
      [serving?.authority, serving?.residualDays, serving?.externallyManaged, serving?.subject],
      ['ca', 264, false, 'CN=plinth'],
    );
    assert.equal(described.find(({ name }) => name === 'ca')?.authority, '');
    assert.match(certificateTable(described)[1] ?? '', /^admin +20\S+Z +264d +ca +no +O=system:masters, CN=admin$/);
  });

  it('are renewed with the same content, owners and modes, but for the authorities', async () => {
    await chmod(join(directory, 'apiserver.key'), 0o640);
    const before = await of('apiserver.crt');
    const lines = await renewCertificates(directory, [], later);
    const reason = 'unchanged, an authority: all that it signed would have to be exchanged with it';
    assert.deepEqual(lines, [
      'admin: renewed',
      `${join(directory, '..', 'admin.kubeconfig')}: renewed`,
      'apiserver-kubelet-client: renewed',
      'apiserver: renewed',
      `ca: ${reason}`,
      `front-proxy-ca: ${reason}`,
      'front-proxy-client: renewed',
    ]);
    const renewed = await of('apiserver.crt');
    assert.equal(renewed.subjectAltName, before.subjectAltName);
    assert.deepEqual(renewed.keyUsage, before.keyUsage);
    assert.equal(Date.parse(renewed.validTo) - Date.parse(before.validTo), later - now);
    assert.ok(!renewed.publicKey.equals(before.publicKey));
    assert.ok(renewed.verify(new X509Certificate(pki.authority).publicKey));
    assert.equal((await stat(join(directory, 'apiserver.key'))).mode & 0o777, 0o640);
    const admin = await of('admin.crt');
    assert.equal(admin.subject, 'O=system:masters\nCN=admin');
    const { server, tls } = loadClientConfig(join(directory, '..', 'admin.kubeconfig'));
    assert.deepEqual([server, tls.cert, tls.ca], ['https://api:6443/', await read('admin.crt'), pki.authority]);
    const proxies = await of('front-proxy-ca.crt');
    assert.ok((await of('front-proxy-client.crt')).verify(proxies.publicKey));
    // Preparing the certificates for a start keeps them.
    await ensurePki({
      directory,
      bindAddress: '0.0.0.0',
      serviceClusterIpRange: '10.1.0.0/16',
      clock: { now: () => later },
    });
    assert.equal((await of('apiserver.crt')).fingerprint256, renewed.fingerprint256);
  });

  it('are renewed one by one, by names that are there', async () => {
    const admin = await read('admin.crt');
    assert.deepEqual(await renewCertificates(directory, ['apiserver'], later), ['apiserver: renewed']);
    assert.equal(await read('admin.crt'), admin);
    await assert.rejects(
      renewCertificates(directory, ['apiserver', 'x'], later),
      /no certificate x: there are admin, /,
    );
  });

  it('are left alone where others made them, or their authority is elsewhere', async () => {
    await copyFile(join(directory, 'apiserver.key'), join(directory, 'company.key'));
    await copyFile(join(directory, 'apiserver.crt'), join(directory, 'company.crt'));
    assert.deepEqual(await renewCertificates(directory, ['company'], later), [
      'company: unchanged, somebody else made it',
    ]);
    await rm(join(directory, 'ca.key'));
    assert.deepEqual(await renewCertificates(directory, ['apiserver'], later), [
      'apiserver: unchanged, the key of its authority is not here',
    ]);
    await writeFile(join(directory, 'broken.crt'), 'x');
    await assert.rejects(storedCertificates(directory), /broken\.crt: no certificate in PEM/);
    await assert.rejects(storedCertificates(join(directory, 'nowhere')), /there is no folder .*nowhere/);
  });
});
