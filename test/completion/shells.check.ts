import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commands } from '../../src/tools/cli/all-commands.js';
import { completionScript } from '../../src/tools/cli/completion/completion-script.js';
import { TypingShell } from '../support/typing-shell.js';

// Completion in the shells that not every machine has: zsh and fish must be installed.

/** It would do harm where a shell reads it again. */
const evilName = 'a $(touch pwned) (touch pwned) `touch pwned`';

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plinth-completion-'));
  await writeFile(join(folder, 'my ca.crt'), '');
  await writeFile(join(folder, 'token.csv'), '');
  await mkdir(join(folder, 'certs'));
  await mkdir(join(folder, 'evil'));
  await writeFile(join(folder, 'evil', evilName), '');
  for (const shell of ['zsh', 'fish']) {
    await writeFile(join(folder, `plinth.${shell}`), `${completionScript(shell, commands)}\n`);
  }
});
after(() => rm(folder, { recursive: true }));

describe('completion in zsh', () => {
  let shell: TypingShell;

  before(async () => {
    shell = new TypingShell('zsh -f -i', folder);
    await shell.run('autoload -U compinit', 'compinit -D -u', 'unsetopt auto_menu list_beep', 'source ./plinth.zsh');
  });
  after(() => shell.close());

  for (const [keys, expected] of [
    ['plinth contr\t', ['controllers']],
    ['plinth serve --secure-p\t6', ['serve', '--secure-port=6']],
    ['plinth serve --log-level d\t', ['serve', '--log-level', 'debug']],
    ['plinth serve --log-level=d\t', ['serve', '--log-level=debug']],
    ['plinth serve -v w\t', ['serve', '-v', 'warn']],
    ['plinth serve --authorization-mode Node,RB\t', ['serve', '--authorization-mode', 'Node,RBAC']],
    ['plinth serve --feature-gates AllBeta=f\t', ['serve', '--feature-gates', 'AllBeta=false']],
    ['plinth serve --anonymous-a\t', ['serve', '--anonymous-auth']],
    ['plinth serve --token-auth-file to\t', ['serve', '--token-auth-file', 'token.csv']],
    ['plinth serve --client-ca-file my\t', ['serve', '--client-ca-file', 'my ca.crt']],
    ['plinth serve --cert-dir c\t', ['serve', '--cert-dir', 'certs']],
    ['plinth backup ver\t', ['backup', 'verify']],
    ['plinth backup verify to\t', ['backup', 'verify', 'token.csv']],
    ['plinth completion z\t', ['completion', 'zsh']],
  ] as const) {
    it(`completes ${keys.slice(0, -1)}`, async () => assert.deepEqual(await shell.type(keys), expected));
  }

  it('evaluates nothing of names and words', async () => {
    // Usually the key expands the word itself first, which is not a matter of completion.
    await shell.run("bindkey '^I' complete-word");
    const command = '$(touch pwned)';
    for (const words of [
      `serve --log-level ${command}`,
      `serve --log-level=${command}`,
      `serve ${command} --log-level `,
      `${command} --log-level `,
      `serve --authorization-mode ${command},RB`,
      `serve --client-ca-file a\\ ${command}`,
    ]) {
      assert.deepEqual(await shell.type(`plinth ${words}\t\u0015plinth none`), ['none'], words);
      assert.equal(existsSync(join(folder, 'pwned')), false, words);
    }
    assert.deepEqual(await shell.type('plinth backup verify evil/a\t'), ['backup', 'verify', `evil/${evilName}`]);
    assert.equal(existsSync(join(folder, 'pwned')), false);
  });

  it('is a function for fpath as well', async () => {
    await mkdir(join(folder, 'functions'));
    await writeFile(join(folder, 'functions', '_plinth'), `${completionScript('zsh', commands)}\n`);
    const other = new TypingShell('zsh -f -i', folder);
    await other.run('fpath=($PWD/functions $fpath)', 'autoload -U compinit', 'compinit -D -u');
    assert.deepEqual(await other.type('plinth serve --log-level d\t'), ['serve', '--log-level', 'debug']);
    assert.deepEqual(await other.type('plinth serve --log-level w\t'), ['serve', '--log-level', 'warn']);
    await other.close();
  });
});

describe('completion in fish', () => {
  /** Each line is a word and what it means. */
  const complete = (line: string): string[] => {
    const { stdout, stderr, error } = spawnSync(
      'fish',
      ['--no-config', '-c', `source plinth.fish; complete -C ${JSON.stringify(line)}`],
      {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, LANG: 'C.UTF-8' },
        encoding: 'utf8',
      },
    );
    assert.ifError(error);
    assert.equal(stderr, '');
    return stdout.split('\n').filter((word) => word !== '');
  };
  const words = (line: string) => complete(line).map((word) => word.split('\t')[0]);

  it('completes subcommands with a line about each', () => {
    const found = complete('plinth contr');
    assert.equal(found.length, 1);
    assert.match(String(found[0]), /^controllers\t\S/);
    assert.ok(words('plinth ').includes('serve') && !words('plinth ').includes('token.csv'));
  });

  it('evaluates nothing of names and words', () => {
    const command = '(touch pwned)';
    for (const line of [
      `plinth serve --log-level ${command}`,
      `plinth serve --log-level=${command}`,
      `plinth serve ${command} --log-level `,
      `plinth ${command} --log-level `,
      `plinth serve --authorization-mode=${command},RB`,
      `plinth serve --client-ca-file ${command}/`,
      'plinth serve --client-ca-file evil/a',
    ]) {
      complete(line);
      assert.equal(existsSync(join(folder, 'pwned')), false, line);
    }
    assert.deepEqual(words('plinth backup verify evil/a'), [`evil/${evilName}`]);
  });

  for (const [line, expected] of [
    ['plinth serve --secure-p', ['--secure-port']],
    ['plinth serve --log-level d', ['debug']],
    ['plinth serve --log-level=d', ['--log-level=debug']],
    ['plinth serve -v w', ['warn']],
    ['plinth serve --authorization-mode Node,RB', ['Node,RBAC']],
    ['plinth serve --authorization-mode=Node,RB', ['--authorization-mode=Node,RBAC']],
    ['plinth serve --feature-gates AllBeta=f', ['AllBeta=false']],
    ['plinth controllers --controllers=cronj', ['--controllers=cronjob']],
    ['plinth serve --token-auth-file to', ['token.csv']],
    ['plinth serve --cert-dir c', ['certs/']],
    ['plinth backup ver', ['verify']],
    ['plinth backup verify to', ['token.csv']],
    ['plinth completion f', ['fish']],
    ['plinth serve --secure-port 6', []],
  ] as const) {
    it(`completes ${line}`, () => assert.deepEqual(words(line), expected));
  }
});
