import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { loopParts } from '../../../../test/support/loop-parts.js';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { systemClock } from '../../../base/machinery/clock.js';
import { decode } from '../../../base/machinery/schema/index.js';
import { forbiddenError, StatusError } from '../../../base/machinery/status-error.js';
import { systemTimers } from '../../../base/machinery/timers.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { configMapResource } from '../../../modules/core/config-map/config-map.resource.js';
import { namespaceResource } from '../../../modules/core/namespace/namespace.resource.js';
import { secretResource } from '../../../modules/core/secret/secret.resource.js';
import { serviceAccountResource } from '../../../modules/core/service-account/service-account.resource.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import { Store } from '../../../objects/registry/store/store.js';
import { AdmissionChain } from '../../../server/admission/admission-chain.js';
import { AdmissionMetrics } from '../../../server/admission/admission-metrics.js';
import type { AdmissionPlugin } from '../../../server/admission/admission-plugin.js';
import { OwnWriteAdmission } from '../../../server/admission/own-write-admission.js';
import type { ControlLoop } from '../control-loop.js';
import { RootAuthorityPublisher } from '../root-authority/root-authority-publisher.controller.js';
import { ServiceAccountController } from '../service-account/service-account.controller.js';
import { workContext } from '../work-context.js';
import { type SecretTokenRequest, ServiceAccountTokenController } from './service-account-token.controller.js';

const names = vendorNames('k8s.io');
const noAdmission = async () => {};
const base64 = (text: string) => Buffer.from(text).toString('base64');

// biome-ignore lint/suspicious/noExplicitAny: tests read whatever was stored
type Stored = any;

let postgres: TestPostgres;

before(async () => {
  postgres = await startTestPostgres();
});

after(() => postgres.stop());

/** Authorities that a test replaces. */
class TestAuthority {
  pem = 'first';
  private readonly listeners = new Set<() => void>();

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  replace(pem: string): void {
    this.pem = pem;
    for (const listener of this.listeners) listener();
  }
}

/** A database with the objects that the loops read, and the loops. */
class Fixture {
  readonly authority = new TestAuthority();
  readonly signed: SecretTokenRequest[] = [];
  readonly log: string[] = [];
  private readonly registry = new ResourceRegistry();
  private readonly running = new AbortController();
  private readonly loops: Promise<void>[] = [];

  private constructor(readonly storage: TestStorage) {
    for (const definition of [
      namespaceResource(names),
      configMapResource(),
      secretResource(names),
      serviceAccountResource({ clock: systemClock, names, registry: this.registry, storage }, undefined),
    ]) {
      this.registry.register(definition);
    }
  }

  static async run(work: (fixture: Fixture) => Promise<void>): Promise<void> {
    const storage = await openTestStorage(await postgres.createTestDatabase());
    const fixture = new Fixture(storage);
    try {
      await work(fixture);
    } finally {
      fixture.running.abort();
      await Promise.all(fixture.loops);
      await storage.stop();
    }
  }

  parts(admission?: WriteAdmission) {
    const { storage, registry } = this;
    const log = (line: string) => void this.log.push(line);
    return { ...loopParts({ storage, registry, log, admission }), rootAuthority: this.authority };
  }

  start(loop: ControlLoop): void {
    this.loops.push(loop.run(this.running.signal));
  }

  tokens(): ServiceAccountTokenController {
    return new ServiceAccountTokenController({
      ...this.parts(),
      signToken: async (request) => {
        this.signed.push(request);
        return `token-${this.signed.length}`;
      },
    });
  }

  async create(resource: string, body: Record<string, unknown>): Promise<string> {
    const store = this.store(resource);
    const object = decode(store.resource.served.type, body).value as ApiObject;
    store.resource.definition.strategy.applyDefaults?.(object);
    await store.create(this.context(), object, { dryRun: false, validate: noAdmission });
    return object.metadata.uid as string;
  }

  async change(resource: string, namespace: string, name: string, change: (object: Stored) => void): Promise<void> {
    await this.store(resource).update(this.context(), namespace, name, {
      dryRun: false,
      validate: noAdmission,
      transform: (live) => {
        const copy = structuredClone(live) as ApiObject;
        change(copy);
        return copy;
      },
    });
  }

  async delete(resource: string, namespace: string, name: string): Promise<void> {
    await this.store(resource).delete(this.context(), namespace, name, { dryRun: false, validate: noAdmission });
  }

  async read(resource: string, namespace: string, name: string): Promise<Stored> {
    const stored = await this.storage.get({ resource, namespace, name });
    return stored && JSON.parse(stored.json);
  }

  /** Resolves as soon as the object `matches`, now or after a change; undefined means that it is deleted. */
  async until(
    resource: string,
    namespace: string,
    name: string,
    matches: (object: Stored) => boolean,
  ): Promise<Stored> {
    const changes = await this.storage.watch({ resource }, await this.storage.head());
    const limit = setTimeout(() => changes.close(), 60_000);
    try {
      for (;;) {
        const object = await this.read(resource, namespace, name);
        if (matches(object)) return object;
        if ((await changes.next()) === undefined) throw new Error(`${resource} ${name} never got there`);
      }
    } finally {
      clearTimeout(limit);
      changes.close();
    }
  }

