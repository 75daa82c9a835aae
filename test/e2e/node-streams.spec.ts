import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { dataHead, openFrame, SpdyReader } from '../../src/base/machinery/spdy/spdy-frames.js';
import { SpdyHeaderWriter } from '../../src/base/machinery/spdy/spdy-header-writer.js';
import { removeWithUs } from '../support/child-guard.js';
import { patchAnswer, WebhookServer } from '../support/webhook-server.js';
import { Kubectl } from './support/kubectl.js';
import { channelsOf, onChannel, podsPath, refusalOf, type Spdy, StreamScene } from './support/stream-scene.js';
import { eventually, tokens } from './support/test-cluster.js';

const v5 = 'v5.channel.k8s.io';
const v4 = 'v4.channel.k8s.io';
const success = { metadata: {}, status: 'Success' };
let scene: StreamScene;

before(async () => {
  scene = await StreamScene.start();
});
after(() => scene?.stop());

function exec(command: readonly string[], rest = 'stdout=true&stderr=true', pod = 'pod'): string {
  return `${podsPath}/${pod}/exec?${command.map((word) => `command=${encodeURIComponent(word)}`).join('&')}&${rest}`;
}

describe('logs over WebSocket', () => {
  it('are binary messages, or base64 for clients that ask for it, and end normally', async () => {
    for (const [protocol, isBinary] of [
      ['binary.k8s.io', true],
      ['base64.binary.k8s.io', false],
      ['', true],
    ] as const) {
      const socket = scene.open(`${podsPath}/pod/log?container=main&follow=true`, protocol === '' ? [] : [protocol]);
      const pieces: Buffer[] = [];
      socket.on('message', (data: Buffer, binary: boolean) => {
        assert.equal(binary, isBinary, protocol);
        pieces.push(binary ? data : Buffer.from(String(data), 'base64'));
      });
      const [code] = await once(socket, 'close');
      assert.equal(code, 1000);
      assert.equal(Buffer.concat(pieces).toString(), 'first\nsecond\n', protocol);
      assert.equal(socket.protocol, protocol);
    }
  });

  it('are refused by ordinary answers', async () => {
    const absent = await refusalOf(scene.open(`${podsPath}/absent/log`, ['binary.k8s.io']));
    assert.equal(absent.status, 404);
    const wrong = await refusalOf(scene.open(`${podsPath}/pod/log?container=other`, []));
    assert.equal(wrong.status, 400);
  });
});

describe('exec over WebSocket', () => {
  it('gives output, errors and the exit code of a command', async () => {
    for (const protocol of [v5, v4]) {
      const socket = scene.open(exec(['sh', '-c', 'echo out; echo err >&2; exit 3']), [protocol]);
      const { texts, closeCode } = await channelsOf(socket);
      assert.equal(socket.protocol, protocol);
      assert.deepEqual([texts[1], texts[2]], ['out\n', 'err\n']);
      const { status, reason, details } = JSON.parse(texts[3] ?? '');
      assert.deepEqual([status, reason], ['Failure', 'NonZeroExitCode']);
      assert.deepEqual(details.causes, [{ reason: 'ExitCode', message: '3' }]);
      assert.equal(closeCode, 1000);
    }
    const { method, url } = scene.agent.last('/exec/') ?? assert.fail('not asked');
    assert.equal(method, 'GET');
    assert.match(url, /^\/exec\/default\/pod\/main\?command=sh&command=-c&command=[^&]*&error=1&output=1$/);
  });

  it('passes the input on, and its end with v5', async () => {
    const socket = scene.open(exec(['cat'], 'stdin=true&stdout=true'), [v5, v4]);
    const done = channelsOf(socket);
    await once(socket, 'open');
    const text = 'x'.repeat(300_000);
    socket.send(onChannel(0, text.slice(0, 5)));
    socket.send(onChannel(0, text.slice(5)));
    socket.ping('still there');
    assert.equal(String((await once(socket, 'pong'))[0]), 'still there');
    socket.send(Buffer.from([255, 0]));
    const { texts } = await done;
    assert.equal(texts[1], text);
    assert.deepEqual(JSON.parse(texts[3] ?? ''), success);
  });

  it('sends the size of a terminal', async () => {
    const socket = scene.open(exec(['cat'], 'stdin=true&stdout=true&tty=true'), [v5]);
    const done = channelsOf(socket);
    await once(socket, 'open');
    socket.send(onChannel(4, '{"Width":80,"Height":24}\n'));
    await once(socket, 'message');
    socket.send(Buffer.from([255, 0]));
    assert.equal((await done).texts[1], 'resized {"Width":80,"Height":24}\n');
  });

  it('works with the older protocols, and attach does too', async () => {
    const encoded = scene.open(exec(['echo', 'hi']), ['v4.base64.channel.k8s.io']);
    const frames: string[] = [];
    encoded.on('message', (data: Buffer) => frames.push(data.toString()));
    await once(encoded, 'close');
    assert.equal(frames[0], `1${Buffer.from('hi\n').toString('base64')}`);
    for (const protocol of [v5, v4]) {
      const socket = scene.open(`${podsPath}/pod/attach?stdout=true&stdin=true`, [protocol]);
      const [data] = (await once(socket, 'message')) as [Buffer];
      assert.equal(data.toString(), '\x01attached\n');
      socket.close();
      await once(socket, 'close');
    }
  });
});

