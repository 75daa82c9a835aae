import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebhookServer } from '../../../../test/support/webhook-server.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { type ClientUsers, loadClientUsers } from '../../../base/outgoing/client-users.js';
import { DeniedAddresses } from '../../../base/outgoing/denied-addresses.js';
import { ReviewClient } from '../../../base/outgoing/review-client.js';
import { readClientConfigFile } from './webhook-admission-configuration.js';

const never = new AbortController().signal;

describe('the client of hooks', () => {
  let hooks: WebhookServer;
  let directory: string;
  before(async () => {
    hooks = await WebhookServer.start(['hook.services.svc']);
    hooks.on('/', () => ({ allowed: true }));
    directory = mkdtempSync(join(tmpdir(), 'plinth-hooks-'));
  });
  after(async () => {
    await hooks?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const body = () => Buffer.from('{"request":{"uid":"u"}}');
  function client(users: ClientUsers | undefined, denied: readonly string[] = []): ReviewClient {
    const services = { resolve: () => ({ host: '127.0.0.1', port: hooks.port }) };
    const config = { service: { namespace: 'services', name: 'hook', port: 443 }, caBundle: hooks.caBundle };
    return new ReviewClient(config, { services, denied: new DeniedAddresses(denied), users });
  }

  it('shows the credentials of the user for the host', async () => {
    const { cert, key } = await hooks.clientIdentity('plinth');
    const encoded = (text: string) => Buffer.from(text).toString('base64');
    const user = { 'client-certificate-data': encoded(cert), 'client-key-data': encoded(key), token: 'secret' };
    const path = join(directory, 'users');
    writeFileSync(
      path,
      JSON.stringify({ kind: 'Config', apiVersion: 'v1', users: [{ name: '*.services.svc', user }] }),
    );
    const own = client(loadClientUsers(path));
    assert.match(await own.ask(body, 5000, never), /"uid":"u"/);
    const received = hooks.received.at(-1);
    assert.equal(received?.client, 'plinth');
    assert.equal(received?.headers.authorization, 'Bearer secret');
    assert.equal(received?.headers.host, 'hook.services.svc');
    own.retire();
    const without = client(undefined);
    await without.ask(body, 5000, never);
    assert.equal(hooks.received.at(-1)?.client, undefined);
    assert.equal(hooks.received.at(-1)?.headers.authorization, undefined);
    without.retire();
  });

  it('does not connect to denied addresses, whoever chose them', async () => {
    await assert.rejects(client(undefined, ['127.0.0.0/8']).ask(body, 5000, never), /127\.0\.0\.1 are not allowed/);
  });

  it('takes a change of protocols for an unusable answer', async () => {
    const upgrade = { upgrade: 'other', connection: 'Upgrade' };
    const own = client(undefined);
    hooks.on('/', () => ({ http: 101, text: '', headers: upgrade }));
    await assert.rejects(own.ask(body, 5000, never), /responded with the status code 101/);
    // An `Upgrade` header in a response that does not switch protocols has no effect.
    hooks.on('/', () => ({ http: 200, text: '{"uid":"u"}', headers: upgrade }));
    assert.equal(await own.ask(body, 5000, never), '{"uid":"u"}');
    own.retire();
  });

  it('turns requests away when too many wait, and gives up with the request', async () => {
    const released = Promise.withResolvers<void>();
    hooks.on('/', () => released.promise.then(() => ({ allowed: true })));
    const slow = client(undefined);
    const left = new AbortController();
    const calls = Array.from({ length: 128 }, (_, i) => slow.ask(body, 30_000, i === 127 ? left.signal : never));
    await assert.rejects(slow.ask(body, 30_000, never), (error) => {
      assert.ok(error instanceof StatusError);
      assert.equal(error.code, 429);
      return true;
    });
    left.abort(new Error('left'));
    await assert.rejects(calls.pop() as Promise<string>, /request did not complete within requested timeout/);
    released.resolve();
    assert.equal((await Promise.all(calls)).length, 127);
    assert.ok(hooks.open <= 64);
    slow.retire();
  });
});

describe('the configuration of the plugins for webhooks', () => {
  const names = vendorNames('k8s.io');
  const read = (value: unknown) => readClientConfigFile({ value, source: 'file', folder: '/etc/x' }, names);
  const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' };

  it('names a file beside its own', () => {
    assert.equal(read({ ...head, kubeConfigFile: 'hooks' }), '/etc/x/hooks');
    assert.equal(read({ ...head, kubeConfigFile: '/hooks' }), '/hooks');
    assert.equal(read(head), undefined);
  });

  it('is refused with every fault at once', () => {
    assert.throws(
      () => read({ kind: 'Other', apiVersion: 'v1', kubeConfigFile: 1, more: true }),
      (error) => {
        assert.ok(error instanceof OptionsError);
        assert.deepEqual(error.problems, [
          'file: must be of kind WebhookAdmissionConfiguration',
          'file: apiVersion must be apiserver.config.k8s.io/v1 or apiserver.config.k8s.io/v1alpha1',
          'file: unknown field more',
          'file: kubeConfigFile must be a string',
        ]);
        return true;
      },
    );
  });
});