  secret(name: string, account: string, more: Record<string, unknown> = {}, uid?: string): Promise<string> {
    const annotations = {
      [names.serviceAccountNameAnnotation]: account,
      ...(uid === undefined ? {} : { [names.serviceAccountUidAnnotation]: uid }),
    };
    const metadata = { name, namespace: 'a', annotations };
    return this.create('secrets', { metadata, type: names.serviceAccountTokenSecretType, ...more });
  }

  account(name: string, more: Record<string, unknown> = {}): Promise<string> {
    return this.create('serviceaccounts', { metadata: { name, namespace: 'a' }, ...more });
  }

  private store(resource: string): Store {
    const found = this.registry.findStoredResource('', 'v1', resource);
    assert.ok(found);
    return new Store(found, this.storage, systemTimers);
  }

  private context() {
    return workContext('test', systemTimers.now(), new AbortController().signal);
  }
}

const isFilled = (secret: Stored) => secret?.data?.token !== undefined;
const isGone = (object: Stored) => object === undefined;

describe('the loop for tokens in secrets', () => {
  it('fills existing and new secrets, and only those of the right type', () =>
    Fixture.run(async (fixture) => {
      const uid = await fixture.account('robot');
      await fixture.secret('early', 'robot');
      await fixture.create('secrets', {
        metadata: {
          name: 'opaque',
          namespace: 'a',
          annotations: { [names.serviceAccountNameAnnotation]: 'robot' },
        },
      });
      fixture.start(fixture.tokens());
      const early = await fixture.until('secrets', 'a', 'early', isFilled);
      assert.deepEqual(early.data, { token: base64('token-1'), 'ca.crt': base64('first'), namespace: base64('a') });
      assert.equal(early.metadata.annotations[names.serviceAccountUidAnnotation], uid);
      await fixture.secret('late', 'robot', { data: { extra: base64('x') } }, uid);
      const late = await fixture.until('secrets', 'a', 'late', isFilled);
      assert.equal(late.data.extra, base64('x'));
      assert.deepEqual(fixture.signed, [
        { namespace: 'a', secretName: 'early', accountName: 'robot', accountUid: uid },
        { namespace: 'a', secretName: 'late', accountName: 'robot', accountUid: uid },
      ]);
      assert.equal((await fixture.read('secrets', 'a', 'opaque')).data, undefined);
      assert.ok(!fixture.log.join().includes('token-1'));
    }));

  it('deletes secrets of accounts that no longer exist or were replaced', () =>
    Fixture.run(async (fixture) => {
      await fixture.account('robot');
      await fixture.secret('of-nobody', 'nobody');
      await fixture.secret('of-another', 'robot', {}, 'another-uid');
      await fixture.secret('good', 'robot');
      fixture.start(fixture.tokens());
      await fixture.until('secrets', 'a', 'of-nobody', isGone);
      await fixture.until('secrets', 'a', 'of-another', isGone);
      await fixture.until('secrets', 'a', 'good', isFilled);
      await fixture.delete('serviceaccounts', 'a', 'robot');
      await fixture.until('secrets', 'a', 'good', isGone);
    }));

  it('makes a new token when somebody removes the old one', () =>
    Fixture.run(async (fixture) => {
      await fixture.account('robot');
      await fixture.secret('kept', 'robot');
      fixture.start(fixture.tokens());
      await fixture.until('secrets', 'a', 'kept', isFilled);
      await fixture.change('secrets', 'a', 'kept', (secret) => {
        delete secret.data.token;
      });
      const secret = await fixture.until('secrets', 'a', 'kept', (object) => object.data.token === base64('token-2'));
      assert.equal(secret.data.namespace, base64('a'));
    }));

  it('brings new authorities to all secrets, with the tokens they have', () =>
    Fixture.run(async (fixture) => {
      await fixture.account('robot');
      await fixture.secret('kept', 'robot');
      fixture.start(fixture.tokens());
      const { data } = await fixture.until('secrets', 'a', 'kept', isFilled);
      fixture.authority.replace('second');
      const isNew = (object: Stored) => object.data['ca.crt'] === base64('second');
      assert.equal((await fixture.until('secrets', 'a', 'kept', isNew)).data.token, data.token);
    }));

  it('leaves immutable secrets alone', () =>
    Fixture.run(async (fixture) => {
      await fixture.account('robot');
      await fixture.secret('fixed', 'robot', { immutable: true });
      await fixture.secret('other', 'robot');
      fixture.start(fixture.tokens());
      await fixture.until('secrets', 'a', 'other', isFilled);
      assert.equal((await fixture.read('secrets', 'a', 'fixed')).data, undefined);
      assert.deepEqual(
        fixture.log.filter((line) => line.includes('WARN')),
        [],
      );
    }));

  it('removes deleted secrets from the list of their account', () =>
    Fixture.run(async (fixture) => {
      await fixture.account('robot', { secrets: [{ name: 'mine' }, { name: 'other' }] });
      await fixture.secret('mine', 'robot');
      fixture.start(fixture.tokens());
      await fixture.until('secrets', 'a', 'mine', isFilled);
      await fixture.delete('secrets', 'a', 'mine');
      const account = await fixture.until('serviceaccounts', 'a', 'robot', (object) => object.secrets.length === 1);
      assert.deepEqual(account.secrets, [{ name: 'other' }]);
    }));
});

