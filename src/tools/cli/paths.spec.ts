import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { startProgram } from '../../../test/e2e/support/program.js';

const folder = mkdtempSync(join(tmpdir(), 'plinth-paths-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const file = join(folder, 'file');
writeFileSync(file, 'hello');
const dangling = join(folder, 'dangling');
symlinkSync('nowhere', dangling);
const pipe = join(folder, 'pipe');
spawnSync('mkfifo', [pipe]);
const huge = join(folder, 'huge');
spawnSync('truncate', ['-s', '3G', huge]);
const tls = ['--tls-cert-file', pipe, '--tls-private-key-file', pipe];
const serve = ['serve', '--database-url', 'postgresql://nobody@127.0.0.1:1/none', ...tls];
const directory = join(folder, 'directory');
mkdirSync(directory);
/** No server listens there, so a reported fault must have been noticed before the connection. */
const server = ['--server', 'https://127.0.0.1:1'];

/** A program that waits for a pipe, or reads a device, does so forever. */
const patienceMs = 60_000;

/** The one line of a run that has to fail. */
async function refusal(...args: readonly string[]): Promise<string> {
  const { child, ended } = startProgram(...args);
  const impatience = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  const { code, stdout, stderr } = await ended;
  clearTimeout(impatience);
  assert.deepEqual([code, stdout], [1, ''], `${args.join(' ')}: ${stderr}`);
  return stderr.replace(/^plinth: secrets are saved readable.*\n/, '');
}

async function eachRefused(cases: readonly (readonly [readonly string[], string | RegExp])[]): Promise<void> {
  for (const [args, expected] of cases) {
    const line = await refusal(...args);
    if (typeof expected === 'string') assert.equal(line, `plinth: ${expected}\n`, args.join(' '));
    else assert.match(line, expected, args.join(' '));
  }
}

describe('paths of the command line', { skip: process.platform !== 'linux' }, () => {
  it('are refused as folders where none can be', async () => {
    const noProc = "the folder /proc/x can't be made: /proc takes none; name another";
    await eachRefused([
      [['assets', '/proc/x'], noProc],
      [['assets', file], `${file} is a file, not a folder: name another folder, or remove it`],
      [['pki', '--server', 'https://127.0.0.1:6443', '--cert-dir', '/proc/x'], noProc],
      [
        ['pki', '--server', 'https://127.0.0.1:6443', '--cert-dir', join(file, 'x')],
        /file is not a folder; name another$/m,
      ],
      [['etcd', '--data-dir', dangling, '--listen-client-urls', 'http://127.0.0.1:0'], /is a link to nowhere/],
      [['dev', '--secure-port', '16443', '--data-dir', '/proc/x/y'], noProc],
    ]);
  });

  it('are refused as files to read', async () => {
    await eachRefused([
      [['backup', 'verify', pipe], `${pipe} is not a file`],
      [['backup', 'show', dangling], `${dangling} can't be read: there is no such file`],
      [['import', pipe, ...server], `${pipe} is not a file`],
      [
        ['import', '--from-kubeconfig', '/dev/zero', ...server],
        '--from-kubeconfig /dev/zero: it is a device: name a file',
      ],
      [['console', '--kubeconfig', directory], `--kubeconfig ${directory}: it is a folder: name a file`],
      [['top', '--once', '--kubeconfig', '/dev/zero'], '/dev/zero: it is a device: name a file'],
      [['top', '--once', '--kubeconfig', pipe], `${pipe}: it is a pipe: name a file`],
      [
        [...serve, '--encryption-provider-config', huge],
        /^(?=.*--tls-cert-file \S+: it is a pipe: name a file)(?=.*huge: it has more than 64 MiB)/,
      ],
      [
        ['restore', 'pods/a', '-n', 'x', '--at', '1', '--dry-run', '--kubeconfig', `/${'a'.repeat(300)}`],
        /path is too long/,
      ],
      [
        ['backup', '-o', join(folder, 'new'), '--passphrase-file', '/dev/zero', ...server],
        /\/dev\/zero can't be read: it is a dev/,
      ],
      ...['--passphrase-file', '--key-file'].map(
        (flag) =>
          [
            ['backup', '-o', join(folder, 'new'), flag, pipe, ...server],
            `${pipe} can't be read: it is a pipe: name a file`,
          ] as const,
      ),
    ]);
  });

  it('are refused as files to write, before anything is asked of a server', async () => {
    const aDevice = "/dev/null can't be written: it is a device or a pipe: name a file";
    await eachRefused([
      [['backup', '-o', '/dev/null', ...server], aDevice],
      [['backup', '-o', directory, ...server], `${directory} can't be written: it is a folder: name a file`],
      [['backup', '-o', '/proc/x', ...server], /^plinth: \/proc\/x can't be written: there is no such file/],
      [['kubeconfig', '--user', 'a', '-o', '/proc/x/y', ...server], /\/proc takes none; name another/],
      [['kubeconfig', '--user', 'a', '--merge', '-o', '/dev/null', ...server], aDevice],
      [['kubeconfig', '--user', 'a', '--merge', '-o', pipe, ...server], /it is a device or a pipe/],
    ]);
    assert.ok(lstatSync('/dev/null').isCharacterDevice());
    assert.deepEqual(readdirSync(folder).sort(), ['dangling', 'directory', 'file', 'huge', 'pipe']);
  });
});