describe('exec over SPDY', () => {
  async function converse({ socket, rest }: Spdy, names: readonly string[], stdin: string): Promise<string[]> {
    const headers = new SpdyHeaderWriter();
    for (const [i, name] of names.entries()) socket.write(openFrame(2 * i + 1, headers.write({ streamtype: name })));
    const input = 2 * names.indexOf('stdin') + 1;
    socket.write(Buffer.concat([dataHead(input, stdin.length, true), Buffer.from(stdin)]));
    const texts = names.map(() => '');
    const reader = new SpdyReader();
    const take = (chunk: Buffer) => {
      for (const event of reader.read(chunk)) {
        if (event.type === 'data') texts[(event.stream - 1) / 2] += event.bytes.toString();
      }
    };
    take(rest);
    for await (const chunk of socket) take(chunk as Buffer);
    return texts;
  }

  it('goes through as it is, by POST and by GET', async () => {
    for (const method of ['POST', 'GET']) {
      const spdy = await scene.spdy(exec(['cat'], 'stdin=true&stdout=true'), [v4, 'channel.k8s.io'], method);
      assert.match(spdy.head, /^HTTP\/1\.1 101 /);
      assert.match(spdy.head, /x-stream-protocol-version: v4\.channel\.k8s\.io\r\n/i);
      const [status = '', , stdout] = await converse(spdy, ['error', 'stdin', 'stdout'], 'hello');
      assert.equal(stdout, 'hello');
      assert.deepEqual(JSON.parse(status), success);
    }
    const { headers } = scene.agent.last('/exec/') ?? assert.fail('not asked');
    assert.equal(headers['x-stream-protocol-version'], 'v4.channel.k8s.io, channel.k8s.io');
    assert.equal(headers.authorization, undefined);
  });
});

describe('kubectl', () => {
  let kubectl: Kubectl;
  before(() => {
    kubectl = new Kubectl(scene.first.kubeconfig);
  });
  const ok = async (args: readonly string[], input?: string) => {
    const { code, stdout, stderr } = await kubectl.runBeside(args, input);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  };

  it('executes, with input and exit codes', async () => {
    assert.equal(await ok(['exec', 'pod', '--', 'echo', 'hi']), 'hi\n');
    assert.equal(await ok(['exec', '-i', 'pod', '--', 'cat'], 'some input'), 'some input');
    const failed = await kubectl.runBeside(['exec', 'pod', '-c', 'main', '--', 'sh', '-c', 'echo no >&2; exit 7']);
    assert.deepEqual([failed.code, failed.stdout], [7, '']);
    assert.match(failed.stderr, /^no\n/);
    const refused = await kubectl.runBeside(['exec', 'pod', '-c', 'absent', '--', 'ls']);
    assert.match(refused.stderr, /container absent is not valid for pod pod/);
  });

  it('copies files', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-copies-'));
    removeWithUs(directory);
    const bytes = randomBytes(700_000);
    writeFileSync(join(directory, 'a'), bytes);
    await ok(['cp', join(directory, 'a'), `pod:${directory}/b`]);
    await ok(['cp', `pod:${directory}/b`, join(directory, 'c')]);
    assert.ok(readFileSync(join(directory, 'c')).equals(bytes));
  });

  it('reads logs', async () => {
    assert.equal(await ok(['logs', '-f', 'pod']), 'first\nsecond\n');
  });

  it('forwards ports', async () => {
    const web = createServer((request, response) => response.end(`asked ${request.url}`));
    web.listen(0, '127.0.0.1');
    await once(web, 'listening');
    const { port } = web.address() as AddressInfo;
    const child = kubectl.start(['port-forward', 'pod', `:${port}`, '--address', '127.0.0.1']);
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    const local = await eventually(() => /127\.0\.0\.1:(\d+) ->/.exec(text)?.[1], 'the port to be forwarded');
    for (const path of ['/a', '/b', '/c']) {
      assert.equal(await (await fetch(`http://127.0.0.1:${local}${path}`)).text(), `asked ${path}`);
    }
    child.kill();
    await once(child, 'exit');
    web.closeAllConnections();
    web.close();
    await eventually(() => scene.agent.openStreams === 0, 'the end of all streams');
  });
});

