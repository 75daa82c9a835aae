import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesOfRequest } from '../../../../test/support/request-attributes.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import { vendorNames } from '../../../base/machinery/vendor.js';
import { WebhookAuthorizer, type WebhookAuthorizerSettings } from './webhook.authorizer.js';

const alice: UserInfo = { name: 'alice', uid: '', groups: ['devs'], extra: {} };

/** A webhook whose responses come from a function, and a manual clock. */
class Bench {
  readonly asked: Record<string, unknown>[] = [];
  readonly problems: string[] = [];
  now = 0;
  answer: () => unknown = () => ({ kind: 'SubjectAccessReview', status: { allowed: true } });
  readonly authorizer: WebhookAuthorizer;

  constructor(settings: Partial<WebhookAuthorizerSettings> = {}) {
    const note = (_text: string, fields?: object) =>
      this.problems.push(String((fields as { problem?: string } | undefined)?.problem));
    const defaults = { version: 'v1', authorizedTtlMs: 300, unauthorizedTtlMs: 30, maxCachedAnswers: 100 } as const;
    this.authorizer = new WebhookAuthorizer(
      { ...defaults, totalTimeoutMs: 1000, ...settings },
      {
        client: {
          post: async (value) => {
            this.asked.push(value as Record<string, unknown>);
            return this.answer();
          },
        },
        names: vendorNames('k8s.io'),
        clock: { now: () => this.now },
        logger: { error: note, warn: note, info: note },
      },
    );
  }

  async ask(request = 'GET /api/v1/pods', user = alice): Promise<string> {
    return (await this.authorizer.authorize(attributesOfRequest(user, request))).decision;
  }
}

const status = (fields: object) => () => ({ kind: 'SubjectAccessReview', status: fields });

