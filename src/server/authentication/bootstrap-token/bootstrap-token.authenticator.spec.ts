import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/test-postgres.js';
import { openTestStorage, type TestStorage } from '../../../../test/support/test-storage.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { BootstrapTokenAuthenticator } from './bootstrap-token.authenticator.js';

const names = vendorNames('example.dev');
const start = Date.parse('2030-01-01T00:00:00Z');
const secretPart = '0123456789abcdef';

describe('BootstrapTokenAuthenticator', () => {
  let postgres: TestPostgres;
  let storage: TestStorage;
  const clock = { time: start, now: () => clock.time };
  const log: object[] = [];

  before(async () => {
    postgres = await startTestPostgres();
    storage = await openTestStorage(await postgres.createTestDatabase());
  });
  after(async () => {
    await storage?.stop();
    await postgres?.stop();
  });

  const method = () => {
    const logger = { debug: (text: string, fields: object = {}) => log.push({ text, ...fields }) };
    return new BootstrapTokenAuthenticator({ names, clock, storage, registry: new ResourceRegistry(), logger }, [
      'api',
    ]);
  };
  const ask = async (token: string, audiences = ['api']) => method().authenticateToken(token, audiences);

  /** Writes the secret of a valid token with these changes. */
  async function add(id: string, data: Readonly<Record<string, string>> = {}, metadata: object = {}): Promise<string> {
    const texts = { 'token-id': id, 'token-secret': secretPart, 'usage-bootstrap-authentication': 'true', ...data };
    const [namespace, name] = [names.systemNamespace, `bootstrap-token-${id}`];
    const secret = {
      metadata: { name, namespace, uid: id, ...metadata },
      type: names.bootstrapTokenSecretType,
      data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
    };
    await storage.create({ resource: 'secrets', namespace, name }, id, JSON.stringify(secret));
    return `${id}.${secretPart}`;
  }

  it('knows a token by its secret in the system namespace', async () => {
    assert.deepEqual(await ask(await add('aaaaaa')), {
      kind: 'user',
      user: { name: 'system:bootstrap:aaaaaa', uid: '', groups: ['system:bootstrappers'], extra: {} },
      audiences: ['api'],
      expiresAt: undefined,
      dependsOn: ['secrets/control-system/bootstrap-token-aaaaaa'],
    });
  });

  it('recognises at once that a text is not such a token', () => {
    const odd = ['', 'aaaaaa', 'aaaaaa.', `aaaaaa.${secretPart}\n`, `aaaaaa.${secretPart} `, `AAAAAA.${secretPart}`];
    for (const text of odd) {
      assert.deepEqual(method().authenticateToken(text, ['api']), { kind: 'none' }, JSON.stringify(text));
    }
  });

  it('ends at the second that the secret names', async () => {
    const token = await add('bbbbbb', { expiration: '2030-01-01T01:00:00+01:00' });
    clock.time = start - 1;
    const good = await ask(token);
    assert.ok(good.kind === 'user');
    assert.equal(good.expiresAt, start);
    clock.time = start;
    assert.equal((await ask(token)).kind, 'none');
  });

  it('writes the reason why a token is refused into the log only', async () => {
    log.length = 0;
    const deleted = await add('cccccc', {}, { deletionTimestamp: '2030-01-01T00:00:00Z' });
    await add('dddddd');
    for (const token of [deleted, 'dddddd.0123456789abcdee', `eeeeee.${secretPart}`]) {
      assert.deepEqual(await ask(token), { kind: 'none' });
    }
    const text = 'bootstrap token refused';
    assert.deepEqual(log, [
      { text, id: 'cccccc', reason: 'the secret is being deleted' },
      { text, id: 'dddddd', reason: 'the secret part is wrong' },
      { text, id: 'eeeeee', reason: 'there is no such secret' },
    ]);
  });

  it('is for this server only', async () => {
    assert.equal((await ask(await add('ffffff'), ['other'])).kind, 'none');
  });
});
