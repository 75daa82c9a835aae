import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ControlLoopOptions, controllerDefaults, selectedControllers } from './control-loop.options.js';
import { OptionsError } from './options-error.js';
import { deprecationWarnings, parseOptions } from './parse-options.js';
import { loopOfRelease, releaseLoopNames } from './release-loop-names.js';

const parse = (...argv: string[]) =>
  parseOptions({ groups: { controllers: ControlLoopOptions }, argv, environment: {} }).controllers;

function problems(...argv: string[]): readonly string[] {
  try {
    parse(...argv);
    return [];
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
}

describe('--controllers', () => {
  const usual = Object.entries(controllerDefaults)
    .filter(([, isOn]) => isOn)
    .map(([name]) => name);
  const ownLoops = [
    'eventttl',
    'storage-version-migrator',
    'allocation-repair',
    'validatingadmissionpolicy-status',
    'customresourcedefinition-status',
    'customresourcedefinition-cleanup',
    'sql-views',
    'sql-projection',
    'apiservice-registration',
    'apiservice-availability',
  ];
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['*', usual],
    ['*,tokencleaner', [...usual, 'tokencleaner']],
    ['*,-csrcleaner', usual.filter((name) => name !== 'csrcleaner')],
    ['csrsigning,bootstrapsigner', ['csrsigning', 'bootstrapsigner']],
    ['csrsigning,-csrsigning', []],
    ['-csrsigning', []],
    ['-*', ownLoops],
    ['-*,csrsigning,-sql-views', [...ownLoops.filter((name) => name !== 'sql-views'), 'csrsigning']],
  ];
  for (const [list, expected] of cases) {
    it(`${list} runs ${expected.length}`, () => {
      assert.deepEqual([...selectedControllers(parse(`--controllers=${list}`).controllers)], expected);
    });
  }

  it('knows all its names', () => {
    assert.match(
      problems('--controllers=*,nosuch').join(),
      /names the unknown control loop nosuch; choose from .*csrsigning/,
    );
  });
});

describe('--cluster-signing', () => {
  it('needs both files of a pair', () => {
    for (const name of ['cluster-signing', 'cluster-signing-nodeagent-serving', 'cluster-signing-legacy-unknown']) {
      for (const file of ['cert', 'key']) {
        assert.match(problems(`--${name}-${file}-file=a`).join(), /needs both certificate and key file/);
      }
      assert.deepEqual(problems(`--${name}-cert-file=a`, `--${name}-key-file=b`), []);
    }
  });

  it('signs for a year unless told otherwise', () => {
    assert.equal(parse().clusterSigningDurationMs, 365 * 86_400_000);
    assert.equal(parse('--cluster-signing-duration=2h').clusterSigningDurationMs, 7_200_000);
    assert.match(problems('--cluster-signing-duration=1m').join(), /must be 10m or more/);
  });

  it('takes the names of release 1.37 beside its own', () => {
    const both = (...list: string[]) => [...selectedControllers(list)].sort();
    assert.deepEqual(both('node-lifecycle-controller', 'ttl-controller'), ['nodelifecycle', 'ttl']);
    assert.ok(!both('*', '-garbage-collector-controller').includes('garbagecollector'));
    assert.ok(both('*', '-taint-eviction-controller', 'token-cleaner-controller').includes('tokencleaner'));
    for (const name of releaseLoopNames) {
      const own = loopOfRelease(name);
      if (own !== undefined) assert.deepEqual(both(name), [own], name);
    }
    const warned = (text: string) =>
      deprecationWarnings({ groups: { loops: ControlLoopOptions }, argv: [`--controllers=${text}`], environment: {} });
    assert.deepEqual(warned('*,-selinux-warning-controller'), [
      '--controllers: this program has no control loop selinux-warning-controller',
    ]);
    assert.deepEqual(warned('*,-node-lifecycle-controller'), []);
  });
});
