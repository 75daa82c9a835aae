import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AdmissionOptions } from '../../base/config/admission.options.js';
import { noAdmissionConfiguration } from '../../base/config/admission-configuration.js';
import { ClusterOptions } from '../../base/config/cluster.options.js';
import { LoggingOptions } from '../../base/config/logging.options.js';
import { closedAuthorizer, closedRules } from '../../base/machinery/authorizer.js';
import { StatusError } from '../../base/machinery/status-error.js';
import { closedTokens } from '../../base/machinery/tokens.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { LargeRequestMessage, LargeRequestThreadSettings } from './large-request-messages.js';
import {
  LargeRequestThread,
  type LargeRequestThreadOptions,
  largeRequestThreadDefaults,
} from './large-request-thread.js';

const settings: LargeRequestThreadSettings = {
  cluster: { ...new ClusterOptions() },
  admission: { ...new AdmissionOptions() },
  admissionConfiguration: noAdmissionConfiguration,
  logging: { ...new LoggingOptions() },
  continueKey: new Uint8Array(32),
  maxBodyBytes: 3 * 2 ** 20,
  listPageSize: 500,
  deleteCollectionWorkers: 8,
  garbageCollector: false,
  tracing: undefined,
  issuer: undefined,
};

const path = '/api/v1/namespaces/default/configmaps';

/** A request with an object that the kind's rules refuse, so that no store is read. */
function request(user: string, body = '{"metadata":{"name":"-"}}'): LargeRequestMessage {
  return {
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json' },
    body: new Uint8Array(Buffer.from(body)),
    user: { name: user, uid: '', groups: [], extra: {} },
    impersonator: undefined,
    audit: undefined,
    definitionsAt: 0n,
  };
}

/** The storage that the thread's informers read: the namespace of the requests, without any changes. */
function oneNamespace(): Partial<Storage> {
  const name = 'default';
  const json = JSON.stringify({ kind: 'Namespace', apiVersion: 'v1', metadata: { name, uid: 'n' } });
  return {
    list: ({ resource }) => {
      const key = { resource, namespace: '', name };
      const items = resource === 'namespaces' ? [{ key, uid: 'n', resourceVersion: 1n, json }] : [];
      return Promise.resolve({ resourceVersion: 1n, items, more: false });
    },
    watch: () => {
      const closed = Promise.withResolvers<undefined>();
      return Promise.resolve({
        next: () => closed.promise,
        onFailure: () => undefined,
        close: () => closed.resolve(undefined),
      });
    },
  };
}

async function withThread(
  options: Partial<LargeRequestThreadOptions>,
  use: (thread: LargeRequestThread) => Promise<void>,
  storage: Partial<Storage> = {},
  given: LargeRequestThreadSettings = settings,
): Promise<void> {
  const parts = {
    storage: { ...oneNamespace(), ...storage } as Storage,
    authorizer: closedAuthorizer,
    rules: closedRules,
    tokens: closedTokens,
    issuer: undefined,
    hookCalls: { count: () => {}, countFailedOpen: () => {}, countConversion: () => {} },
  };
  const thread = new LargeRequestThread(
    given,
    parts,
    { warn: () => undefined },
    { ...largeRequestThreadDefaults, ...options },
  );
  try {
    await use(thread);
  } finally {
    await thread.stop();
  }
}

const never = new AbortController().signal;
const isStatus = (code: number) => (error: unknown) => error instanceof StatusError && error.code === code;

it('answers as the process would, one user not keeping the places of others', () =>
  withThread({}, async (thread) => {
    const own = Array.from({ length: 26 }, () => thread.answer(request('alice'), never));
    await assert.rejects(thread.answer(request('alice'), never), isStatus(429));
    const others = ['bob', 'carol'].map((user) => thread.answer(request(user), never));
    for (const { status, body } of await Promise.all([...own, ...others])) {
      assert.equal(status, 422);
      assert.match(Buffer.from(body).toString(), /"field":"metadata.name"/);
    }
  }));

it('lets the accounts of a namespace keep no more places than a user', () =>
  withThread({}, async (thread) => {
    const many = Array.from({ length: 120 }, (_, i) =>
      thread.answer(request(`system:serviceaccount:greedy:a-${i}`), never).then(
        ({ status }) => status,
        (error: unknown) => (error as StatusError).code,
      ),
    );
    const { status } = await thread.answer(request('system:serviceaccount:modest:a'), never);
    assert.equal(status, 422);
    const refused = (await Promise.all(many)).filter((code) => code === 429);
    assert.equal(refused.length, 120 - 26);
  }));

