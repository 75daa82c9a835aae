import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { serverAuth, TestIdentity } from '../../../../../test/support/test-authority.js';
import { systemTimers } from '../../../../base/machinery/timers.js';
import { signDetached } from '../../../../loops/controllers/bootstrap-signer/detached-jws.js';
import { publicKeyPin } from '../public-key-pin.js';
import { TokenText } from '../token/token-text.js';
import { discoverCluster } from './discover-cluster.js';

const token = TokenText.parse('abcdef.0123456789abcdef') as TokenText;
const path = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

describe('finding a cluster', () => {
  let authority: TestIdentity;
  let server: Server;
  let port: number;
  let answer: Answer;
  const requests: IncomingMessage[] = [];

  before(async () => {
    authority = await TestIdentity.root('cluster');
    ({ server, port } = await serve(authority));
  });
  after(() => server.close().closeAllConnections());

  async function serve(root: TestIdentity): Promise<{ server: Server; port: number }> {
    const names = [{ type: 'ip', value: '127.0.0.1' }] as const;
    const own = await root.issue({ subject: [{ CN: ['api'] }], usages: [serverAuth], names });
    const made = createServer({ cert: own.cert, key: own.key }, (request, response) => {
      requests.push(request);
      answer(request, response);
    });
    made.listen(0, '127.0.0.1');
    await once(made, 'listening');
    return { server: made, port: (made.address() as AddressInfo).port };
  }

  const pin = (identity: TestIdentity) => publicKeyPin(new X509Certificate(identity.cert));

  const document = (identity: TestIdentity, url = `https://127.0.0.1:${port}`) =>
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: '',
          cluster: { server: url, 'certificate-authority-data': Buffer.from(identity.cert).toString('base64') },
        },
      ],
    });

  const map =
    (kubeconfig: string, signature = signDetached(kubeconfig, token.id, token.secret), at = path): Answer =>
    (request, response) => {
      if (request.url !== at) response.writeHead(404).end('{}');
      else response.end(JSON.stringify({ data: { kubeconfig, 'jws-kubeconfig-abcdef': signature } }));
    };

  const discover = (pins: readonly string[], timeoutMs = 30_000, at = port) =>
    discoverCluster(
      { endpoint: { host: '127.0.0.1', port: at }, token, pins, timeoutMs, timers: systemTimers, onWait: () => {} },
      new AbortController().signal,
    );

  it('trusts what is signed with the token, and has the authority with the pin', async () => {
    answer = map(document(authority));
    const found = await discover([pin(authority)]);
    assert.deepEqual(
      [found.server, found.authority, found.publicNamespace],
      [`https://127.0.0.1:${port}`, authority.cert, 'kube-public'],
    );
    assert.ok(requests.every(({ headers }) => headers.authorization === undefined));
  });

  it('finds the names of this project, and signatures with the whole token', async () => {
    const text = document(authority);
    const signature = signDetached(text, token.id, token.toString());
    answer = map(text, signature, path.replace('kube-public', 'control-public'));
    assert.equal((await discover([])).publicNamespace, 'control-public');
  });

  it('does not trust forged information, nor a signature of another token', async () => {
    const text = document(authority);
    answer = map(text, signDetached(document(authority, 'https://evil.example'), token.id, token.secret));
    await assert.rejects(discover([pin(authority)]), /made with another token/);
    answer = map(text, signDetached(text, 'ghijkl', token.secret));
    await assert.rejects(discover([pin(authority)]), /is that of another token/);
  });

  it('does not trust another authority than that of the pin', async () => {
    const other = await TestIdentity.root('other');
    answer = map(document(authority));
    await assert.rejects(discover([pin(other)]), new RegExp(`none of the pins: it is ${pin(authority)}`));
  });

  it('does not trust a server that replays what it has no key for, even without a pin', async () => {
    const attacker = await serve(await TestIdentity.root('attacker'));
    try {
      answer = map(document(authority));
      for (const pins of [[pin(authority)], []]) {
        await assert.rejects(
          discover(pins, 30_000, attacker.port),
          /can't show a certificate of the cluster's authority/,
        );
      }
    } finally {
      attacker.server.close().closeAllConnections();
    }
  });

  it('does not trust information that changes between two questions', async () => {
    let count = 0;
    answer = (request, response) => {
      count += 1;
      map(document(authority, `https://127.0.0.1:${port + (count > 1 ? 1 : 0)}`))(request, response);
    };
    await assert.rejects(discover([pin(authority)]), /another one over the verified connection/);
  });

  it('follows no redirect', async () => {
    answer = (_request, response) => response.writeHead(302, { location: `https://127.0.0.1:${port}/other` }).end();
    await assert.rejects(discover([pin(authority)], 0), /points to another one, which is not followed/);
    assert.ok(requests.every(({ url }) => url !== '/other'));
  });

  it('reads no endless answer', async () => {
    let written = 0;
    answer = (_request, response) => {
      const more = () => {
        written += 65_536;
        if (!response.destroyed && response.write('x'.repeat(65_536))) setImmediate(more);
      };
      response.on('drain', more).on('error', () => undefined);
      more();
    };
    await assert.rejects(discover([pin(authority)], 0), /the answer has more than/);
    assert.ok(written < 64 * 1024 * 1024, `${written}`);
  });

  it('waits for a signature, and says in the end that there is none', async () => {
    let count = 0;
    const text = document(authority);
    answer = (request, response) => {
      count += 1;
      if (count === 1) response.end(JSON.stringify({ data: { kubeconfig: text } }));
      else map(text)(request, response);
    };
    assert.equal((await discover([pin(authority)])).server, `https://127.0.0.1:${port}`);
    answer = (_request, response) => response.end(JSON.stringify({ data: { kubeconfig: text } }));
    await assert.rejects(discover([pin(authority)], 0), /abcdef has no signature in kube-public: it is unknown/);
  });

  it('refuses answers of another form', async () => {
    for (const [kubeconfig, expected] of [
      ['a: [', /neither YAML nor JSON/],
      ['{}', /does not name exactly one cluster/],
      [document(authority, 'http://127.0.0.1'), /no https URL/],
      [document(authority).replace(/"certificate-authority-data":"[^"]*"/, '"x":1'), /has no authority/],
    ] as const) {
      answer = map(kubeconfig);
      await assert.rejects(discover([]), expected);
    }
    answer = (_request, response) => response.end('[]');
    await assert.rejects(discover([], 0), /answers with something else/);
  });
});
