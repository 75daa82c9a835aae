import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { Kubectl } from './support/kubectl.js';
import { runProgram } from './support/program.js';
import { TestCluster, tokens } from './support/test-cluster.js';

const mode = '--authorization-mode=RBAC';
const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';

let cluster: TestCluster;
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-kubeconfig-'));
  cluster = await TestCluster.start({ servers: 1, flags: [mode], controllers: true, controllerFlags: [mode] });
});
after(async () => {
  await cluster.stop();
  await rm(folder, { recursive: true });
});

const make = (...flags: readonly string[]) =>
  runProgram('kubeconfig', `--kubeconfig=${cluster.first.kubeconfig}`, ...flags);

interface File {
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
  readonly contexts: readonly { readonly name: string }[];
  readonly 'current-context': string;
}

const read = async (file: string) => parse(await readFile(file, 'utf8')) as File;

function certificateOf(file: File, name: string): X509Certificate {
  const data = file.users.find((user) => user.name === name)?.user['client-certificate-data'];
  return new X509Certificate(Buffer.from(String(data), 'base64'));
}

async function requestsLeft(): Promise<
  readonly { readonly spec: { readonly username: string; readonly request: string } }[]
> {
  return (await cluster.first.client.get(requests)).body.items;
}

describe('plinth kubeconfig', () => {
  it('makes a file that identifies its user and groups, readable by nobody else', async () => {
    const file = join(folder, 'alice');
    const { code, stdout, stderr } = await make('--user=alice', '--group=devs,ops', '--expires=2h', '-o', file);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /: context alice@plinth, valid until 20/);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const who = new Kubectl(file).ok(['auth', 'whoami', '-o', 'json']);
    const { username, groups } = JSON.parse(who).status.userInfo;
    assert.deepEqual([username, groups], ['alice', ['devs', 'ops', 'system:authenticated']]);
    const certificate = certificateOf(await read(file), 'alice@plinth');
    const hours = (Date.parse(certificate.validTo) - Date.now()) / 3_600_000;
    assert.ok(hours > 1.9 && hours < 2.1, `${hours}`);
    // The request that the server received contains no private key.
    for (const { spec } of await requestsLeft()) {
      assert.match(Buffer.from(spec.request, 'base64').toString(), /^-----BEGIN CERTIFICATE REQUEST-----[^-]*-----END/);
    }
  });

  it('writes to standard output, and refuses to write over a file', async () => {
    const { code, stdout } = await make('--user=bob', '--name=other');
    assert.equal(code, 0);
    const text = parse(stdout) as File;
    assert.equal(text['current-context'], 'bob@other');
    assert.match(certificateOf(text, 'bob@other').subject, /^CN=bob$/);
    const file = join(folder, 'mine');
    await writeFile(file, 'mine');
    const refused = await make('--user=bob', '-o', file);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /mine exists: add to it by --merge/);
    assert.equal(await readFile(file, 'utf8'), 'mine');
  });

  it('merges into a file, whose other entries and comments stay', async () => {
    const file = join(folder, 'merged');
    const mine = `# mine
apiVersion: v1
kind: Config
current-context: work
clusters:
- name: work # far away
  cluster: {server: "https://work.test"}
users: []
contexts:
- {name: work, context: {cluster: work, user: me}}
`;
    await writeFile(file, mine, { mode: 0o644 });
    assert.equal((await make('--user=carol', '--merge', '-o', file)).code, 0);
    const first = await read(file);
    assert.match(await readFile(file, 'utf8'), /^# mine\n.*name: work # far away\n/s);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal(first['current-context'], 'work');
    assert.deepEqual(
      first.contexts.map(({ name }) => name),
      ['work', 'carol@plinth'],
    );
    // Once more: a new certificate in the place of the old one.
    assert.equal((await make('--user=carol', '--merge', '-o', file)).code, 0);
    const second = await read(file);
    assert.equal(second.users.length, 1);
    assert.notEqual(
      certificateOf(second, 'carol@plinth').serialNumber,
      certificateOf(first, 'carol@plinth').serialNumber,
    );
    const kubectl = new Kubectl(file);
    assert.match(kubectl.ok(['--context=carol@plinth', 'auth', 'whoami', '-o', 'name']), /./);
    // Another cluster of that name, a lock of kubectl, and a file that is none.
    for (const [flags, expected] of [
      [['--name=work', '--merge', '-o', file], /the cluster work is another one \(https:\/\/work\.test\)/],
      [['--merge', '-o', join(folder, 'locked')], /locked\.lock exists/],
      [['--merge', '-o', join(folder, 'mine')], /is not a kubeconfig/],
    ] as const) {
      if (flags.at(-1)?.endsWith('locked')) await writeFile(join(folder, 'locked.lock'), '');
      const { code, stderr } = await make('--user=carol', ...flags);
      assert.equal(code, 1);
      assert.match(stderr, expected);
    }
    assert.deepEqual(await read(file), second);
  });

  it('uses the rights of its caller only', async () => {
    const before = (await requestsLeft()).length;
    const weak = await make('--user=dave', `--token=${tokens.bob}`, '--signer=k8s.io/apiserver-client');
    assert.equal(weak.code, 1);
    assert.match(weak.stderr, /User "bob" cannot create resource "certificatesigningrequests"/);
    const unknown = await make('--user=dave', '--token=nobody');
    assert.deepEqual(
      [unknown.code, unknown.stderr],
      [1, 'plinth: the server refuses the credentials (Unauthorized)\n'],
    );
    const { client } = cluster.first;
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const rules = [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['create', 'get', 'delete'],
      },
    ];
    await client.post(`${rbac}/clusterroles`, { metadata: { name: 'asker' }, rules });
    await client.post(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'asker' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'asker' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }],
    });
    const asker = await make('--user=dave', `--token=${tokens.bob}`, '--signer=k8s.io/apiserver-client');
    assert.equal(asker.code, 1);
    assert.match(asker.stderr, /certificatesigningrequests\/approval|approve/);
    // Nobody becomes an administrator by it, and nothing is left behind.
    const masters = await make('--user=eve', '--group=system:masters');
    assert.equal(masters.code, 1);
    assert.match(masters.stderr, /system:masters/);
    assert.equal((await requestsLeft()).length, before);
  });

  it('says when nobody signs, and takes the request back', async () => {
    const before = (await requestsLeft()).length;
    const { code, stderr } = await make('--user=erin', '--signer=example.test/nobody', '--timeout=1s');
    assert.equal(code, 1);
    assert.match(stderr, /^plinth: nobody signed the request within 1 s: run plinth controllers with [^\n]*\n$/);
    assert.equal((await requestsLeft()).length, before);
    const wrong = await make('--expires=1m', '--group=a,a');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /--group a,a: has an empty .*--expires 1m: must be at least 10m0s\n/s);
    assert.match((await make()).stderr, /needs --user NAME/);
  });

  it('asks for nothing when the certificate would have no place, or the name would fool a terminal', async () => {
    const before = (await requestsLeft()).length;
    const file = join(folder, 'broken');
    const bomb = [
      'a: &a [x]',
      'b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]',
      'c: &c [*b, *b, *b, *b, *b, *b]',
      'd: [*c, *c, *c]',
    ];
    for (const text of ['[', bomb.join('\n'), 'a: *nothing']) {
      await writeFile(file, text);
      const { code, stderr } = await make('--user=fay', '--merge', '-o', file);
      assert.equal(code, 1);
      assert.match(stderr, /broken: is neither YAML nor JSON/);
      assert.equal(await readFile(file, 'utf8'), text);
    }
    for (const flags of [['--user=a\nb'], ['--user=fay', '--group=\u001b[2J']]) {
      const { code, stderr } = await make(...flags);
      assert.equal(code, 2);
      assert.match(stderr, /has a control character/);
    }
    assert.equal((await requestsLeft()).length, before);
  });
});
