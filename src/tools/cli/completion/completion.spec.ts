import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { getMetadataStorage } from 'class-validator';
import { TypingShell } from '../../../../test/support/typing-shell.js';
import { Flag, flagsOf } from '../../../base/config/flag.js';
import { OptionsError } from '../../../base/config/options-error.js';
import { parseOptions } from '../../../base/config/parse-options.js';
import { commands } from '../all-commands.js';
import type { Command } from '../command.js';
import { completionScript } from './completion-script.js';
import { vocabularyOf } from './vocabulary.js';

/** Names of files that would do harm where a shell reads them again. Each begins in another way. */
const evilNames = [
  'a $(touch pwned1).crt',
  'b "quote" and it\'s `touch pwned2`',
  'c;touch pwned3&',
  'd*?[x]',
  'e=a:b,c',
  'f\\back~$HOME!',
  'g\nnew line',
  '-h --help',
];

describe('the words that shells complete', () => {
  const optionsClasses = new Set(commands.flatMap(({ groups }) => Object.values(groups)));

  it('are values that the program takes', () => {
    for (const optionsClass of optionsClasses) {
      for (const flag of flagsOf(optionsClass)) {
        for (const value of flag.values ?? []) {
          try {
            parseOptions({ groups: { optionsClass }, argv: [`--${flag.name}=${value}`], environment: {} });
          } catch (error) {
            assert.ok(error instanceof OptionsError);
            // A value may require another flag; it is a valid value all the same.
            const wrong = error.problems.filter((text) => text.startsWith(`--${flag.name} `) && !/needs --/.test(text));
            assert.deepEqual(wrong, [], `--${flag.name}=${value}`);
          }
        }
      }
    }
  });

  it('are there for every flag that takes one of a few', () => {
    let checked = 0;
    for (const optionsClass of optionsClasses) {
      const checks = getMetadataStorage().getTargetValidationMetadatas(optionsClass, '', false, false);
      for (const { propertyName, constraints = [], name } of checks) {
        if (name !== 'isIn') continue;
        checked++;
        const flag = flagsOf(optionsClass).find(({ property }) => property === propertyName);
        const known = (constraints[0] as readonly string[]).filter((value) => value !== '');
        assert.deepEqual(flag?.values, known, propertyName);
      }
    }
    assert.ok(checked > 5);
  });

  it('have a line about each flag, and none for what is deprecated', () => {
    for (const { name, flags, about } of vocabularyOf(commands)) {
      assert.match(about, /\S/);
      for (const flag of flags) {
        assert.match(flag.about, /^\S.{3,79}$/u, `${name} ${flag.spellings[0]}`);
        // Scripts of three shells put these words in quotes.
        for (const word of flag.words) assert.match(word, /^[\w.*=/-]+$/);
      }
    }
    class Old {
      @Flag({
        name: 'old',
        type: 'string',
        usage: 'Old.',
        deprecated: { since: '0.1', until: '0.4', advice: 'use --new' },
      })
      readonly old: string | undefined = undefined;
    }
    const [program] = vocabularyOf([{ ...(commands[0] as Command), groups: { old: Old } }]);
    assert.deepEqual(
      program?.flags.map(({ offered }) => offered),
      [[], ['--help', '-h']],
    );
  });
});