describe('the webhook authorizer', () => {
  it('asks in either version', async () => {
    const old = new Bench({ version: 'v1beta1' });
    await old.ask('GET /api/v1/nodes/n');
    assert.deepEqual(old.asked[0], {
      kind: 'SubjectAccessReview',
      apiVersion: 'authorization.k8s.io/v1beta1',
      metadata: {},
      spec: {
        resourceAttributes: { verb: 'get', version: 'v1', resource: 'nodes', name: 'n' },
        user: 'alice',
        group: ['devs'],
      },
      status: { allowed: false },
    });
    const bench = new Bench();
    await bench.ask('DELETE /x/y');
    assert.deepEqual(bench.asked[0]?.spec, {
      nonResourceAttributes: { path: '/x/y', verb: 'delete' },
      user: 'alice',
      groups: ['devs'],
    });
  });

  it('asks with the selectors of a request, and keeps answers to different ones apart', async () => {
    const bench = new Bench();
    const fields = (selector: string) => `fieldSelector=${encodeURIComponent(selector)}`;
    const labels = (selector: string) => `labelSelector=${encodeURIComponent(selector)}`;
    const pods = 'GET /api/v1/pods';
    await bench.ask(`${pods}?${fields('spec.nodeName=n,a!=b')}&${labels('a=b,c notin (e,d),f,!g,h>1')}`);
    const { resourceAttributes } = (bench.asked[0] as { spec: object }).spec as { resourceAttributes: object };
    assert.deepEqual(resourceAttributes, {
      verb: 'list',
      version: 'v1',
      resource: 'pods',
      fieldSelector: {
        requirements: [
          { key: 'spec.nodeName', operator: 'In', values: ['n'] },
          { key: 'a', operator: 'NotIn', values: ['b'] },
        ],
      },
      labelSelector: {
        requirements: [
          { key: 'a', operator: 'In', values: ['b'] },
          { key: 'c', operator: 'NotIn', values: ['d', 'e'] },
          { key: 'f', operator: 'Exists' },
          { key: 'g', operator: 'DoesNotExist' },
        ],
      },
    });
    for (const query of ['', fields('a=b'), fields('a=c'), labels('a=b'), labels('a=c'), fields('broken')]) {
      await bench.ask(`${pods}?${query}`);
    }
    // For a selector that can't be parsed, the review is the same as without a selector.
    assert.equal(bench.asked.length, 6);
  });

  it('caches allowing and other answers for their own time to live', async () => {
    const bench = new Bench();
    assert.equal(await bench.ask(), 'allow');
    bench.now = 299;
    assert.equal(await bench.ask(), 'allow');
    assert.equal(bench.asked.length, 1);
    bench.now = 300;
    bench.answer = status({ allowed: false });
    assert.equal(await bench.ask(), 'noOpinion');
    bench.now = 329;
    assert.equal(await bench.ask(), 'noOpinion');
    assert.equal(bench.asked.length, 2);
    bench.now = 330;
    bench.answer = status({ denied: true });
    assert.equal(await bench.ask(), 'deny');
    assert.equal(await bench.ask(), 'deny');
    assert.equal(bench.asked.length, 3);
  });

  it('caches nothing with a time to live of zero', async () => {
    const bench = new Bench({ authorizedTtlMs: 0, unauthorizedTtlMs: 0 });
    await bench.ask();
    await bench.ask();
    assert.equal(bench.asked.length, 2);
  });

  it('never gives one user the answer of another', async () => {
    const bench = new Bench();
    const users: UserInfo[] = [
      alice,
      { ...alice, name: 'alic' },
      { ...alice, uid: 'e' },
      { ...alice, groups: [] },
      { ...alice, groups: ['devs', ''] },
      { ...alice, groups: ['dev', 's'] },
      { ...alice, groups: ['devs"],"extra":{"a":["b"]'] },
      { ...alice, extra: { a: ['b'] } },
      { ...alice, extra: { a: ['b', ''] } },
      { ...alice, extra: { ab: [''] } },
    ];
    const requests = [
      'GET /api/v1/pods',
      'GET /api/v1/pods?watch=1',
      'GET /api/v1/namespaces/a/pods',
      'GET /api/v1/namespaces/a/pods/b',
      'GET /api/v1/namespaces/a/pods/b/log',
      'GET /apis/a/v1/pods',
      'GET /a',
    ];
    for (const user of users) for (const request of requests) await bench.ask(request, user);
    assert.equal(bench.asked.length, users.length * requests.length);
  });

  it('merges equal concurrent questions', async () => {
    const bench = new Bench();
    const open: ((answer: unknown) => void)[] = [];
    bench.answer = () => new Promise((resolve) => open.push(resolve));
    const answers = Promise.all([bench.ask(), bench.ask(), bench.ask('GET /api/v1/nodes')]);
    assert.equal(bench.asked.length, 2);
    open[0]?.({ kind: 'SubjectAccessReview', status: { denied: true } });
    open[1]?.({ kind: 'SubjectAccessReview', status: { allowed: true } });
    assert.deepEqual(await answers, ['deny', 'deny', 'allow']);
    assert.equal(await bench.ask(), 'deny');
    assert.equal(bench.asked.length, 2);
  });

  it('asks again when earlier questions got no answer', async () => {
    const bench = new Bench();
    bench.answer = () => Promise.reject(new Error('away'));
    const results = await Promise.allSettled([bench.ask(), bench.ask()]);
    assert.deepEqual(
      results.map((result) => result.status),
      ['rejected', 'rejected'],
    );
    bench.answer = status({ allowed: true });
    assert.equal(await bench.ask(), 'allow');
    assert.equal(bench.asked.length, 2);
  });

  it('evicts the least recently used answer, and never caches questions that are too long', async () => {
    const bench = new Bench({ maxCachedAnswers: 2 });
    for (const path of ['/a', '/b', '/a', '/c', '/a', '/b']) await bench.ask(`GET ${path}`);
    assert.deepEqual(
      bench.asked.map(
        (review) => (review.spec as { nonResourceAttributes: { path: string } }).nonResourceAttributes.path,
      ),
      ['/a', '/b', '/c', '/b'],
    );
    const long = `GET /${'x'.repeat(10_000)}`;
    await bench.ask(long);
    await bench.ask(long);
    assert.equal(bench.asked.length, 6);
  });

  it('treats failures and invalid answers as no answer, and caches none of them', async () => {
    const bench = new Bench();
    const strange = [
      undefined,
      null,
      'yes',
      [],
      {},
      { status: { allowed: true } },
      { kind: 'SubjectAccessReview' },
      { kind: 'SubjectAccessReview', status: { allowed: 'true' } },
      { kind: 'SubjectAccessReview', status: { allowed: 1 } },
      { kind: 'SubjectAccessReview', status: { allowed: true, denied: 'no' } },
      { kind: 'SubjectAccessReview', status: { allowed: true, reason: {} } },
    ];
    for (const answer of strange) {
      bench.answer = () => answer;
      await assert.rejects(bench.ask(), /the authorization webhook did not answer/);
    }
    assert.deepEqual(bench.problems, ['its answer is not an access review'], 'told once');
    bench.answer = status({ allowed: true });
    assert.equal(await bench.ask(), 'allow');
  });

  it('hides its address from clients, and logs it', async () => {
    const bench = new Bench();
    bench.answer = () => {
      throw new Error('https://secret.example:1 is down');
    };
    await assert.rejects(bench.ask(), (error: Error) => !error.message.includes('secret.example'));
    assert.deepEqual(bench.problems, ['https://secret.example:1 is down']);
  });

  it('treats a contradiction as a denial', async () => {
    const bench = new Bench();
    bench.answer = status({ allowed: true, denied: true });
    assert.equal(await bench.ask(), 'deny');
    assert.deepEqual(bench.problems, ['the webhook both allows and denies']);
  });
});
