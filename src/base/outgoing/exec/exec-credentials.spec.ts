import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { TestIdentity } from '../../../../test/support/test-authority.js';
import { loadClientConfig } from '../client-config.js';
import { ClientConfigError } from '../client-config-error.js';
import { ExecCredentials, type PluginDependencies } from './exec-credentials.js';
import { ExecPluginError } from './exec-plugin-error.js';

const v1 = 'client.authentication.k8s.io/v1';
const v1beta1 = 'client.authentication.k8s.io/v1beta1';
/**
 * A plugin that records each run and its input, and prints the next line of its prepared outputs; the last one forever.
 */
const program = `
const { appendFileSync, readFileSync } = require('node:fs');
const [folder, ...rest] = process.argv.slice(2);
const { KUBERNETES_EXEC_INFO: info, EXTRA: extra } = process.env;
const input = JSON.parse(info).spec.interactive ? undefined : readFileSync(0, 'utf8');
appendFileSync(folder + '/runs', JSON.stringify({ info, extra, rest, input }) + '\\n');
const runs = readFileSync(folder + '/runs', 'utf8').trim().split('\\n').length;
const answers = readFileSync(folder + '/answers', 'utf8').split('\\n');
process.stdout.write(answers[Math.min(runs, answers.length) - 1]);
`;

let directory: string;
let script: string;
let count = 0;
before(() => {
  directory = mkdtempSync(join(tmpdir(), 'plinth-exec-'));
  script = join(directory, 'plugin.cjs');
  writeFileSync(script, program);
});
after(() => rmSync(directory, { recursive: true, force: true }));

interface Run {
  readonly info: string;
  readonly extra?: string;
  readonly rest: readonly string[];
  readonly input?: string;
}

/** The plugin of a kubeconfig whose user has this `exec`, in a folder with its script and these prepared outputs. */
function pluginOf(answers: readonly unknown[], exec: object = {}, cluster: object = {}, deps: PluginDependencies = {}) {
  const folder = join(directory, `case-${count++}`);
  mkdirSync(folder);
  const texts = answers.map((answer) => (typeof answer === 'string' ? answer : JSON.stringify(answer)));
  writeFileSync(join(folder, 'answers'), texts.join('\n'));
  const path = join(folder, 'kubeconfig');
  const usual = { apiVersion: v1, interactiveMode: 'Never', command: process.execPath, args: [script, folder] };
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'a', user: 'b' } }],
    clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1/base', ...cluster } }],
    users: [{ name: 'b', user: { exec: { ...usual, ...exec } } }],
  };
  writeFileSync(path, JSON.stringify(config));
  const { auth, tls, server, clusterExtras: extras } = loadClientConfig(path, undefined, { runsPrograms: true });
  assert.equal(auth.kind, 'exec');
  const credentials = new ExecCredentials(auth.plugin, { server, extras }, deps);
  const runs = (): readonly Run[] => {
    const file = join(folder, 'runs');
    if (!existsSync(file)) return [];
    return readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Run);
  };
  return { folder, credentials, tls, runs, present: () => credentials.present(tls) };
}

const credential = (status: unknown, apiVersion = v1) => ({ apiVersion, kind: 'ExecCredential', status });

