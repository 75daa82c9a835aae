import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { makeAuthority, makeRequest, toBase64 } from '../../../test/support/certificate-requests.js';
import { loopParts } from '../../../test/support/loop-parts.js';
import { startTestPostgres, type TestPostgres } from '../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../test/support/test-storage.js';
import type { ApiObject } from '../../base/machinery/api-object.js';
import { decode } from '../../base/machinery/schema/index.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { CertificateAuthority } from '../../base/machinery/x509/certificate-authority.js';
import { certificateSigningRequestResource } from '../../modules/certificates/certificate-signing-request/certificate-signing-request.resource.js';
import type { CertificateSigningRequest } from '../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { partOf } from '../../objects/registry/resource-definition.js';
import { ResourceRegistry } from '../../objects/registry/resource-registry.js';
import { Store } from '../../objects/registry/store/store.js';
import { CsrCleanerController, removalTime } from './csr-cleaner/csr-cleaner.controller.js';
import { CsrSigningController } from './csr-signing/csr-signing.controller.js';
import { ManualTimers } from './testing/manual-timers.js';
import { workContext } from './work-context.js';

const names = vendorNames('k8s.io');
const hour = 3_600_000;
const year = 8760 * hour;
const start = Date.parse('2030-01-01T00:00:00Z');
const resource = 'certificatesigningrequests.certificates.k8s.io';
const noAdmission = async () => {};

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});

after(() => postgres.stop());

/** A database with certificate signing requests, and a stopped clock. */
class Fixture {
  readonly timers = new ManualTimers(start);
  readonly log: string[] = [];
  private readonly registry = new ResourceRegistry();
  private readonly store: Store;

  private constructor(readonly storage: TestStorage) {
    this.registry.register(certificateSigningRequestResource(names, this.timers));
    const served = this.registry.findStoredResource('certificates.k8s.io', 'v1', 'certificatesigningrequests');
    assert.ok(served);
    this.store = new Store(served, storage, this.timers);
  }

  static async run(work: (fixture: Fixture) => Promise<void>): Promise<void> {
    const storage = await openTestStorage(await postgres.createTestDatabase());
    try {
      await work(new Fixture(storage));
    } finally {
      await storage.stop();
    }
  }

  get parts() {
    const { storage, registry, timers } = this;
    return loopParts({ storage, registry, timers, log: (line) => void this.log.push(line) });
  }

  async create(name: string, spec: object): Promise<void> {
    const context = workContext('test', this.timers.now(), new AbortController().signal);
    const object = decode(this.store.resource.served.type, { metadata: { name }, spec }).value as ApiObject;
    await this.store.create(context, object, { dryRun: false, validate: noAdmission });
  }

  async decide(name: string, type: 'Approved' | 'Denied'): Promise<void> {
    const context = workContext('test', this.timers.now(), new AbortController().signal);
    const condition = { type, status: 'True', lastUpdateTime: null, lastTransitionTime: null };
    await this.store.update(context, '', name, {
      dryRun: false,
      validate: noAdmission,
      subresource: partOf(this.store.resource.definition, 'approval'),
      transform: (live) => ({ ...live, status: { conditions: [condition] } }) as unknown as ApiObject,
    });
  }

  async read(name: string): Promise<CertificateSigningRequest | undefined> {
    const stored = await this.storage.get({ resource, namespace: '', name });
    return stored && (JSON.parse(stored.json) as CertificateSigningRequest);
  }

  /** Resolves with the next state of an object that `matches`; undefined means that it is deleted. */
  async until(
    name: string,
    matches: (request: CertificateSigningRequest | undefined) => boolean,
  ): Promise<CertificateSigningRequest | undefined> {
    const subscription = await this.storage.watch({ resource, name }, await this.storage.head());
    try {
      for (let request = await this.read(name); ; request = await this.read(name)) {
        if (matches(request)) return request;
        assert.ok(await subscription.next());
      }
    } finally {
      subscription.close();
    }
  }
}

/** Runs a loop during `work`. */
async function running(loop: { run(signal: AbortSignal): Promise<void> }, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const ended = loop.run(stop.signal);
  try {
    await Promise.race([work(), ended.then(() => assert.fail('the loop ended by itself'))]);
  } finally {
    stop.abort();
    await ended;
  }
}