describe('completion in bash', { skip: process.platform !== 'linux' }, () => {
  let folder: string;
  let shell: TypingShell;
  /** The key that inserts all possible words into the line. */
  const all = '\u001b*';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plinth-completion-'));
    await writeFile(join(folder, 'my ca.crt'), '');
    await writeFile(join(folder, 'token.csv'), '');
    await mkdir(join(folder, 'certs'));
    await mkdir(join(folder, 'evil'));
    for (const name of evilNames) await writeFile(join(folder, 'evil', name), '');
    await writeFile(join(folder, 'plinth.bash'), `${completionScript('bash', commands)}\n`);
    shell = new TypingShell('bash --norc --noprofile -i', folder);
    await shell.run('source ./plinth.bash');
  });
  after(async () => {
    await shell.close();
    await rm(folder, { recursive: true });
  });

  for (const [what, keys, expected] of [
    ['a subcommand', 'plinth contr\t', ['controllers']],
    ['all subcommands', `plinth c${all}`, ['certs', 'cluster-info', 'completion', 'console', 'controllers']],
    ['a flag', 'plinth serve --secure-p\t', ['serve', '--secure-port']],
    [
      'a flag after others',
      'plinth serve --log-level=debug --log-fo\t',
      ['serve', '--log-level=debug', '--log-format'],
    ],
    ['a value', 'plinth serve --log-level d\t', ['serve', '--log-level', 'debug']],
    ['a value after an equals sign', 'plinth serve --log-level=d\t', ['serve', '--log-level=debug']],
    ['the value of a short flag', 'plinth serve -v w\t', ['serve', '-v', 'warn']],
    ['the value of another name of a flag', 'plinth serve --logging-format j\t', ['serve', '--logging-format', 'json']],
    ['all values', `plinth serve --log-format ${all}`, ['serve', '--log-format', 'json', 'text']],
    [
      'the second value of a list',
      'plinth serve --authorization-mode Node,RB\t',
      ['serve', '--authorization-mode', 'Node,RBAC'],
    ],
    ['a pair', 'plinth serve --feature-gates=AllAlpha=f\t', ['serve', '--feature-gates=AllAlpha=false']],
    [
      'the second pair',
      'plinth serve --feature-gates AllAlpha=true,AllBeta=f\t',
      ['serve', '--feature-gates', 'AllAlpha=true,AllBeta=false'],
    ],
    ['what a switch can be', 'plinth serve --anonymous-auth=f\t', ['serve', '--anonymous-auth=false']],
    ['a file', 'plinth serve --token-auth-file to\t', ['serve', '--token-auth-file', 'token.csv']],
    ['a file with a space', 'plinth serve --client-ca-file my\t', ['serve', '--client-ca-file', 'my ca.crt']],
    ['a file after an equals sign', 'plinth serve --token-auth-file=to\t', ['serve', '--token-auth-file=token.csv']],
    ['folders only', `plinth serve --cert-dir ${all}`, ['serve', '--cert-dir', 'certs', 'evil']],
    ['an action', 'plinth backup ver\t', ['backup', 'verify']],
    ['a file for an action', 'plinth backup verify to\t', ['backup', 'verify', 'token.csv']],
    ['nothing for what can be anything', 'plinth serve --secure-port 6\t', ['serve', '--secure-port', '6']],
    ['nothing for what is not known', 'plinth fly --l\t', ['fly', '--l']],
  ] as const) {
    it(`completes ${what}`, async () => assert.deepEqual(await shell.type(keys), expected));
  }

  it('completes names that hold anything, and evaluates nothing of them', async () => {
    for (const name of evilNames) {
      const path = `evil/${name}`;
      const start = name.slice(0, 1);
      const plain = `plinth serve --client-ca-file`;
      assert.deepEqual(await shell.type(`${plain} evil/${start}\t`), ['serve', '--client-ca-file', path], name);
      assert.deepEqual(await shell.type(`${plain}=evil/${start}\t`), ['serve', `--client-ca-file=${path}`], name);
      // An open quote is closed.
      assert.deepEqual(await shell.type(`${plain} 'evil/${start}\t`), ['serve', '--client-ca-file', path], name);
      assert.deepEqual(await shell.type(`plinth backup verify evil/${start}\t`), ['backup', 'verify', path], name);
    }
    const files = await readdir(folder);
    assert.deepEqual(
      files.filter((name) => name.startsWith('pwned')),
      [],
    );
  });

  it('evaluates nothing of the words in the line', async () => {
    const command = '$(touch pwned)';
    for (const words of [
      `serve --client-ca-file ${command}/`,
      `serve --client-ca-file=${command}/`,
      `serve --client-ca-file \`touch pwned\`/`,
      `serve --client-ca-file "${command}`,
      `serve --client-ca-file 'a' --cert-dir ${command}`,
      `serve --service-account-key-file a,${command}/`,
      `serve --log-level ${command}`,
      `serve --log-level x[${command}]`,
      `serve --log-level=${command}`,
      `serve --authorization-mode ${command},RB`,
      `serve ${command} --log-level`,
      `${command} --log-level`,
      `x[${command}] --log-level `,
      `backup verify ${command}/`,
    ]) {
      // Ctrl-U clears the line after the attempt.
      assert.deepEqual(await shell.type(`plinth ${words}\t\u0015plinth none`), ['none'], words);
      assert.deepEqual(
        (await readdir(folder)).filter((name) => name.startsWith('pwned')),
        [],
        words,
      );
    }
  });

  it('offers no file that would be taken for a flag', async () => {
    await writeFile(join(folder, 'certs', '-x'), '');
    await shell.run('cd certs');
    assert.deepEqual(await shell.type('plinth serve --client-ca-file \t'), ['serve', '--client-ca-file']);
    assert.deepEqual(await shell.type('plinth serve --client-ca-file=\t'), ['serve', '--client-ca-file=-x']);
    await shell.run('cd ..');
  });
});
