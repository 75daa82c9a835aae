import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { TestIdentity } from '../../../../test/support/test-authority.js';
import { CertificatePool, signedChain } from './certificate-pool.js';

const read = (...identities: readonly TestIdentity[]) => identities.map(({ cert }) => new X509Certificate(cert));

let root: TestIdentity;
/** Another CA with the name of `root`. */
let twin: TestIdentity;
let department: TestIdentity;
let leaf: TestIdentity;

before(async () => {
  root = await TestIdentity.root('root');
  twin = await TestIdentity.root('root');
  department = await root.issue({ subject: [{ CN: ['department'] }], authority: true });
  leaf = await department.issue({ subject: [{ CN: ['leaf'] }] });
});

describe('a chain of certificates', () => {
  it('ends where the signatures end', async () => {
    const whole = read(leaf, department, root);
    assert.equal(signedChain(whole), whole);
    assert.equal(signedChain(read(leaf, department, twin)).length, 2);
    assert.equal(signedChain(read(leaf, root)).length, 1);
    assert.deepEqual(signedChain([]), []);
  });

  it('ends at a certificate that must not sign', async () => {
    const ordinary = await root.issueFor(department, { subject: [{ CN: ['department'] }] });
    assert.equal(signedChain(read(leaf, ordinary, root)).length, 1);
  });
});

describe('a pool of authorities', () => {
  it('trusts chains that lead to one of them, whether they contain it or not', () => {
    const pool = new CertificatePool(root.cert);
    assert.ok(pool.trusts(read(leaf, department, root)));
    assert.ok(pool.trusts(read(leaf, department)));
    assert.ok(!pool.trusts(read(leaf)));
    assert.ok(!pool.trusts([]));
    assert.ok(new CertificatePool(department.cert).trusts(read(leaf)));
  });

  it('distinguishes authorities of the same name', () => {
    assert.ok(!new CertificatePool(twin.cert).trusts(read(leaf, department)));
    assert.ok(!new CertificatePool(twin.cert).trusts(read(leaf, department, root)));
    for (const pem of [root.cert + twin.cert, twin.cert + root.cert]) {
      assert.ok(new CertificatePool(pem).trusts(read(leaf, department)));
    }
  });

  it('knows an authority whose certificate was renewed', async () => {
    const renewed = await root.issueFor(root, { subject: [{ CN: ['root'] }], authority: true });
    assert.notEqual(renewed.cert, root.cert);
    assert.ok(new CertificatePool(renewed.cert).trusts(read(leaf, department, root)));
  });

  it('knows whether another pool trusts one of its authorities, by key or by signature', async () => {
    const renewed = await root.issueFor(root, { subject: [{ CN: ['root'] }], authority: true });
    const pool = new CertificatePool(twin.cert + root.cert);
    assert.ok(pool.isVouchedForBy(new CertificatePool(renewed.cert)));
    assert.ok(new CertificatePool(renewed.cert).isVouchedForBy(pool));
    assert.ok(!new CertificatePool(root.cert).isVouchedForBy(new CertificatePool(twin.cert)));
    // The root signs the department, but not the other way round.
    const below = new CertificatePool(department.cert);
    assert.ok(below.isVouchedForBy(new CertificatePool(root.cert)));
    assert.ok(!new CertificatePool(root.cert).isVouchedForBy(below));
  });

  it('forgets earlier verdicts when it is replaced, and is unchanged when that fails', () => {
    const pool = new CertificatePool(root.cert);
    const chain = read(leaf, department);
    assert.ok(pool.trusts(chain));
    assert.throws(() => pool.replace('no certificate'), /no certificate in PEM/);
    assert.ok(pool.trusts(chain));
    assert.equal(pool.generation, 0);
    pool.replace(twin.cert);
    assert.equal(pool.generation, 1);
    assert.ok(!pool.trusts(chain));
  });
});