describe('the signing of certificates', () => {
  const spec = { signerName: names.apiserverClientSigner, usages: ['client auth'] };
  const cases: readonly (readonly [string, number | undefined, number, number, number])[] = [
    ['as long as the signer allows', undefined, year, start - 300_000, start - 300_000 + year],
    ['no longer than asked for', 3600, year, start - 300_000, start + hour],
    ['no longer than the signer allows', 999_999_999, 24 * hour, start - 300_000, start + 24 * hour - 300_000],
    ['no longer than the authority', undefined, 20 * year, start - 300_000, start + 2 * year],
  ];
  for (const [what, expirationSeconds, durationMs, notBefore, notAfter] of cases) {
    it(`is valid ${what}`, () =>
      Fixture.run(async (fixture) => {
        const { certificate, privateKey } = await makeAuthority({ validTo: new Date(start + 2 * year) });
        const authority = CertificateAuthority.fromPem(certificate, privateKey);
        const authorities = new Map([[names.apiserverClientSigner, authority]]);
        const loop = new CsrSigningController({ ...fixture.parts, signing: { authorities, durationMs } });
        await fixture.create('a', { ...spec, request: toBase64(await makeRequest()), expirationSeconds });
        await fixture.decide('a', 'Approved');
        await running(loop, async () => {
          const signed = await fixture.until('a', (request) => request?.status.certificate !== undefined);
          const pem = Buffer.from(signed?.status.certificate ?? '', 'base64');
          const { validFrom, validTo } = new X509Certificate(pem);
          assert.deepEqual([Date.parse(validFrom), Date.parse(validTo)], [notBefore, notAfter]);
        });
      }));
  }

  it('keeps running when the authority has expired, and logs it', () =>
    Fixture.run(async (fixture) => {
      const { certificate, privateKey } = await makeAuthority({ validTo: new Date(start - 1000) });
      const authority = CertificateAuthority.fromPem(certificate, privateKey);
      const authorities = new Map([[names.apiserverClientSigner, authority]]);
      const loop = new CsrSigningController({ ...fixture.parts, signing: { authorities, durationMs: year } });
      await fixture.create('a', { ...spec, request: toBase64(await makeRequest()) });
      await fixture.decide('a', 'Approved');
      await running(loop, async () => {
        await fixture.timers.waiting((milliseconds) => milliseconds === 500);
        assert.match(fixture.log.join(''), /authority has expired/);
        assert.equal((await fixture.read('a'))?.status.certificate, undefined);
      });
    }));
});

describe('old certificate signing requests', () => {
  const at = (milliseconds: number) => new Date(milliseconds).toISOString();
  const request = (conditions: object[], certificate?: string) =>
    ({
      metadata: { creationTimestamp: at(start) },
      spec: {},
      status: { conditions, certificate },
    }) as unknown as CertificateSigningRequest;

  it('are removed some time after their last change', async () => {
    const condition = (type: string, updated: number) => ({ type, status: 'True', lastUpdateTime: at(updated) });
    assert.equal(removalTime(request([])), start + 24 * hour);
    assert.equal(removalTime(request([condition('Waiting', start + hour)])), start + 25 * hour);
    for (const type of ['Approved', 'Denied', 'Failed']) {
      assert.equal(removalTime(request([condition(type, start + 5 * hour)])), start + 6 * hour);
    }
    const { certificate } = await makeAuthority({ validTo: new Date(start + 1000) });
    const issued = request([condition('Approved', start)], toBase64(certificate));
    assert.equal(removalTime(issued), start + 1000);
    assert.equal(removalTime(request([condition('Approved', start)], toBase64('x'))), start + hour);
  });

  it('are removed at their time, not before', () =>
    Fixture.run(async (fixture) => {
      const spec = { signerName: 'example.com/a', usages: ['any'], request: toBase64(await makeRequest()) };
      await fixture.create('pending', spec);
      await fixture.create('denied', spec);
      await fixture.decide('denied', 'Denied');
      await running(new CsrCleanerController(fixture.parts), async () => {
        await fixture.timers.waiting((milliseconds) => milliseconds === hour);
        await fixture.timers.waiting((milliseconds) => milliseconds === 24 * hour);
        fixture.timers.advance(hour - 1000);
        assert.ok(await fixture.read('denied'));
        fixture.timers.advance(1000);
        await fixture.until('denied', (found) => found === undefined);
        assert.ok(await fixture.read('pending'));
        fixture.timers.advance(23 * hour);
        await fixture.until('pending', (found) => found === undefined);
      });
    }));
});