it('never takes the user of a request from its headers', () =>
  withThread({}, async (thread) => {
    const other = request('alice');
    const headers = {
      ...other.headers,
      'x-plinth-large-request': '1',
      authorization: 'Bearer x',
      'impersonate-user': 'admin',
    };
    const { status } = await thread.answer({ ...other, headers }, never);
    assert.equal(status, 422);
  }));

it('ends a thread that takes too much memory, and starts another one', () =>
  withThread({ memoryMb: 12 }, async (thread) => {
    for (let i = 0; i < 2; i++) {
      await assert.rejects(thread.answer(request('alice'), never), isStatus(504));
      assert.equal(thread.isRunning, false);
    }
  }));

it('forgets a request whose client left before its turn', () =>
  withThread({}, async (thread) => {
    const left = new AbortController();
    const before = [thread.answer(request('alice'), never), thread.answer(request('alice'), never)];
    const waiting = thread.answer(request('alice'), left.signal);
    left.abort();
    await assert.rejects(waiting, { name: 'AbortError' });
    assert.equal((await Promise.all(before)).length, 2);
  }));

it('ends its thread when idle', () =>
  withThread({ idleMs: 1 }, async (thread) => {
    assert.equal((await thread.answer(request('alice'), never)).status, 422);
    const deadline = performance.now() + 60_000;
    while (thread.isRunning) {
      assert.ok(performance.now() < deadline, 'the thread is still there');
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal((await thread.answer(request('alice'), never)).status, 422);
  }));

it('refuses running and later requests when it stops', () =>
  withThread({}, async (thread) => {
    const under = [thread.answer(request('alice'), never), thread.answer(request('bob'), never)];
    const settled = Promise.allSettled(under);
    await thread.stop();
    for (const outcome of await settled) assert.equal(outcome.status, 'rejected');
    await assert.rejects(thread.answer(request('alice'), never), isStatus(503));
  }));

it('makes no more decisions for a request whose client has left', async () => {
  const left = new AbortController();
  const asked = Promise.withResolvers<void>();
  let decided: unknown;
  const guaranteedUpdate: Storage['guaranteedUpdate'] = async (key, _options, decide) => {
    asked.resolve();
    await new Promise((ready) => left.signal.addEventListener('abort', ready));
    const json = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","uid":"u"}}';
    decided = await Promise.resolve(decide({ key, uid: 'u', json, resourceVersion: 1n })).catch((e: unknown) => e);
    throw decided;
  };
  const work = async (thread: LargeRequestThread) => {
    const patch = request('alice', '{"data":{"a":"b"}}');
    const headers = { 'content-type': 'application/merge-patch+json' };
    const answer = thread.answer({ ...patch, method: 'PATCH', url: `${path}/a`, headers }, left.signal);
    await asked.promise;
    left.abort();
    assert.equal((await answer).status, 504);
    assert.ok(decided instanceof Error);
  };
  await withThread({}, work, { guaranteedUpdate });
});

it('encodes events beside the requests of users, however many wait', () =>
  withThread({}, async (thread) => {
    const metadata = { name: 'a', namespace: 'default' };
    const json = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { a: 'b' } });
    const accepted = { mediaType: 'json', contentType: 'application/json', as: 'Table', pretty: false } as const;
    const event = {
      type: 'ADDED',
      group: '',
      version: 'v1',
      resource: 'configmaps',
      form: { accepted, include: 'None', withColumns: false },
      text: { json, resourceVersion: 7n },
      definitionsAt: 0n,
    } as const;
    const events = Array.from({ length: 200 }, () => thread.encode(event));
    const { status } = await thread.answer(request('alice'), never);
    assert.equal(status, 422);
    for (const bytes of await Promise.all(events)) {
      assert.match(bytes.toString(), /^\{"type":"ADDED","object":\{"kind":"Table".*"resourceVersion":"7".*\}\n$/);
    }
    await assert.rejects(thread.encode({ ...event, resource: 'nothing' }), /no resource nothing/);
  }));

it('refuses requests while its thread can not start, and keeps none of them', () =>
  withThread(
    {},
    async (thread) => {
      const answers = await Promise.allSettled(['alice', 'bob'].map((user) => thread.answer(request(user), never)));
      for (const answer of answers) assert.ok(answer.status === 'rejected' && isStatus(504)(answer.reason));
      await assert.rejects(thread.answer(request('alice'), never), isStatus(504));
    },
    {},
    { ...settings, cluster: undefined as never },
  ));