describe('the loops for every namespace', () => {
  const namespace = (fixture: Fixture, name: string) => fixture.create('namespaces', { metadata: { name } });
  const map = names.rootAuthorityMap;

  it('make a default account in every namespace, and again when it was deleted', () =>
    Fixture.run(async (fixture) => {
      await namespace(fixture, 'a');
      fixture.start(new ServiceAccountController(fixture.parts()));
      const { uid } = (await fixture.until('serviceaccounts', 'a', 'default', (object) => !isGone(object))).metadata;
      await namespace(fixture, 'b');
      await fixture.until('serviceaccounts', 'b', 'default', (object) => !isGone(object));
      await fixture.delete('serviceaccounts', 'a', 'default');
      await fixture.until(
        'serviceaccounts',
        'a',
        'default',
        (object) => !isGone(object) && object.metadata.uid !== uid,
      );
    }));

  it('pass admission with what they write, and try again what it refuses', () =>
    Fixture.run(async (fixture) => {
      const plugin: AdmissionPlugin = {
        name: 'Labels',
        handles: () => true,
        admit: ({ object, userInfo }) => {
          if (object !== undefined) object.metadata.labels = { by: userInfo.name.replaceAll(':', '.') };
        },
        validate: ({ operation, kind, namespace: ns, name }) => {
          asked.push(`${operation} ${kind.kind} ${ns}/${name}`);
          if (asked.length === 1) throw forbiddenError({ group: '', resource: 'serviceaccounts' }, name, 'not yet');
        },
      };
      const asked: string[] = [];
      const chain = new AdmissionChain([plugin], new AdmissionMetrics(new Registry()));
      await namespace(fixture, 'a');
      fixture.start(new ServiceAccountController(fixture.parts(new OwnWriteAdmission(chain))));
      const { metadata } = await fixture.until('serviceaccounts', 'a', 'default', (object) => !isGone(object));
      assert.deepEqual(metadata.labels, { by: 'system.serviceaccount.control-system.service-account-controller' });
      assert.deepEqual(asked, ['CREATE ServiceAccount a/default', 'CREATE ServiceAccount a/default']);
    }));

  it('put nothing into a terminating namespace', () =>
    Fixture.run(async (fixture) => {
      for (const name of ['a', 'b']) await namespace(fixture, name);
      fixture.start(new ServiceAccountController(fixture.parts()));
      await fixture.until('serviceaccounts', 'a', 'default', (object) => !isGone(object));
      await fixture.delete('namespaces', '', 'a');
      await fixture.delete('serviceaccounts', 'a', 'default');
      // The loop processes changes in order: once it has corrected this one, it has seen the other.
      await fixture.delete('serviceaccounts', 'b', 'default').catch((error: unknown) => {
        assert.ok(error instanceof StatusError && error.reason === 'NotFound');
      });
      await fixture.until('serviceaccounts', 'b', 'default', (object) => !isGone(object));
      assert.equal(await fixture.read('serviceaccounts', 'a', 'default'), undefined);
    }));

  it('keep the map of authorities correct', () =>
    Fixture.run(async (fixture) => {
      await namespace(fixture, 'a');
      await fixture.create('configmaps', { metadata: { name: map, namespace: 'a' }, data: { 'ca.crt': 'forged' } });
      fixture.start(new RootAuthorityPublisher(fixture.parts()));
      const note = `${names.labelPrefix}/description`;
      const holds = (pem: string) => (object: Stored) =>
        JSON.stringify(object?.data) === JSON.stringify({ 'ca.crt': pem }) &&
        (object?.metadata.annotations?.[note] ?? '') !== '';
      await fixture.until('configmaps', 'a', map, holds('first'));
      await fixture.change('configmaps', 'a', map, (object) => {
        delete object.metadata.annotations;
      });
      await fixture.until('configmaps', 'a', map, holds('first'));
      await fixture.change('configmaps', 'a', map, (object) => {
        object.metadata.annotations = { [note]: 'ours' };
      });
      await fixture.change('configmaps', 'a', map, (object) => {
        object.data.more = 'text';
      });
      await fixture.until('configmaps', 'a', map, holds('first'));
      fixture.authority.replace('second');
      const kept = await fixture.until('configmaps', 'a', map, holds('second'));
      assert.equal(kept.metadata.annotations[note], 'ours');
      await fixture.delete('configmaps', 'a', map);
      await fixture.until('configmaps', 'a', map, holds('second'));
    }));
});
