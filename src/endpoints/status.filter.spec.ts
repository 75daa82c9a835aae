import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fastify from 'fastify';
import { Logger } from '../observability/logger.js';
import { HttpRequestContext } from './request-info/http-request-context.js';
import { StatusFilter } from './status.filter.js';

const services = { accept: undefined, kinds: { status: undefined } } as never;

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
