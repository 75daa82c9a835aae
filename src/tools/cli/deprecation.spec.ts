import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { mainFile } from '../../../test/support/main-file.js';
import type { Deprecation } from '../../base/config/deprecation.js';
import { Flag, flagsOf } from '../../base/config/flag.js';
import { formatFlags } from '../../base/config/help.js';
import { LoggingOptions } from '../../base/config/logging.options.js';
import { deprecationWarnings } from '../../base/config/parse-options.js';
import { assetPrograms, commands } from './all-commands.js';
import { type Command, warningsWithoutLog } from './command.js';
import { manualPages } from './manual/man-page.js';

const projectFile = (...path: readonly string[]) => readFileSync(join(mainFile, '..', '..', '..', ...path), 'utf8');
const { version } = JSON.parse(projectFile('package.json')) as { readonly version: string };

/** Flags that users type stay for 12 months; those for administrators, 6 months. A release comes every 4 months. */
const userCommands: ReadonlySet<string> = new Set([
  'dev',
  'kubeconfig',
  'top',
  'doctor',
  'console',
  'backup',
  'import',
  'restore',
  'sql',
  'assets',
  'completion',
]);
const releasesFor = (command: string): number => (userCommands.has(command) ? 3 : 2);

interface Release {
  readonly major: number;
  readonly minor: number;
}

function releaseOf(text: string): Release {
  const [, major, minor] =
    /^(\d+)\.(\d+)(?:\.|$)/.exec(text) ?? assert.fail(`${JSON.stringify(text)} is not a release`);
  return { major: Number(major), minor: Number(minor) };
}

const isAtMost = (a: Release, b: Release): boolean => a.major < b.major || (a.major === b.major && a.minor <= b.minor);

/** The policy's objection to the end of a flag of a command; undefined for none. */
function policyProblem({ since, until }: Pick<Deprecation, 'since' | 'until'>, command: string): string | undefined {
  const [from, to] = [releaseOf(since), releaseOf(until)];
  if (!isAtMost(from, releaseOf(version))) return `is announced by release ${since}, which is yet to come`;
  // Nobody knows how many releases come before the next major one.
  if (from.major !== to.major) return `must end within the major release that announced it`;
  const least = releasesFor(command);
  return to.minor - from.minor < least ? `stays for less than ${least} releases` : undefined;
}

const flagsOfCommand = ({ groups }: Command) => Object.values(groups).flatMap(flagsOf);

describe('deprecated flags', () => {
  class Options {
    @Flag({
      name: 'old-flag',
      type: 'string',
      usage: 'Does it the old way.',
      deprecated: { since: '0.1', until: '0.4', advice: 'use --new-flag' },
    })
    readonly oldFlag: string = '';
  }
  const groups = { dev: Options };
  const end = 'since release 0.1, may be missing from release 0.4 on: use --new-flag';
  const warnings = (argv: string[], environment: Record<string, string> = {}) =>
    deprecationWarnings({ groups, argv, environment });

  it('warn when the command line or the environment uses them, of when they end and what to use', () => {
    assert.deepEqual(warnings([]), []);
    assert.deepEqual(warnings(['--old-flag=x', '--old-flag=y']), [`--old-flag is deprecated ${end}`]);
    assert.deepEqual(warnings([], { PLINTH_OLD_FLAG: 'x' }), [`PLINTH_OLD_FLAG is deprecated ${end}`]);
  });

  it('warn in commands without a log as well, beside names of files, unless the variable silences them', () => {
    const argv = ['file.json', '--old-flag', 'x'];
    assert.deepEqual(warningsWithoutLog({ groups }, argv, {}), [`--old-flag is deprecated ${end}`]);
    assert.deepEqual(warningsWithoutLog({ groups }, argv, { PLINTH_DEPRECATION_WARNINGS: 'false' }), []);
    assert.equal(warningsWithoutLog({ groups }, argv, { PLINTH_DEPRECATION_WARNINGS: 'maybe' }).length, 1);
    assert.deepEqual(warningsWithoutLog({ groups: { ...groups, logging: LoggingOptions } }, argv, {}), []);
  });

  it('say so in the help and in the manual page', () => {
    const sentence = `Does it the old way. Deprecated ${end}.`;
    assert.ok(formatFlags(groups).replaceAll(/\s+/g, ' ').includes(sentence));
    const command = { ...(commands[0] as Command), name: 'old', groups };
    const page = manualPages([command], { version, date: '2026-01-02' }).get('plinth-old.1') ?? '';
    assert.ok(page.replaceAll('\\-', '-').replaceAll(/\s+/g, ' ').includes(sentence), page);
  });
});

describe('the policy for deprecated flags', () => {
  it('measures their time in releases, longer for what users type', () => {
    assert.equal(policyProblem({ since: '0.1', until: '0.4' }, 'dev'), undefined);
    assert.equal(policyProblem({ since: '0.1', until: '0.3' }, 'serve'), undefined);
    assert.match(policyProblem({ since: '0.1', until: '0.3' }, 'dev') ?? '', /less than 3 releases/);
    assert.match(policyProblem({ since: '0.1', until: '0.2' }, 'serve') ?? '', /less than 2 releases/);
    assert.match(policyProblem({ since: '0.1', until: '1.3' }, 'serve') ?? '', /within the major/);
    assert.match(policyProblem({ since: '99.0', until: '99.9' }, 'serve') ?? '', /yet to come/);
    assert.throws(() => policyProblem({ since: 'soon', until: '0.3' }, 'serve'), /"soon" is not a release/);
  });

  it('is kept by every flag of every command', () => {
    const problems = [...commands, ...assetPrograms].flatMap((command) =>
      flagsOfCommand(command).flatMap(({ name, deprecated }) => {
        const problem = deprecated && policyProblem(deprecated, command.name);
        return problem === undefined ? [] : [`plinth ${command.name} --${name} ${problem}`];
      }),
    );
    assert.deepEqual(problems, []);
  });

  it('lets no flag of a release go without having been announced', () => {
    const { released, removed } = JSON.parse(projectFile('test', 'facts', 'released-flags.json')) as Ledger;
    assert.ok(Object.keys(released).length > 0);
    for (const end of removed) {
      assert.equal(policyProblem(end, end.command), undefined, `${end.command} --${end.flag}`);
      assert.ok(
        isAtMost(releaseOf(end.until), releaseOf(version)),
        `${end.command} --${end.flag} is removed too early`,
      );
    }
    const known = new Map([...commands, ...assetPrograms].map((command) => [command.name, spellings(command)]));
    const missing = Object.entries(released).flatMap(([release, byCommand]) =>
      Object.entries(byCommand).flatMap(([command, flags]) =>
        flags
          .filter((flag) => known.get(command)?.has(flag) !== true)
          .filter((flag) => !removed.some((end) => end.command === command && end.flag === flag))
          .map((flag) => `plinth ${command} --${flag} of release ${release}`),
      ),
    );
    assert.deepEqual(missing, []);
  });
});

/** The flags of each release by command, and those that are gone, with the end that they were announced with. */
interface Ledger {
  readonly released: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly removed: readonly (Pick<Deprecation, 'since' | 'until'> & {
    readonly command: string;
    readonly flag: string;
  })[];
}

function spellings(command: Command): ReadonlySet<string> {
  return new Set(flagsOfCommand(command).flatMap(({ name, aliases = [] }) => [name, ...aliases]));
}
