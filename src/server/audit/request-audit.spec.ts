import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../base/machinery/vendor.js';
import { parseRequestInfo } from '../endpoints/request-info/request-info.js';
import { AuditEvent, type AuditInfo } from './audit-event.js';
import { legacyLine } from './legacy-line.js';
import { readPolicy } from './policy-document.js';
import { type AuditedRequest, RequestAudit } from './request-audit.js';

const names = vendorNames('k8s.io');
const maps = '/api/v1/namespaces/a/configmaps';
const alice = { name: 'alice', uid: '', groups: ['system:authenticated'], extra: {} };
const everything = [{ level: 'RequestResponse' }];

/** A request and the events of its trail, under the rules of a policy. */
function trail(
  rules: readonly object[] = everything,
  { method = 'POST', path = maps, headers = {} }: { method?: string; path?: string; headers?: object } = {},
) {
  const policy = readPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }, 'audit.k8s.io/v1');
  const events: AuditInfo[] = [];
  const sent = new Map<string, string>();
  const response = {
    statusCode: 200,
    headersSent: false,
    setHeader: (name: string, value: string) => sent.set(name.toLowerCase(), value),
  };
  const context = {
    requestInfo: parseRequestInfo(method, path, new URLSearchParams()),
    user: alice,
    impersonator: undefined,
    userAgent: 'test',
    receivedAt: 1_700_000_000_000,
    auditAnnotations: new Map<string, string>(),
    warnings: [],
    isLongRunning: false,
    isAborted: false,
  };
  const request = { context, raw: { url: path, headers }, response } as unknown as AuditedRequest;
  const auditor = {
    names,
    ruleFor: (subject: Parameters<typeof policy.ruleFor>[0]) => policy.ruleFor(subject),
    emit: (info: AuditInfo) => {
      events.push(info);
      return undefined;
    },
  };
  return { audit: new RequestAudit(auditor, request), events, sent, context, response, request };
}

const stages = (events: readonly AuditInfo[]) => events.map(({ stage }) => stage);
const documentOf = (info: AuditInfo | undefined) => JSON.parse(new AuditEvent(info as AuditInfo, names).document);

