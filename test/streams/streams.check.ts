/*
 * The streams of many clients through Plinth to a node agent on the library that node agents use: client-go with all of
 * its ways, kubectl of this machine and the newest one, and the clients for Python and JavaScript. Needs Go with its module
 * proxy, and pip with its index, so it is not a part of `npm test`. PLINTH_TEST_KUBECTLS has more kubectls, separated by
 * spaces. The first build takes minutes.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Attach, Cp, Exec, KubeConfig, Log, PortForward, type V1Status } from '@kubernetes/client-node';
import { Kubectl } from '../e2e/support/kubectl.js';
import { podsPath } from '../e2e/support/stream-scene.js';
import { eventually, TestCluster } from '../e2e/support/test-cluster.js';
import { endWithUs, removeWithUs } from '../support/child-guard.js';
import { serverAuth, TestIdentity } from '../support/test-authority.js';

const sources = fileURLToPath(new URL('../../../test/streams', import.meta.url));
const built = process.env.PLINTH_GO_FOLDER ?? join(tmpdir(), 'plinth-streams-go');
const largeBytes = 50 * 1024 * 1024;
const directory = mkdtempSync(join(tmpdir(), 'plinth-streams-'));
removeWithUs(directory);
let cluster: TestCluster;
let agent: ChildProcess;
let echo: Server;

function build(): void {
  mkdirSync(built, { recursive: true });
  execFileSync('go', ['build', '-p', '1', '-o', built, './...'], { cwd: sources, stdio: 'inherit' });
}

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

/** Runs a program that reports which cases worked, and that must exit with 0. */
async function succeeds(program: string, ...args: string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 });
  endWithUs(child);
  child.stdout.pipe(process.stdout, { end: false });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  assert.equal(code, 0, `${out}${errors}`);
}