describe('portforward over WebSocket', () => {
  it('has a channel for the bytes of each port, and one for what goes wrong', async () => {
    const echo = createTcpServer((peer) => peer.pipe(peer));
    echo.listen(0, '127.0.0.1');
    await once(echo, 'listening');
    const { port } = echo.address() as AddressInfo;
    const socket = scene.open(`${podsPath}/pod/portforward?ports=${port}&ports=1`, [v4]);
    const done = channelsOf(socket);
    await once(socket, 'open');
    socket.send(onChannel(0, 'hello'));
    const texts: string[] = [];
    socket.on('message', (data: Buffer) => texts.push(data.subarray(1).toString()));
    await eventually(() => texts.includes('hello') && texts.some((text) => text.includes('ECONNREFUSED')), 'both');
    socket.close();
    await done;
    echo.close();
  });
});

describe('admission of streams', () => {
  const configurations = '/apis/admissionregistration.k8s.io/v1';
  let hooks: WebhookServer;
  const hook = (path: string) => ({
    name: `${path}.hooks.example`,
    clientConfig: { url: hooks.url(`/${path}`), caBundle: hooks.caBundle },
    rules: [
      { operations: ['CONNECT'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/exec', 'pods/portforward'] },
    ],
    failurePolicy: 'Ignore',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  });
  before(async () => {
    hooks = await WebhookServer.start();
  });
  after(async () => {
    for (const kind of ['mutating', 'validating']) {
      await scene.client.delete(`${configurations}/${kind}webhookconfigurations/streams`);
    }
    await eventually(async () => {
      const { texts } = await channelsOf(scene.open(exec(['echo', 'asked']), [v4]));
      return texts[1] === 'asked\n';
    }, 'the webhooks to be gone');
    await hooks.stop();
  });

  it('shows the options to webhooks, which may change them or refuse', async () => {
    hooks.on('/change', () => patchAnswer([{ op: 'replace', path: '/command', value: ['echo', 'changed'] }]));
    hooks.on('/refuse', ({ review }) => ({
      allowed: review.request.kind.kind !== 'PodPortForwardOptions',
      status: { message: 'no' },
    }));
    await scene.make(`${configurations}/mutatingwebhookconfigurations`, {
      metadata: { name: 'streams' },
      webhooks: [{ ...hook('change'), rules: [{ ...hook('change').rules[0], resources: ['pods/exec'] }] }],
    });
    await scene.make(`${configurations}/validatingwebhookconfigurations`, {
      metadata: { name: 'streams' },
      webhooks: [hook('refuse')],
    });
    await eventually(async () => {
      const { texts } = await channelsOf(scene.open(exec(['echo', 'asked']), [v4]));
      return texts[1] === 'changed\n' && hooks.seen('/refuse').length > 0;
    }, 'both webhooks to be called');
    const { request } = hooks.received.findLast(({ path }) => path === '/refuse')?.review ?? assert.fail('not asked');
    assert.deepEqual([request.operation, request.subResource, request.name], ['CONNECT', 'exec', 'pod']);
    assert.deepEqual(request.kind, { group: '', version: 'v1', kind: 'PodExecOptions' });
    const options = {
      kind: 'PodExecOptions',
      apiVersion: 'v1',
      stdout: true,
      stderr: true,
      command: ['echo', 'changed'],
    };
    assert.deepEqual(request.object, options);
    assert.deepEqual([request.oldObject, request.options, request.dryRun], [null, null, false]);
    const { status, message } = await refusalOf(scene.open(`${podsPath}/pod/portforward?ports=80`, [v4]));
    assert.deepEqual([status, /denied the request: no$/.test(message)], [400, true], message);
  });
});

describe('what cannot be', () => {
  it('is refused with the words of the field', async () => {
    await scene.makePod('two', ['main', 'side']);
    await scene.makePod('homeless', ['main'], {});
    await scene.makePod('idle', ['other']);
    const noPort = 'cannot convert to []int32: strconv.ParseUint: parsing';
    const cases: readonly [string, number, string][] = [
      [exec(['ls'], '', 'absent'), 404, 'pods "absent" not found'],
      [exec(['ls'], '', 'two'), 400, 'a container name must be specified for pod two, choose one of: [main side]'],
      [exec(['ls'], 'container=x', 'two'), 400, 'container x is not valid for pod two'],
      [exec(['ls'], '', 'homeless'), 400, 'pod homeless does not have a host assigned'],
      [`${podsPath}/homeless/portforward`, 400, 'pod homeless does not have a host assigned'],
      [`${podsPath}/pod/portforward?ports=x`, 400, `${noPort} "x": invalid syntax`],
      [`${podsPath}/pod/portforward?ports=1&ports=70000`, 400, `${noPort} "70000": value out of range`],
    ];
    for (const [path, code, text] of cases) {
      const { status, message } = await refusalOf(scene.open(path, [v4]));
      assert.deepEqual([status, message], [code, text]);
      const { status: posted, body } = await scene.client.post(path, undefined);
      assert.deepEqual([posted, body.message], [code, text]);
    }
    // A pod that has not started has no log yet.
    const { status: none, text: nothing } = await scene.client.get(`${podsPath}/homeless/log`);
    assert.deepEqual([none, nothing], [204, '']);
    const plain = await scene.client.post(exec(['ls']), undefined);
    assert.deepEqual([plain.status, plain.body.message], [400, 'Upgrade request required']);
    assert.equal((await scene.client.put(exec(['ls']), {})).status, 405);
  });

  it('gets a Status when the agent refuses', async () => {
    for (const protocol of [v5, v4]) {
      const refused = await refusalOf(scene.open(exec(['ls'], 'stdout=1', 'idle'), [protocol]));
      assert.deepEqual(refused, { status: 404, reason: 'NotFound', message: 'container not found ("other")' });
      const nothing = await refusalOf(scene.open(exec(['ls'], ''), [protocol]));
      assert.deepEqual(
        [nothing.status, nothing.message],
        [400, 'you must specify at least 1 of stdin, stdout, stderr'],
      );
    }
    await scene.makeNode('silent', 1);
    await scene.makePod('unreachable', ['main'], { nodeName: 'silent' });
    const { status, message } = await refusalOf(scene.open(exec(['ls'], 'stdout=1', 'unreachable'), [v5]));
    const text = 'error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused';
    assert.deepEqual([status, message], [500, text]);
  });

  it('is refused to users without the right to create', async () => {
    const headers = { authorization: `Bearer ${tokens.bob}` };
    assert.equal((await refusalOf(scene.open(exec(['ls']), [v4], { headers }))).status, 403);
  });

  it('is refused past the pod, through the agent of its node, to those who may only read there', async () => {
    const rbac = 'rbac.authorization.k8s.io';
    const metadata = { name: 'reads-of-nodes' };
    await scene.make(`/apis/${rbac}/v1/clusterroles`, {
      metadata,
      rules: [{ apiGroups: [''], resources: ['nodes/proxy'], verbs: ['get'] }],
    });
    await scene.make(`/apis/${rbac}/v1/clusterrolebindings`, {
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'reads-of-nodes' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'bob' }],
    });
    const authorization = `Bearer ${tokens.bob}`;
    const agent = '/api/v1/nodes/node/proxy';
    const reads = async () => (await scene.client.get(`${agent}/pods`, { token: tokens.bob })).status === 200;
    await eventually(reads, 'the right to read');
    const path = `${agent}/exec/default/pod/main?command=ls&output=1`;
    const asked = scene.agent.requests.length;
    const refused = await refusalOf(scene.open(path, [v4], { headers: { authorization } }));
    assert.equal(refused.status, 403, refused.message);
    assert.match((await scene.spdy(path, ['v4.channel.k8s.io'], 'GET', tokens.bob)).head, / 403 /);
    assert.equal(scene.agent.requests.length, asked);
  });
});
