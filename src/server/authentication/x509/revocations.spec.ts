import 'reflect-metadata';
import assert from 'node:assert/strict';
import { sign, X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import * as x509 from '@peculiar/x509';
import { machinePace, processorMs } from '../../../../test/support/processor-time.js';
import { TestIdentity } from '../../../../test/support/test-authority.js';
import { encodeDer } from '../../../base/machinery/x509/asn1.js';
import { encodePem } from '../../../base/machinery/x509/pem.js';
import { readCertificate } from '../../../base/machinery/x509/read-certificate.js';
import { Revocations } from './revocations.js';

let root: TestIdentity;
/** Another CA with the name of `root`. */
let twin: TestIdentity;
let department: TestIdentity;
let good: TestIdentity;
let bad: TestIdentity;
let deep: TestIdentity;
const dayMs = 86_400_000;

before(async () => {
  root = await TestIdentity.root('root');
  twin = await TestIdentity.root('root');
  department = await root.issue({ subject: [{ CN: ['department'] }], authority: true });
  good = await root.issue({ subject: [{ CN: ['good'] }] });
  bad = await root.issue({ subject: [{ CN: ['bad'] }] });
  deep = await department.issue({ subject: [{ CN: ['deep'] }] });
});

const chain = (...identities: readonly TestIdentity[]) => identities.map(({ cert }) => new X509Certificate(cert));
const pem = (der: Buffer) => encodePem('X509 CRL', der);
const read = (content: Buffer | string, authorities = root.cert) =>
  Revocations.read(Buffer.from(content as string), authorities, Date.now());

describe('revocation lists', () => {
  it('are read in PEM and DER, and name certificates of their authority', async () => {
    const der = await root.revocationList([bad]);
    for (const content of [der, pem(der), `a comment\n${root.cert}${pem(der)}`]) {
      const lists = read(content as string);
      assert.equal(lists.size, 1);
      assert.ok(lists.judge(chain(bad, root)).isRevoked);
      assert.ok(lists.judge(chain(bad)).isRevoked, 'also when the client sends no root');
      assert.ok(!lists.judge(chain(good, root)).isRevoked);
    }
  });

  it('count for the authority that signed them, not for one of the same name', async () => {
    const der = await root.revocationList([bad]);
    const serial = new X509Certificate(bad.cert).serialNumber;
    assert.throws(() => read(der, twin.cert), /is not signed by an authority of client certificates/);
    const both = read(der, twin.cert + root.cert);
    assert.ok(both.judge(chain(bad)).isRevoked);
    const other = read(await twin.revocationList([], { serials: [serial] }), twin.cert + root.cert);
    assert.ok(!other.judge(chain(bad)).isRevoked);
  });

  it('may be of an intermediate authority whose certificate is beside them', async () => {
    const der = await department.revocationList([deep]);
    assert.throws(() => read(pem(der)), /is not signed by an authority/);
    const lists = read(department.cert + pem(der));
    assert.ok(lists.judge(chain(deep, department, root)).isRevoked);
    assert.throws(
      () => Revocations.read(Buffer.from(`${twin.cert}${department.cert}${pem(der)}`), twin.cert, Date.now()),
      /from an unknown authority/,
    );
    // Revoking a CA revokes all certificates below it.
    const above = read(await root.revocationList([department]));
    assert.ok(above.judge(chain(deep, department, root)).isRevoked);
    // An ordinary certificate must not sign lists.
    await assert.rejects(async () => read(good.cert + pem(await good.revocationList([bad]))), /is not signed by/);
  });

  it('are refused when they were tampered with', async () => {
    const der = await root.revocationList([bad]);
    const serial = Buffer.from(new X509Certificate(bad.cert).serialNumber, 'hex');
    const changed = Buffer.from(der);
    changed[changed.indexOf(serial) + 3] = (changed[changed.indexOf(serial) + 3] as number) ^ 1;
    assert.throws(() => read(changed), /is not signed by an authority/);
    for (let cut = 1; cut < der.length; cut += 7) assert.throws(() => read(der.subarray(0, -cut)), `${cut}`);
    assert.throws(() => read(Buffer.concat([der, Buffer.from([0])])), /trailing data/);
    for (const content of ['', 'hello', '-----BEGIN X509 CRL-----\n-----END X509 CRL-----\n', root.cert]) {
      assert.throws(() => read(content));
    }
  });

  it('are refused from the future, and tell when they end', async () => {
    const thisUpdate = new Date(Date.now() + dayMs);
    const early = await root.revocationList([], { thisUpdate, nextUpdate: new Date(Date.now() + 2 * dayMs) });
    assert.throws(() => read(early), /is not valid yet/);
    const nextUpdate = new Date(Math.floor(Date.now() / 1000) * 1000 - 5000);
    const old = read(await root.revocationList([bad], { thisUpdate: new Date(Date.now() - dayMs), nextUpdate }));
    assert.deepEqual(old.expiries(), [{ issuer: 'CN=root', nextUpdate: nextUpdate.getTime() }]);
    assert.equal(old.judge(chain(good)).goodUntil, nextUpdate.getTime());
    assert.equal(old.judge(chain(deep)).goodUntil, Number.POSITIVE_INFINITY, 'of another authority');
  });

  it('replace older ones of the same authority', async () => {
    const old = await root.revocationList([bad], { thisUpdate: new Date(Date.now() - 3 * dayMs) });
    const fresh = await root.revocationList([good]);
    for (const content of [pem(old) + pem(fresh), pem(fresh) + pem(old)]) {
      const lists = read(content);
      assert.ok(lists.judge(chain(good)).isRevoked);
      assert.ok(!lists.judge(chain(bad)).isRevoked);
    }
  });

  it('are refused when they are not about all certificates of their issuer', async () => {
    for (const [id, message] of [
      ['2.5.29.27', /a delta/],
      ['2.5.29.28', /a part of the certificates/],
      ['1.2.3.4', /unknown critical extension/],
    ] as const) {
      const extension = new x509.Extension(id, true, new Uint8Array([0x30, 0]));
      const der = await root.revocationList([], {}, [extension]);
      assert.throws(() => read(der), message);
    }
    const harmless = new x509.Extension('2.5.29.20', false, new Uint8Array([2, 1, 5]));
    assert.equal(read(await root.revocationList([], {}, [harmless])).size, 0);
  });

  it('of ten megabytes are read without holding up other work', async () => {
    const der = largeList(root, 290_000);
    assert.ok(der.length > 10_000_000);
    let lists: Revocations | undefined;
    let longestMs = 0;
    const reading = Revocations.readInTurns(der, root.cert, Date.now()).then((read) => {
      lists = read;
    });
    while (lists === undefined) {
      // Measures the CPU time of this thread, which does not depend on other load of the machine.
      const began = processorMs();
      await Promise.race([setImmediate(), reading]);
      longestMs = Math.max(longestMs, processorMs() - began);
    }
    assert.equal((lists as Revocations).size, 290_000);
    assert.ok(longestMs < 50 * machinePace(), `${longestMs} ms`);
  });
});

/** A list that is encoded by hand, since a library would take minutes for so many entries. */
function largeList(authority: TestIdentity, count: number): Buffer {
  const ecdsaWithSha256 = tlv(0x30, Buffer.from('06082a8648ce3d040302', 'hex'));
  const time = (offset: number) =>
    tlv(
      0x17,
      Buffer.from(
        `${new Date(Date.now() + offset)
          .toISOString()
          .replace(/[-:T]|\..*/g, '')
          .slice(2)}Z`,
      ),
    );
  const name = encodeDer(readCertificate(new X509Certificate(authority.cert).raw).subject);
  const revokedAt = time(-dayMs);
  const entries = Array.from({ length: count }, (_, i) => {
    const serial = Buffer.alloc(16, 0x55);
    serial.writeUInt32BE(i, 12);
    return tlv(0x30, tlv(2, serial), revokedAt);
  });
  const version = Buffer.from('020101', 'hex');
  const body = tlv(0x30, version, ecdsaWithSha256, name, time(-dayMs), time(dayMs), tlv(0x30, Buffer.concat(entries)));
  const signature = sign('sha256', body, authority.key);
  return tlv(0x30, body, ecdsaWithSha256, tlv(3, Buffer.from([0]), signature));
}

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length < 0x80 ? 0 : Math.ceil((32 - Math.clz32(content.length)) / 8);
  const head = Buffer.alloc(2 + size);
  head[0] = tag;
  head[1] = size === 0 ? content.length : 0x80 | size;
  if (size > 0) head.writeUIntBE(content.length, 2, size);
  return Buffer.concat([head, content]);
}