describe('the trail of a request', () => {
  it('ends with Panic when a fault of the program ended the request', () => {
    const { audit, events, response } = trail();
    void audit.identified();
    audit.failed();
    audit.answered(500, { kind: 'Status', status: 'Failure', reason: 'InternalError' });
    response.statusCode = 500;
    void audit.ended();
    audit.closed();
    assert.deepEqual(stages(events), ['RequestReceived', 'Panic']);
    assert.deepEqual(documentOf(events[1]).responseStatus, {
      metadata: {},
      status: 'Failure',
      reason: 'InternalError',
      code: 500,
    });
    const omitted = trail([{ level: 'Metadata', omitStages: ['RequestReceived', 'Panic'] }]);
    void omitted.audit.identified();
    omitted.audit.failed();
    void omitted.audit.ended();
    assert.deepEqual(stages(omitted.events), []);
  });

  it('takes over from another thread what failed there, and what was too long there', () => {
    const thread = trail();
    thread.audit.follow({ level: 'RequestResponse', omitManagedFields: true });
    thread.audit.requested({ metadata: { name: 'm' }, data: { k: 'x'.repeat(2 * 1024 * 1024) } });
    thread.audit.failed();
    thread.audit.answered(500, { kind: 'Status', status: 'Failure', reason: 'InternalError' });
    assert.equal(thread.audit.ended(), undefined);
    const { audit, events } = trail([{ level: 'RequestResponse', omitManagedFields: true }]);
    void audit.identified();
    audit.join(structuredClone(thread.audit.part()));
    void audit.ended();
    assert.deepEqual(stages(events), ['RequestReceived', 'Panic']);
    const { annotations, objectRef, requestObject } = documentOf(events[1]);
    assert.equal(annotations['audit.k8s.io/truncated'], 'true');
    assert.equal(objectRef.name, 'm');
    assert.equal(requestObject, undefined);
  });

  it('names every request whose policy was asked in its answer, whether it is noted or not', () => {
    for (const level of ['None', 'Metadata']) {
      const { audit, sent } = trail([{ level }], { headers: { 'audit-id': 'mine-1' } });
      void audit.identified();
      assert.equal(sent.get('audit-id'), 'mine-1', level);
    }
  });

  it('distinguishes a client that left from an answer that the server has cut', () => {
    for (const [isAborted, words] of [
      [false, /client left/],
      [true, /server cut/],
    ] as const) {
      const { audit, events, response, context } = trail(everything, { method: 'GET' });
      void audit.identified();
      audit.answeredPiece(200, '{"items":[');
      response.headersSent = true;
      context.isAborted = isAborted;
      audit.closed();
      const { code, message } = (events.at(-1) as AuditInfo).response as { code: number; message: string };
      assert.equal(code, 200);
      assert.match(message, words);
    }
  });

  it('leaves an answer out of which only a part was made', () => {
    for (const path of [maps, '/api/v1/namespaces/a/secrets']) {
      const { audit, events } = trail(everything, { method: 'GET', path });
      void audit.identified();
      audit.answeredPiece(200, '{"items":[{"data":{"a":"');
      audit.closed();
      const { responseObject, annotations, stage } = documentOf(events.at(-1));
      assert.equal(stage, 'ResponseComplete');
      assert.equal(responseObject, undefined);
      assert.equal(annotations['audit.k8s.io/truncated'], 'true');
    }
  });

  it('shows an answer of parts once it is whole, and the error that came in its place', () => {
    const whole = trail(everything, { method: 'GET' });
    void whole.audit.identified();
    for (const piece of ['{"items":', '[]}']) whole.audit.answeredPiece(200, piece);
    whole.audit.answeredAll();
    void whole.audit.ended();
    const { responseObject, annotations } = documentOf(whole.events.at(-1));
    assert.deepEqual(responseObject, { items: [] });
    assert.equal(annotations, undefined);
    const failed = trail(everything, { method: 'GET' });
    void failed.audit.identified();
    failed.audit.answeredPiece(200, '{"items":[');
    failed.audit.answered(504, { kind: 'Status', status: 'Failure', reason: 'Timeout' });
    void failed.audit.ended();
    assert.equal(documentOf(failed.events.at(-1)).responseObject.reason, 'Timeout');
  });

  it('waits for the outcome of a write whose client has left', () => {
    const { audit, events } = trail();
    void audit.identified();
    audit.entered();
    audit.closed();
    assert.deepEqual(stages(events), ['RequestReceived']);
    audit.answered(201, { metadata: { name: 'made' } });
    audit.left();
    assert.deepEqual(stages(events), ['RequestReceived', 'ResponseComplete']);
    assert.equal(events[1]?.response?.code, 201);
    assert.equal(events[1]?.name, 'made');
  });

  it('takes managed fields out of bodies of every shape', () => {
    const metadata = { name: 'm', managedFields: [{ manager: 'me' }] };
    const shapes = [
      { metadata },
      { kind: 'ConfigMapList', items: [{ metadata }, { metadata }] },
      { kind: 'Table', rows: [{ cells: ['m'], object: { metadata } }] },
    ];
    for (const shape of shapes) {
      const { audit, events } = trail([{ level: 'RequestResponse', omitManagedFields: true }], { method: 'GET' });
      void audit.identified();
      const given = structuredClone(shape);
      audit.answered(200, given);
      void audit.ended();
      assert.deepEqual(given, shape, 'the answer itself is not changed');
      const noted = JSON.stringify(documentOf(events.at(-1)).responseObject);
      assert.ok(noted.includes('"name":"m"'));
      assert.ok(!noted.includes('managedFields'), noted);
    }
  });

  it('hides the tokens that reviews and new tokens of service accounts hold', () => {
    for (const path of [
      '/api/v1/namespaces/a/serviceaccounts/worker/token',
      '/apis/authentication.k8s.io/v1/tokenreviews',
      '/apis/authentication.k8s.io/v1beta1/tokenreviews',
    ]) {
      const { audit, events } = trail(everything, { path });
      void audit.identified();
      audit.requested({ spec: { token: 'never-shown', audiences: ['a'] } });
      audit.answered(201, { spec: { token: 'never-shown' }, status: { token: 'never-shown', error: 'x' } });
      void audit.ended();
      const { document } = new AuditEvent(events.at(-1) as AuditInfo, names);
      assert.ok(document.includes('"audiences":["a"]') && document.includes('(hidden)'), path);
      assert.ok(!document.includes('never-shown'), path);
    }
  });

  it('begins and ends a request that becomes another protocol', () => {
    const { audit, events, context } = trail([{ level: 'RequestResponse', omitStages: ['RequestReceived'] }], {
      path: '/api/v1/namespaces/a/pods/p/exec',
    });
    context.isLongRunning = true;
    void audit.identified();
    audit.upgraded();
    assert.deepEqual(stages(events), ['ResponseStarted']);
    audit.closed();
    assert.deepEqual(
      events.map(({ stage, response }) => [stage, response?.code, response?.message]),
      [
        ['ResponseStarted', 101, ''],
        ['ResponseComplete', 101, ''],
      ],
    );
  });

  it('writes no character into a line of text that could steer a terminal or end the line', () => {
    const { audit, events, context } = trail();
    context.userAgent = 'a\u001b[2J\u009b31m\u0085\u2028\u2029\u007f"b\r\nAUDIT: id="forged"';
    void audit.identified();
    const line = legacyLine(events[0] as AuditInfo);
    assert.ok(
      [...line].every((character) => /[\x20-\x7e]/.test(character)),
      line,
    );
    assert.match(line, /\\u009b31m\\u0085\\u2028\\u2029\\u007f/);
  });
});
