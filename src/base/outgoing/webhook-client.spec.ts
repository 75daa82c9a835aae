import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ReviewWebhook } from '../../../test/support/review-webhook.js';
import { TestIdentity } from '../../../test/support/test-authority.js';
import { type ClientConfig, loadClientConfig } from './client-config.js';
import { reviewPolicy, WebhookClient, type WebhookPolicy } from './webhook-client.js';
import { WebhookError } from './webhook-error.js';

const never = new AbortController().signal;

describe('the client of webhooks', () => {
  let webhook: ReviewWebhook;
  let directory: string;
  const clients: WebhookClient[] = [];
  const waits: number[] = [];
  let time = 0;

  before(async () => {
    webhook = await ReviewWebhook.start();
    directory = mkdtempSync(join(tmpdir(), 'plinth-webhook-'));
  });
  after(async () => {
    for (const client of clients) client.stop();
    await webhook?.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  function load(user: Readonly<Record<string, unknown>> = {}, cluster: Readonly<Record<string, unknown>> = {}) {
    const path = join(directory, 'config');
    writeFileSync(path, webhook.config(user, cluster));
    return loadClientConfig(path);
  }

  function clientOf(config: ClientConfig = load(), policy: Partial<WebhookPolicy> = {}): WebhookClient {
    const wait = async (ms: number) => {
      waits.push(ms);
    };
    const parts = { clock: { now: () => time }, wait, random: () => 0.5 };
    const client = new WebhookClient(config, { ...reviewPolicy, ...policy }, parts);
    clients.push(client);
    waits.length = 0;
    webhook.received.length = 0;
    return client;
  }

  const failure = async (asked: Promise<unknown>): Promise<WebhookError> => {
    const error = await asked.then(
      () => assert.fail('there is an answer'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof WebhookError, String(error));
    return error;
  };

  it('sends JSON and returns the answer', async () => {
    webhook.answer = ({ body }) => ({ body: { got: body } });
    assert.deepEqual(await clientOf().post({ a: 'ü' }, never), { got: { a: 'ü' } });
  });

  it('uses changed certificate files for new connections, unless they do not fit', async () => {
    webhook.answer = () => ({ body: {} });
    const write = (name: string, text: string) => writeFileSync(join(directory, name), text);
    const first = await webhook.clientIdentity('server-1');
    const second = await webhook.clientIdentity('server-2');
    write('client.crt', first.cert);
    write('client.key', first.key);
    const client = clientOf(load({ 'client-certificate': 'client.crt', 'client-key': 'client.key' }));
    const clientSeen = async () => {
      await client.post({}, never);
      return webhook.received.at(-1)?.client;
    };
    assert.equal(await clientSeen(), 'server-1');
    write('client.crt', second.cert);
    assert.equal(await clientSeen(), 'server-1');
    // The new certificate is there, but the key still belongs to the first one.
    time += 10_000;
    assert.equal(await clientSeen(), 'server-1');
    write('client.key', second.key);
    assert.equal(await clientSeen(), 'server-1');
    time += 10_000;
    assert.equal(await clientSeen(), 'server-2');
    write('client.key', 'no key');
    time += 10_000;
    assert.equal(await clientSeen(), 'server-2');
  });

  it('trusts other authorities when their file changes', async () => {
    webhook.answer = () => ({ body: {} });
    const path = join(directory, 'trusted.crt');
    writeFileSync(path, (await TestIdentity.root('somebody else')).cert);
    const client = clientOf(load({}, { 'certificate-authority-data': undefined, 'certificate-authority': path }), {
      attempts: 1,
    });
    assert.match((await failure(client.post({}, never))).message, /can't be reached/);
    writeFileSync(path, webhook.ca);
    time += 10_000;
    assert.deepEqual(await client.post({}, never), {});
  });

  it('shows its certificate or its token', async () => {
    webhook.answer = () => ({ body: {} });
    const { cert, key } = await webhook.clientIdentity('server-1');
    writeFileSync(join(directory, 'client.crt'), cert);
    writeFileSync(join(directory, 'client.key'), key);
    await clientOf(load({ 'client-certificate': 'client.crt', 'client-key': 'client.key' })).post({}, never);
    assert.equal(webhook.received[0]?.client, 'server-1');
    await clientOf(load({ token: 'secret' })).post({}, never);
    assert.equal(webhook.received[0]?.authorization, 'Bearer secret');
    await clientOf(load({ username: 'u', password: 'p:w' })).post({}, never);
    assert.equal(webhook.received[0]?.authorization, `Basic ${Buffer.from('u:p:w').toString('base64')}`);
  });

  it('reads a token file again after a while', async () => {
    webhook.answer = () => ({ body: {} });
    const file = join(directory, 'token');
    writeFileSync(file, 'one\n');
    const client = clientOf(load({ tokenFile: 'token' }));
    await client.post({}, never);
    writeFileSync(file, 'two\n');
    await client.post({}, never);
    time += 10_000;
    await client.post({}, never);
    rmSync(file);
    time += 10_000;
    await client.post({}, never);
    assert.deepEqual(
      webhook.received.map(({ authorization }) => authorization),
      ['Bearer one', 'Bearer one', 'Bearer two', 'Bearer two'],
    );
  });

  it('tries again with growing waits while the other side fails', async () => {
    const answers = ['cut', { status: 500, body: '' }, { status: 429, body: '' }, { body: { ok: 1 } }] as const;
    let next = 0;
    webhook.answer = () => answers[next++] ?? 'cut';
    assert.deepEqual(await clientOf().post({}, never), { ok: 1 });
    assert.deepEqual(waits, [500, 750, 1125]);
  });

  it('uses a connection again, and opens another one at once when that was closed', async () => {
    webhook.answer = () => ({ body: {} });
    const client = clientOf();
    await client.post({}, never);
    let isFirst = true;
    webhook.answer = () => {
      const answer = isFirst ? 'cut' : { body: { ok: 1 } };
      isFirst = false;
      return answer;
    };
    assert.deepEqual(await client.post({}, never), { ok: 1 });
    assert.deepEqual(waits, []);
  });

  it('gives up after its attempts', async () => {
    webhook.answer = () => ({ status: 503, body: '' });
    const error = await failure(clientOf().post({}, never));
    assert.equal(error.status, 503);
    assert.equal(webhook.received.length, reviewPolicy.attempts);
    const once = await failure(clientOf(load(), { attempts: 1 }).post({}, never));
    assert.equal(once.isTransient, true);
    assert.equal(webhook.received.length, 1);
  });

  it('does not repeat a refused call, and follows no redirect', async () => {
    for (const status of [400, 401, 403, 301, 307]) {
      webhook.answer = () => ({ status, body: '' });
      const error = await failure(clientOf().post({}, never));
      assert.deepEqual([error.status, error.isTransient, webhook.received.length], [status, false, 1]);
    }
  });

  it('refuses an answer that is not JSON or is too long', async () => {
    webhook.answer = () => ({ body: '<html>' });
    assert.match((await failure(clientOf().post({}, never))).message, /does not answer with JSON/);
    webhook.answer = () => ({ body: JSON.stringify('x'.repeat(2000)) });
    const error = await failure(clientOf(load(), { maxAnswerBytes: 1000 }).post({}, never));
    assert.match(error.message, /more than 1000 bytes/);
    assert.equal(webhook.received.length, 1);
  });

  it('waits no longer than its limit', async () => {
    let release = () => {};
    webhook.answer = () => new Promise((resolve) => (release = () => resolve({ body: {} })));
    const error = await failure(clientOf(load(), { timeoutMs: 50, attempts: 1 }).post({}, never));
    assert.match(error.message, /no answer within 50 ms/);
    release();
  });

  it('ends with its request, and when it is stopped', async () => {
    const arrived = () =>
      new Promise<void>((resolve) => {
        webhook.answer = () => {
          resolve();
          return new Promise(() => {});
        };
      });
    const gone = new AbortController();
    let waiting = arrived();
    const asked = clientOf().post({}, gone.signal);
    await waiting;
    gone.abort(new Error('left'));
    await assert.rejects(asked, /left/);
    waiting = arrived();
    const client = clientOf();
    const stopped = failure(client.post({}, never));
    await waiting;
    client.stop();
    assert.match((await stopped).message, /stopped/);
  });

  it('refuses to talk to any other server', async () => {
    webhook.answer = () => ({ body: {} });
    const stranger = await TestIdentity.root('strangers');
    const foreign = { 'certificate-authority-data': Buffer.from(stranger.cert).toString('base64') };
    const untrusted = await failure(clientOf(load({ token: 'secret' }, foreign), { attempts: 1 }).post({}, never));
    assert.match(untrusted.message, /can't be reached/);
    const otherName = load({ token: 'secret' }, { 'tls-server-name': 'another.test' });
    await failure(clientOf(otherName, { attempts: 1 }).post({}, never));
    assert.equal(webhook.received.length, 0);
    const blind = { 'certificate-authority-data': '', 'insecure-skip-tls-verify': true };
    assert.deepEqual(await clientOf(load({}, blind)).post({}, never), {});
  });

  it('shows no secret in an error', async () => {
    webhook.answer = () => ({ status: 400, body: '' });
    const error = await failure(clientOf(load({ token: 'hidden-1' })).post({ token: 'hidden-2' }, never));
    assert.doesNotMatch(`${error.message} ${error.stack}`, /hidden/);
  });
});

describe('a client configuration', () => {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-config-'));
  after(() => rmSync(directory, { recursive: true, force: true }));

  const problemOf = (content: string): string => {
    const path = join(directory, 'config');
    writeFileSync(path, content);
    try {
      loadClientConfig(path);
    } catch (error) {
      return (error as Error).message;
    }
    return 'none';
  };
  const config = (cluster: object, user: object = {}) =>
    JSON.stringify({
      'current-context': 'c',
      contexts: [{ name: 'c', context: { cluster: 'a', user: 'b' } }],
      clusters: [{ name: 'a', cluster }],
      users: [{ name: 'b', user }],
    });

  it('says what is wrong with it', () => {
    const server = 'https://127.0.0.1:1';
    const cases: readonly (readonly [string, RegExp])[] = [
      [config({ server }), /^none$/],
      ['a: [hidden', /neither YAML nor JSON$/],
      ['hidden', /is not a client configuration/],
      ['kind: Pod', /must be of kind Config/],
      ['kind: Config', /current-context must be set/],
      ['current-context: x', /contexts has no entry "x"/],
      [config({ server: 'http://127.0.0.1:1' }), /must be an https URL/],
      [config({ server: '' }), /must be an https URL/],
      [config({ server: 'https://u:hidden@h' }), /without credentials/],
      [
        config({ server, 'certificate-authority': 'none.pem' }),
        /certificate-authority .*none\.pem: there is no such file/,
      ],
      [config({ server, 'certificate-authority-data': 'aGlkZGVu' }), /no certificate in PEM/],
      [config({ server, 'insecure-skip-tls-verify': 'yes' }), /must be true or false/],
      [config({ server, 'proxy-url': 'http://hidden' }), /proxy-url is not supported/],
      [config({ server }, { 'client-key-data': 'aGlkZGVu' }), /need each other/],
      [config({ server }, { 'client-key-data': 'aGlkZGVu', 'client-certificate-data': 'aGlkZGVu' }), /can't be used/],
      [config({ server }, { exec: { command: 'hidden' } }), /no program is run for credentials \(exec\)/],
      [config({ server }, { token: 'hidden', username: 'u' }), /either a token or a password/],
      [config({ server }, { tokenFile: 'none' }), /tokenFile .*none: there is no such file/],
      [config({ server }, { token: 5 }), /token must be a string/],
    ];
    for (const [content, expected] of cases) {
      const problem = problemOf(content);
      assert.match(problem, expected, content);
      assert.doesNotMatch(problem, /hidden/);
    }
    assert.throws(() => loadClientConfig(join(directory, 'absent')), /absent: there is no such file/);
  });
});
