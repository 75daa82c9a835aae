import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { systemTimers } from '../../../base/machinery/timers.js';
import { runHook } from '../containers/hooks.js';
import { checkHttp } from './probe-action.js';

describe('a check by HTTP', () => {
  let server: Server;
  let port: number;
  const asked: string[] = [];
  before(async () => {
    server = createServer(answer).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    asked.push(url);
    const { pathname, searchParams } = new URL(url, 'http://x');
    const to = searchParams.get('to');
    if (pathname === '/redirect') response.writeHead(302, to === null ? {} : { location: to }).end('moved');
    else if (pathname === '/loop') response.writeHead(307, { location: '/loop' }).end();
    else if (pathname === '/endless') endless(response);
    else if (pathname === '/host') response.end(headers.host);
    else response.writeHead(pathname === '/bad' ? 500 : 200).end('fine');
  }

  function endless(response: ServerResponse): void {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more).on('error', () => undefined);
    more();
  }

  const check = (path: string, timeoutMs = 10_000) =>
    checkHttp({ path, port, httpHeaders: [] } as never, '127.0.0.1', port, 'test', timeoutMs);

  it('follows redirections to the same host, and takes the last answer', async () => {
    assert.deepEqual(await check('/redirect?to=/ok'), { outcome: 'success', output: 'fine' });
    assert.deepEqual(await check(`/redirect?to=http://127.0.0.1:${port}/bad`), {
      outcome: 'failure',
      output: 'HTTP probe failed with statuscode: 500',
    });
    assert.deepEqual(await check('/redirect?to=/redirect%3Fto=/bad'), {
      outcome: 'failure',
      output: 'HTTP probe failed with statuscode: 500',
    });
    assert.equal((await check('/loop')).output, 'Get "/loop": stopped after 10 redirects');
  });

  it('leads to no other host: such an answer counts, with a warning', async () => {
    for (const to of ['http://192.0.2.1/x', '//192.0.2.1/', 'https://example.invalid/']) {
      const result = await check(`/redirect?to=${encodeURIComponent(to)}`);
      assert.deepEqual(result, {
        outcome: 'success',
        output: 'moved',
        warning: 'Probe terminated redirects, Response body: moved',
      });
    }
    assert.equal((await check('/redirect')).outcome, 'success', 'without an address it is an answer');
  });

  it('reads no endless answer, and sends paths that need escapes', async () => {
    const { outcome, output } = await check('/endless');
    assert.equal(outcome, 'success');
    assert.ok(output.length <= 10_240);
    assert.equal((await check('/a b"{}?q= 1')).outcome, 'success');
    assert.equal(asked.at(-1), '/a%20b%22%7B%7D?q=%201');
  });

  it('names the address with its port, the usual one too', async () => {
    const { output } = await checkHttp({ path: '/x?y' } as never, '127.0.0.1', 80, 'test', 10_000);
    assert.match(
      output,
      /^Get "http:\/\/127\.0\.0\.1:80\/x\?y": dial tcp 127\.0\.0\.1:80: connect: connection refused$/,
    );
  });

  it('of a hook is done with any answer, and fails without one', async () => {
    const run = (path: string, to = port, scheme = 'HTTP') =>
      runHook({ httpGet: { path, port: to, scheme } } as never, {
        runtime: { exec: () => Promise.reject(new Error('no command')) },
        timers: systemTimers,
        containerId: 'c',
        container: { name: 'c', ports: [] } as never,
        address: '127.0.0.1',
        userAgent: 'test',
        signal: new AbortController().signal,
      });
    await run('/ok');
    await run('/bad');
    await run('/ok', port, 'HTTPS');
    assert.equal(asked.at(-1), '/ok', 'a server without TLS is asked without');
    await assert.rejects(run('/ok', 1), /connection refused/);
  });
});
