import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastify from 'fastify';
import { notFoundError } from '../machinery/status-error.js';
import { Logger } from '../observability/logger.js';
import { HttpRequestContext } from './request-info/http-request-context.js';
import { StatusFilter } from './status.filter.js';

const services = { accept: undefined, kinds: { status: undefined } } as never;

/** The answer of a handler that has failed with `error`. */
async function answerOf(error: unknown, url: string): Promise<{ readonly body: string }> {
  const filter = new StatusFilter(new Logger('error', 'text', () => undefined), services);
  const app = fastify();
  app.get('/', (request, reply) => {
    request.plinthContext = new HttpRequestContext(request);
    filter.answer(error, request, reply);
    return reply;
  });
  const { body } = await app.inject(url);
  await app.close();
  return { body };
}

/** Lines of the log after a handler has failed with `error`. */
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
  it('end with one newline, compact or pretty', async () => {
    for (const url of ['/', '/?pretty=true']) {
      const { body } = await answerOf(notFoundError({ group: '', resource: 'pods' }, 'a'), url);
      assert.match(body, /[^\n]\n$/);
      assert.equal(JSON.parse(body).code, 404);
    }
  });
});

describe('the log of failed requests', () => {
  const abort = new DOMException('This operation was aborted', 'AbortError');

  it('says nothing of work that was given up because the client left or the time was over', async () => {
    const { lines, code } = await logOf(abort, true);
    assert.deepEqual(lines, []);
    assert.equal(code, 504);
  });

  it('has what failed otherwise', async () => {
    const { lines } = await logOf(abort, false);
    assert.match(lines.join(''), /request failed.*AbortError/);
    const other = await logOf(new Error('a fault'), true);
    assert.match(other.lines.join(''), /request failed.*a fault/);
    assert.equal(other.code, 500);
  });
});