describe('a program for credentials', () => {
  it('runs once for a token without an end, however many requests need it', async () => {
    const { present, runs } = pluginOf([credential({ token: 'a' }), credential({ token: 'b' })]);
    const shown = await Promise.all([present(), present(), present()]);
    assert.deepEqual(
      shown.map(({ authorization }) => authorization),
      ['Bearer a', 'Bearer a', 'Bearer a'],
    );
    assert.equal(await present(), shown[0]);
    assert.equal(runs().length, 1);
  });

  it('runs again when what it gave has expired', async () => {
    let now = Date.parse('2030-01-01T00:00:00Z');
    const until = (token: string, expirationTimestamp: string) => credential({ token, expirationTimestamp });
    const answers = [until('a', '2030-01-01T01:00:00Z'), until('b', '2030-01-01T03:00:00+01:00')];
    const { present } = pluginOf(answers, {}, {}, { clock: { now: () => now } });
    const { tls } = await present();
    now += 3_600_000;
    assert.equal((await present()).authorization, 'Bearer a');
    now += 1;
    const renewed = await present();
    assert.equal(renewed.authorization, 'Bearer b');
    assert.equal(renewed.tls, tls, 'a token alone makes no new connections');
  });

  it('runs again after a refusal, once for all requests that were refused', async () => {
    const { present, credentials, runs } = pluginOf([credential({ token: 'a' }), credential({ token: 'b' })]);
    const refused = await present();
    assert.deepEqual(await Promise.all([credentials.renew(refused), credentials.renew(refused)]), [true, true]);
    assert.equal(runs().length, 2);
    assert.equal(await credentials.renew(refused), true);
    assert.equal(runs().length, 2);
    assert.equal((await present()).authorization, 'Bearer b');
    assert.equal(await credentials.renew(await present()), false, 'it gives the same again');
    assert.equal(runs().length, 3);
  });

  it('may give a certificate; a new one is another object, the same one is not', async () => {
    const root = await TestIdentity.root('users');
    const [one, two] = await Promise.all(['one', 'two'].map((CN) => root.issue({ subject: [{ CN: [CN] }] })));
    const pair = (issued: typeof one) =>
      credential({ clientCertificateData: issued?.chain, clientKeyData: issued?.key, token: '' });
    const { present, credentials, tls } = pluginOf([pair(one), pair(one), pair(two)]);
    const first = await present();
    assert.deepEqual({ ...first.tls }, { ...tls, cert: one?.chain, key: one?.key });
    assert.equal(first.authorization, undefined);
    assert.equal(await credentials.renew(first), false);
    const second = await present();
    assert.equal(second.tls, first.tls);
    assert.equal(await credentials.renew(second), true);
    assert.equal((await present()).tls.cert, two?.chain);
  });

  it('gets arguments, variables, the version, and no input', async () => {
    const { folder, runs } = pluginOf([credential({ token: 'a' })]);
    const exec = { args: [script, folder, 'more'], env: [{ name: 'EXTRA', value: 'x' }] };
    await pluginOf([], exec).present();
    assert.deepEqual(runs()[0], {
      info: JSON.stringify({ kind: 'ExecCredential', apiVersion: v1, spec: { interactive: false } }),
      extra: 'x',
      rest: ['more'],
      input: '',
    });
  });

  it('gets to know the cluster when the kubeconfig wants that', async () => {
    const root = await TestIdentity.root('authority');
    const data = Buffer.from(root.cert).toString('base64');
    const extensions = [
      { name: 'other', extension: 1 },
      { name: 'client.authentication.k8s.io/exec', extension: { audience: 'x', list: [1] } },
    ];
    const cluster = { 'certificate-authority-data': data, 'tls-server-name': 'api', 'disable-compression': true };
    const answers = [credential({ token: 'a' }, v1beta1)];
    const exec = { apiVersion: v1beta1, provideClusterInfo: true };
    const { present, runs } = pluginOf(answers, exec, { ...cluster, extensions });
    await present();
    assert.deepEqual(JSON.parse(runs()[0]?.info ?? ''), {
      kind: 'ExecCredential',
      apiVersion: v1beta1,
      spec: {
        cluster: { server: 'https://127.0.0.1:1/base', ...cluster, config: { audience: 'x', list: [1] } },
        interactive: false,
      },
    });
    const bare = pluginOf(answers, exec, { 'insecure-skip-tls-verify': true });
    await bare.present();
    assert.deepEqual(JSON.parse(bare.runs()[0]?.info ?? '').spec.cluster, {
      server: 'https://127.0.0.1:1/base',
      'insecure-skip-tls-verify': true,
      config: null,
    });
  });

  it('asks questions only where there is a terminal', async () => {
    const interactive = async (interactiveMode: string | undefined, terminal: boolean, apiVersion = v1) => {
      const exec = { interactiveMode, apiVersion };
      const usual = [credential({ token: 'a' }, apiVersion)];
      const { present, runs } = pluginOf(usual, exec, {}, { isTerminal: () => terminal });
      await present();
      return JSON.parse(runs()[0]?.info ?? '').spec.interactive as boolean;
    };
    assert.equal(await interactive('Never', true), false);
    assert.equal(await interactive('IfAvailable', true), true);
    assert.equal(await interactive('IfAvailable', false), false);
    assert.equal(await interactive('Always', true), true);
    assert.equal(await interactive(undefined, true, v1beta1), true);
    const none = pluginOf([], { interactiveMode: 'Always' }, {}, { isTerminal: () => false });
    await assert.rejects(none.present(), /it reads input \(interactiveMode Always\), and there is no terminal/);
    assert.equal(none.runs().length, 0);
  });

  it('is relative to its kubeconfig when it has a slash', async () => {
    const { folder, present } = pluginOf([''], { command: './mine', args: null, env: null });
    const file = join(folder, 'mine');
    await assert.rejects(present(), new RegExp(`\\(exec\\) ${file}: there is no such program$`));
    const answer = JSON.stringify(credential({ token: 'mine' }));
    writeFileSync(file, `#!/bin/sh\necho '${answer}'\n`, { mode: 0o600 });
    await assert.rejects(present(), /it may not be run/);
    chmodSync(file, 0o700);
    assert.equal((await present()).authorization, 'Bearer mine');
  });

  it('is named with what is wrong with it, and nothing that it printed', async () => {
    const hidden = 'hidden-hidden';
    const cases: readonly (readonly [unknown, RegExp])[] = [
      ['', /its output is not an ExecCredential$/],
      [`{"token": "${hidden}"`, /its output is not JSON$/],
      [{ kind: 'Pod', apiVersion: v1, status: { token: hidden } }, /is not an ExecCredential$/],
      [credential({ token: hidden }, v1beta1), /of version ".*v1beta1", and the kubeconfig names .*\/v1$/],
      [{ kind: 'ExecCredential', status: { token: hidden } }, /of version none, and the kubeconfig/],
      [credential(undefined), /its ExecCredential has no status$/],
      [credential({}), /neither a token nor a client certificate with its key$/],
      [credential({ clientKeyData: hidden }), /only one of clientCertificateData and clientKeyData$/],
      [credential({ clientKeyData: hidden, clientCertificateData: hidden }), /client-key can't be used: /],
      [credential({ token: 5 }), /token of its status must be a string$/],
      [credential({ token: `${hidden}\n` }), /its token has characters that no token has$/],
      [credential({ token: hidden, expirationTimestamp: hidden }), /expirationTimestamp of its status must be a time/],
    ];
    for (const [answer, expected] of cases) {
      await assert.rejects(pluginOf([answer]).present(), (error: Error) => {
        assert.ok(error instanceof ExecPluginError);
        assert.match(error.message, expected);
        assert.doesNotMatch(`${error.message} ${error.stack}`, /hidden/);
        return true;
      });
    }
  });

  it('is reported when it fails, takes too long or prints too much', async () => {
    const shell = (line: string, limitMs?: number) => {
      const exec = { command: '/bin/sh', args: ['-c', line], installHint: 'install it by hand' };
      return pluginOf([''], exec, {}, limitMs === undefined ? {} : { limitMs }).present();
    };
    await assert.rejects(shell('exit 3'), /\/bin\/sh: it failed with exit code 3$/);
    await assert.rejects(shell('kill -9 $$'), /it was ended by SIGKILL$/);
    await assert.rejects(shell('sleep 600', 50), /it did not end within 0\.05 s$/);
    await assert.rejects(shell('exec cat /dev/zero'), /its output has more than 1048576 bytes$/);
    const absent = pluginOf([''], { command: 'no-such-program', installHint: ' install it by hand\n' });
    await assert.rejects(absent.present(), /no-such-program: there is no such program\n\ninstall it by hand$/);
  });

  it('must be described well', () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ apiVersion: undefined }, /exec: apiVersion must be client\.authentication\.k8s\.io\/v1 or .*v1beta1$/],
      [{ apiVersion: 'client.authentication.k8s.io/v1alpha1' }, /exec: apiVersion must be/],
      [{ command: '' }, /exec: command must be set$/],
      [{ interactiveMode: undefined }, /exec: interactiveMode must be Never, IfAvailable, Always$/],
      [{ interactiveMode: 'hidden' }, /exec: interactiveMode must be/],
      [{ args: 'hidden' }, /exec: args must be a list of strings$/],
      [{ env: [{ value: 'hidden' }] }, /exec: every variable of env needs a name$/],
      [{ env: ['hidden'] }, /exec: env must be a list of names and values$/],
      [{ provideClusterInfo: 'hidden' }, /exec: provideClusterInfo must be true or false$/],
    ];
    for (const [exec, expected] of cases) {
      assert.throws(
        () => pluginOf([''], exec),
        (error: Error) => {
          assert.ok(error instanceof ClientConfigError);
          assert.match(error.message, expected);
          assert.doesNotMatch(error.message, /hidden/);
          return true;
        },
      );
    }
  });
});
