import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { after, before, it } from 'node:test';
import { send } from '../../../../test/e2e/support/raw-http.js';
import { freePort } from '../../../../test/e2e/support/test-cluster.js';
import { serverAuth, TestIdentity } from '../../../../test/support/test-authority.js';
import { Logger } from '../../../base/observability/logger.js';
import { AgentServer } from './agent-server.js';
import type { AgentServerDependencies } from './agent-server-dependencies.js';
import type { Caller } from './caller.js';
import { CallerRefusal } from './caller-refusal.js';

let server: AgentServer;
let url: string;
let authority: TestIdentity;
const friend: Caller = { name: 'friend', groups: [] };
/** The rights that callers were asked for. */
const asked: string[] = [];

before(async () => {
  authority = await TestIdentity.root('nodes');
  const own = await authority.issue({
    subject: [{ CN: ['node'] }],
    usages: [serverAuth],
    names: [{ type: 'ip', value: '127.0.0.1' }],
  });
  const port = await freePort();
  url = `https://127.0.0.1:${port}`;
  let release: () => void = () => undefined;
  // The first request is not answered before the second one has arrived.
  const second = new Promise<void>((resolve) => {
    release = resolve;
  });
  const authentication = {
    callerOf: async (request: IncomingMessage) => {
      if (request.url === '/healthz') await second;
      else release();
      if (request.url?.includes('/as-friend')) return friend;
      throw new CallerRefusal(401, 'Unauthorized');
    },
  };
  const authorization = {
    authorize: async (_caller: Caller, verb: string, path: string) => {
      asked.push(`${verb} ${path}`);
      throw new CallerRefusal(403, 'Forbidden');
    },
  };
  server = await AgentServer.start({
    ...{ address: '127.0.0.1', port, authentication, authorization },
    certificates: { certificate: own.cert, privateKey: own.key, clientAuthority: undefined },
    logger: new Logger('error', 'text', () => undefined),
  } as unknown as AgentServerDependencies);
});
after(() => server.stop());

it('AgentServer answers a request before an upgrade that the client sent behind it', async () => {
  const upgrade =
    'POST /exec/default/p/c?command=id&output=1 HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n';
  const { statuses, body } = await send(url, authority.cert, [`GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n${upgrade}`]);
  assert.deepEqual(statuses, [401, 401], body);
  // A refused upgrade says `Refused` instead of the usual reason.
  assert.doesNotMatch(body, /401 Refused/);
  const alone = await send(url, authority.cert, [upgrade]);
  assert.equal(alone.status, 401);
});

it('AgentServer asks for the right to create where a stream is opened, whatever the method', async () => {
  const webSocket =
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n';
  const sent = ['GET', 'POST'].map((method) => `${method} /as-friend HTTP/1.1\r\nHost: a\r\n${webSocket}\r\n`);
  for (const request of [...sent, 'GET /as-friend HTTP/1.1\r\nHost: a\r\n\r\n']) {
    assert.equal((await send(url, authority.cert, [request])).status, 403);
  }
  assert.deepEqual(asked, ['create /as-friend', 'create /as-friend', 'get /as-friend']);
});

it('AgentServer calls a path that is none a bad request', async () => {
  for (const path of ['//[/as-friend', 'https://a:b/as-friend', '/as-friend%'])
    for (const more of ['', 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n']) {
      const { status } = await send(url, authority.cert, [`GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`]);
      assert.equal(status, path.endsWith('%') ? 403 : 400, path);
    }
});