before(async () => {
  build();
  const callers = await TestIdentity.root('callers');
  const caller = await callers.issue({ subject: [{ CN: ['plinth'] }] });
  const agents = await TestIdentity.root('agents');
  const names = [{ type: 'ip', value: '127.0.0.1' }] as const;
  const own = await agents.issue({ subject: [{ CN: ['agent'] }], usages: [serverAuth], names });
  const child = spawn(
    join(built, 'agent'),
    [
      `--cert=${file('agent.crt', own.chain)}`,
      `--key=${file('agent.key', own.key)}`,
      `--callers=${file('callers.crt', callers.cert)}`,
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  agent = child;
  endWithUs(child);
  const [address] = (await once(child.stdout, 'data')) as [Buffer];
  cluster = await TestCluster.start({
    servers: 1,
    flags: [
      `--kubelet-client-certificate=${file('caller.crt', caller.chain)}`,
      `--kubelet-client-key=${file('caller.key', caller.key)}`,
      `--kubelet-certificate-authority=${file('agents.crt', agents.cert)}`,
    ],
  });
  const { client } = cluster.first;
  const port = Number(address.toString().trim().split(':').at(-1));
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  assert.equal((await client.post('/api/v1/nodes', { metadata: { name: 'node' }, status })).status, 201);
  const spec = { nodeName: 'node', containers: [{ name: 'main', image: 'i', stdin: true }] };
  assert.equal((await client.post(podsPath, { metadata: { name: 'pod' }, spec })).status, 201);
  const running = {
    phase: 'Running',
    podIP: '127.0.0.1',
    podIPs: [{ ip: '127.0.0.1' }],
    containerStatuses: [
      { name: 'main', ready: true, restartCount: 0, image: 'i', imageID: 'i', state: { running: {} } },
    ],
  };
  const patched = await client.patch(`${podsPath}/pod/status`, 'merge', { status: running });
  assert.equal(patched.status, 200, patched.text);
  echo = createServer((peer) => {
    peer.on('error', () => peer.destroy());
    peer.pipe(peer);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
});
after(async () => {
  agent?.kill();
  echo?.close();
  await cluster?.stop();
});

function echoPort(): number {
  return (echo.address() as AddressInfo).port;
}

/** Sends bytes of its own to a local port and checks that they come back. */
async function converse(port: number, byte: number): Promise<void> {
  const sent = Buffer.alloc(100_000, byte);
  const socket = connect(port, '127.0.0.1');
  socket.write(sent);
  const got: Buffer[] = [];
  let size = 0;
  for await (const chunk of socket) {
    got.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size >= sent.length) break;
  }
  assert.ok(Buffer.concat(got).equals(sent), `connection ${byte} got ${size} bytes`);
}

it('client-go streams over SPDY, over WebSocket and with a fallback', async () => {
  await succeeds(join(built, 'client'), cluster.first.kubeconfig, directory);
});

it('the client for Python streams', async () => {
  const environment = join(built, 'python');
  if (!existsSync(environment)) {
    execFileSync('python3', ['-m', 'venv', environment]);
    execFileSync(join(environment, 'bin', 'pip'), ['install', '-q', 'kubernetes'], { stdio: 'inherit' });
  }
  await succeeds(join(environment, 'bin', 'python'), join(sources, 'client.py'), cluster.first.kubeconfig, directory);
});

const kubectls = [
  process.env.PLINTH_TEST_KUBECTL ?? 'kubectl',
  join(built, 'kubectl'),
  ...(process.env.PLINTH_TEST_KUBECTLS ?? '').split(' ').filter((path) => path !== ''),
];
for (const program of kubectls) {
  describe(`kubectl ${program}`, () => {
    let kubectl: Kubectl;
    before(() => {
      kubectl = new Kubectl(cluster.first.kubeconfig, program);
    });
    const ok = async (args: readonly string[], input?: string) => {
      const { code, stdout, stderr } = await kubectl.runBeside(args, input);
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
      return stdout;
    };

    it('executes', async () => {
      assert.equal(await ok(['exec', 'pod', '--', 'echo', 'hi']), 'hi\n');
      assert.equal(await ok(['exec', '-i', 'pod', '--', 'cat'], 'x'.repeat(3_000_000)), 'x'.repeat(3_000_000));
      const failed = await kubectl.runBeside(['exec', 'pod', '--', 'sh', '-c', 'echo no >&2; exit 42']);
      assert.deepEqual([failed.code, failed.stdout], [42, '']);
      assert.match(failed.stderr, /^no\ncommand terminated with exit code 42/);
      const absent = await kubectl.runBeside(['exec', 'pod', '-c', 'absent', '--', 'ls']);
      assert.match(absent.stderr, /container absent is not valid for pod pod|container not found/);
      assert.equal(absent.code, 1);
    });

    it('has a terminal of the size of its own', async () => {
      const child = spawn(
        'script',
        ['-qec', `stty rows 33 cols 99; ${program} exec -it pod -- sh -c 'sleep 1; stty size; exit 5'`, '/dev/null'],
        { env: { ...process.env, KUBECONFIG: cluster.first.kubeconfig }, stdio: ['pipe', 'pipe', 'inherit'] },
      );
      endWithUs(child);
      const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
      assert.match(out, /33 99/);
      assert.equal(code, 5, out);
    });

    it('attaches', async () => {
      assert.equal(
        await ok(['attach', '-i', 'pod'], 'typed\n').then((out) => out.replace(/^If you .*\n/, '')),
        'attached\ntyped\n',
      );
    });

    it('copies 50 MB to a container and back', async () => {
      const bytes = randomBytes(largeBytes);
      const sent = file('sent', bytes);
      await ok(['cp', sent, `pod:${directory}/there`]);
      assert.ok(readFileSync(join(directory, 'there')).equals(bytes));
      await ok(['cp', `pod:${directory}/there`, join(directory, 'back')]);
      assert.ok(readFileSync(join(directory, 'back')).equals(bytes));
    });

    it('forwards many connections at once', async () => {
      const child = kubectl.start(['port-forward', 'pod', `:${echoPort()}`, '--address', '127.0.0.1']);
      let said = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      const local = await eventually(() => /127\.0\.0\.1:(\d+) ->/.exec(said)?.[1], 'the port to be forwarded');
      await Promise.all(Array.from({ length: 50 }, (_, i) => converse(Number(local), i)));
      child.kill();
      await once(child, 'exit');
    });

    it('follows a log', async () => {
      const child = kubectl.start(['logs', '-f', 'pod']);
      let said = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      await eventually(() => said.includes('line 5\n'), 'five lines');
      child.kill();
      await once(child, 'exit');
    });
  });
}

describe('the client for JavaScript', () => {
  let config: KubeConfig;
  before(() => {
    config = new KubeConfig();
    config.loadFromFile(cluster.first.kubeconfig);
  });

  it('executes, with a terminal, input and exit codes', async () => {
    const out = new PassThrough();
    const errors = new PassThrough();
    const said = Promise.all([text(out), text(errors)]);
    const status = await new Promise<V1Status>((resolve, reject) => {
      const command = ['sh', '-c', 'cat; echo err >&2; exit 9'];
      const input = new PassThrough();
      input.end('typed');
      new Exec(config)
        .exec('default', 'pod', 'main', command, out, errors, input, false, resolve)
        .then((socket) => socket.addEventListener('close', () => [out, errors].map((stream) => stream.end())), reject);
    });
    assert.deepEqual(await said, ['typed', 'err\n']);
    assert.deepEqual(status.details?.causes, [{ reason: 'ExitCode', message: '9' }]);
  });

  it('attaches', async () => {
    const out = new PassThrough();
    const input = new PassThrough();
    const socket = await new Attach(config).attach('default', 'pod', 'main', out, null, input, false);
    const [first] = (await once(out, 'data')) as [Buffer];
    assert.equal(first.toString(), 'attached\n');
    input.write('typed\n');
    assert.equal(String((await once(out, 'data'))[0]), 'typed\n');
    socket.close();
  });

  it('forwards ports', async () => {
    const forward = new PortForward(config);
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const input = new PassThrough();
        const output = new PassThrough();
        const sent = Buffer.alloc(100_000, i);
        const socket = await forward.portForward('default', 'pod', [echoPort()], output, null, input);
        input.write(sent);
        let size = 0;
        const got: Buffer[] = [];
        for await (const chunk of output) {
          got.push(chunk as Buffer);
          size += (chunk as Buffer).length;
          if (size >= sent.length) break;
        }
        assert.ok(Buffer.concat(got).equals(sent), `${size} bytes`);
        (socket as { close(): void }).close();
      }),
    );
  });

  it('copies', async () => {
    const bytes = randomBytes(largeBytes);
    for (const name of ['js', 'js-there', 'js-back']) mkdirSync(join(directory, name));
    file('js/large', bytes);
    const isWhole = (path: string) => existsSync(path) && readFileSync(path).equals(bytes);
    const copies = new Cp(config);
    const [sent, there, back] = ['js', 'js-there', 'js-back'].map((name) => join(directory, name)) as string[];
    // Both return before they are done.
    await copies.cpToPod('default', 'pod', 'main', sent as string, there as string);
    await eventually(() => isWhole(join(there as string, 'large')), 'the copy to be whole');
    await copies.cpFromPod('default', 'pod', 'main', 'large', back as string, there);
    await eventually(() => isWhole(join(back as string, 'large')), 'the copy back to be whole');
  });

  it('follows a log', async () => {
    let said = '';
    const sink = new Writable({
      write(chunk, _encoding, done) {
        said += String(chunk);
        done();
      },
    });
    // The client leaves it to its user that an abort is an error.
    sink.on('pipe', (source) => source.on('error', () => undefined));
    const controller = await new Log(config).log('default', 'pod', 'main', sink, { follow: true });
    await eventually(() => said.includes('line 5\n'), 'five lines');
    controller.abort();
  });
});
