import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastify, { type LightMyRequestResponse } from 'fastify';
import type { AuthorizerAttributes } from '../../base/machinery/authorizer.js';
import { deniedError } from '../../base/machinery/denied-error.js';
import { forbiddenError, notFoundError, statedError, timeoutError } from '../../base/machinery/status-error.js';
import { vendorNames } from '../../base/machinery/vendor.js';
import { Logger } from '../../base/observability/logger.js';
import { WebhookMistake } from '../admission/webhooks/webhook-mistake.js';
import { AcceptNegotiator } from './negotiation/accept.js';
import { remoteUnavailableError } from './remote/handle-remote.js';
import { HttpRequestContext } from './request-info/http-request-context.js';
import { StatusFilter } from './status.filter.js';

const services = { accept: new AcceptNegotiator(vendorNames('k8s.io')), kinds: { status: undefined } } as never;

/** The response after a handler has thrown `error`. */
async function answerOf(
  error: unknown,
  url: string,
  accept?: string,
): Promise<Pick<LightMyRequestResponse, 'body' | 'headers'>> {
  const filter = new StatusFilter(new Logger('error', 'text', () => undefined), services);
  const app = fastify();
  app.get('/', (request, reply) => {
    request.plinthContext = new HttpRequestContext(request);
    filter.answer(error, request, reply);
    return reply;
  });
  const { body, headers } = await app.inject({ url, headers: accept === undefined ? {} : { accept } });
  await app.close();
  return { body, headers };
}

/** Log lines after a handler has thrown `error`. */
async function logOf(error: unknown, isOver: boolean): Promise<{ readonly lines: string[]; readonly code: number }> {
  const lines: string[] = [];
  const filter = new StatusFilter(new Logger('warn', 'text', (line) => lines.push(line)), services);
  const app = fastify();
  app.get('/', (request, reply) => {
    const context = new HttpRequestContext(request);
    request.plinthContext = context;
    if (isOver) context.abort();
    filter.answer(error, request, reply);
    return reply;
  });
  const { statusCode } = await app.inject('/');
  await app.close();
  return { lines, code: statusCode };
}

describe('errors', () => {
  it('end with a newline if compact, and with the brace if indented', async () => {
    for (const [url, end] of [
      ['/', /[^\n]\n$/],
      ['/?pretty=true', /\n\}$/],
    ] as const) {
      const { body } = await answerOf(notFoundError({ group: '', resource: 'pods' }, 'a'), url);
      assert.match(body, end);
      assert.equal(JSON.parse(body).code, 404);
    }
  });

  it('are indented where the client accepts no form that errors have', async () => {
    const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    for (const [accept, isIndented] of [
      [undefined, false],
      ['application/json', false],
      [`${table},application/json`, false],
      [table, true],
      ['image/png', true],
    ] as const) {
      const { body } = await answerOf(notFoundError({ group: '', resource: 'pods' }, 'a'), '/', accept);
      assert.equal(body.includes('\n  "kind": "Status"'), isIndented, String(accept));
    }
  });

  it('are not to be taken for a page when the user has no right to a path or an object', async () => {
    const user = { name: 'bob', uid: '', groups: [], extra: {} };
    const info = { verb: 'get', path: '/<b>', apiGroup: '', namespace: '', resource: '', subresource: '', name: '' };
    const nodes = { ...info, path: '/api/v1/nodes', apiVersion: 'v1', resource: 'nodes' };
    for (const attributes of [
      { ...info, user, apiVersion: '', isResourceRequest: false },
      { ...nodes, user, isResourceRequest: true },
    ]) {
      const { headers } = await answerOf(deniedError(attributes as AuthorizerAttributes, ''), '/');
      assert.equal(headers['x-content-type-options'], 'nosniff');
    }
    const { headers } = await answerOf(forbiddenError({ group: '', resource: 'pods' }, 'a', 'exceeded quota'), '/');
    assert.equal(headers['x-content-type-options'], undefined);
  });
});

describe('the log of failed requests', () => {
  const abort = new DOMException('This operation was aborted', 'AbortError');

  it('says nothing of work that was given up because the client left or the time was over', async () => {
    const { lines, code } = await logOf(abort, true);
    assert.deepEqual(lines, []);
    assert.equal(code, 504);
  });

  it('says nothing of what the answer has said, nor of calls that were given up with the request', async () => {
    for (const error of [remoteUnavailableError('no way to the node'), statedError('the range is full')]) {
      assert.deepEqual((await logOf(error, false)).lines, []);
    }
    const late = timeoutError('the hook was too slow', 0, abort);
    assert.deepEqual((await logOf(late, true)).lines, []);
    assert.match((await logOf(late, false)).lines.join(''), /ERROR request failed/);
  });

  it('warns of what hooks did wrong, without a stack', async () => {
    const { lines, code } = await logOf(new WebhookMistake('the patch of a hook does not apply'), false);
    assert.equal(code, 500);
    assert.match(lines.join(''), /^\S+ WARN {2}request failed.*the patch of a hook does not apply/);
    assert.doesNotMatch(lines.join(''), /\bat .*\.js/);
  });

  it('has what failed otherwise', async () => {
    const { lines } = await logOf(abort, false);
    assert.match(lines.join(''), /request failed.*AbortError/);
    const other = await logOf(new Error('a fault'), true);
    assert.match(other.lines.join(''), /request failed.*a fault/);
    assert.equal(other.code, 500);
  });
});
