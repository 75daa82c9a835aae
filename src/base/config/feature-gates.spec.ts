import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterOptions } from './cluster.options.js';
import {
  defaultFeatureGates,
  describeFeatureGates,
  FeatureGates,
  featureGatesProblem,
  featureGateWarnings,
} from './feature-gates.js';
import { OptionsError } from './options-error.js';
import { deprecationWarnings, parseOptions } from './parse-options.js';

const parse = (...argv: string[]) => parseOptions({ groups: { cluster: ClusterOptions }, argv, environment: {} });

describe('feature gates', () => {
  it('has the gates of the specification, on by default', () => {
    const named = [
      'APIListChunking',
      'APIPriorityAndFairness',
      'RemainingItemCount',
      'EfficientWatchResumption',
    ] as const;
    for (const name of [...named, 'ServerSideFieldValidation', 'PodSecurity'] as const) {
      assert.ok(defaultFeatureGates.isOn(name), name);
      assert.ok(!FeatureGates.of([`${name}=false`]).isOn(name), name);
    }
  });

  it('switches all of a stage, except those that are named, wherever', () => {
    for (const pairs of [
      ['AllBeta=false', 'WatchList=true'],
      ['WatchList=true', 'AllBeta=false'],
    ]) {
      const gates = FeatureGates.of(pairs);
      assert.ok(gates.isOn('WatchList'));
      assert.ok(!gates.isOn('APIListChunking'));
      assert.ok(gates.isOn('ServerSideApply'), 'settled');
    }
    assert.ok(FeatureGates.of(['AllAlpha=false']).isOn('WatchList'));
  });

  it('lets the last of several values count, spelt in any usual way', () => {
    assert.ok(!FeatureGates.of(['WatchList=1', 'WatchList=F']).isOn('WatchList'));
    const { featureGates } = parse(
      '--feature-gates=WatchList=false',
      '--feature-gates',
      'PodSecurity=f,WatchList=T',
    ).cluster;
    const gates = FeatureGates.of(featureGates);
    assert.ok(gates.isOn('WatchList') && !gates.isOn('PodSecurity'));
  });

  it('refuses what it does not know with all problems at once', () => {
    for (const [pair, problem] of [
      ['WatchLists=true', 'there is no feature gate WatchLists; did you mean WatchList?'],
      ['Nonsense=true', 'there is no feature gate Nonsense'],
      ['toString=true', 'there is no feature gate toString'],
      ['WatchList', '"WatchList" is not Name=true or Name=false'],
      ['=true', '"=true" is not Name=true or Name=false'],
      ['WatchList=maybe', 'WatchList must be true or false'],
      ['CRDValidationRatcheting=false', "CRDValidationRatcheting can't be set to false: it is locked to true"],
      ['AllAlpha=true', /^CompositePodGroup is on, but needs GenericWorkload, which is off; /],
      [
        'APIServerIdentity=false',
        /^UnknownVersionInteroperabilityProxy is on, but needs APIServerIdentity, which is off$/,
      ],
      ['foo:WatchList=true', 'there is no feature gate foo:WatchList; did you mean WatchList?'],
      ['WatchBookmark=false', "WatchBookmark can't be set to false: it is locked to true"],
    ] as const) {
      const found = featureGatesProblem([pair]);
      if (typeof problem === 'string') assert.equal(found, problem);
      else assert.match(found ?? '', problem);
    }
    for (const pairs of [
      ['AllBeta=false'],
      ['AllAlpha=true', 'AllBeta=true'],
      ['APIServerIdentity=false', 'UnknownVersionInteroperabilityProxy=false'],
      ['kube:WatchList=false'],
    ]) {
      assert.equal(featureGatesProblem(pairs), undefined, pairs.join());
    }
    assert.throws(
      () => parse('--feature-gates=Nonsense=true,WatchBookmark=false'),
      (error: unknown) =>
        error instanceof OptionsError && /Nonsense; WatchBookmark can't be set/.test(error.problems.join()),
    );
  });

  it('warns of gates that come to an end', () => {
    assert.deepEqual(featureGateWarnings(['WatchList=true']), []);
    for (const [pair, warning] of [
      [
        'MutablePVNodeAffinity=true',
        /^the feature gate MutablePVNodeAffinity has no effect here: this server does not have/,
      ],
      [
        'WatchListCompression=false',
        /^the feature gate WatchListCompression has no effect here: .* cannot be switched off/,
      ],
      ['CRDValidationRatcheting=true', /^the feature gate CRDValidationRatcheting will go with a later release/],
      ['StorageNamespaceIndex=false', /^the feature gate StorageNamespaceIndex is deprecated/],
    ] as const) {
      assert.match(featureGateWarnings([pair]).join(), warning);
    }
    const [line, ...more] = deprecationWarnings({
      groups: { cluster: ClusterOptions },
      argv: ['--feature-gates=ServerSideApply=true'],
      environment: {},
    });
    assert.match(
      line ?? '',
      /^--feature-gates: the feature gate ServerSideApply is deprecated since release 0\.1, may be missing from release 0\.4 on: /,
    );
    assert.deepEqual(more, []);
  });

  it('knows every gate of the release, as it stands there', () => {
    const states = new Map(defaultFeatureGates.states().map((state) => [state.name, state]));
    for (const [name, stage, isOn] of [
      ['AllAlpha', 'ALPHA', false],
      ['CBORServingAndStorage', 'ALPHA', false],
      ['ComponentStatusz', 'BETA', true],
      ['GenericWorkload', 'BETA', false],
      ['MutatingAdmissionPolicy', 'GA', true],
      ['SeparateCacheWatchRPC', 'DEPRECATED', false],
    ] as const) {
      assert.deepEqual(states.get(name), { name, stage, isOn });
    }
    assert.ok(states.size >= 255);
    for (const name of ['ComponentStatusz', 'CBORServingAndStorage'] as const) {
      assert.ok(FeatureGates.of([`${name}=true`]).isOn(name));
    }
  });

  it('describes every gate', () => {
    const text = describeFeatureGates();
    for (const { name } of defaultFeatureGates.states().filter(({ name: n }) => !n.startsWith('All')))
      assert.ok(text.includes(name), name);
  });
});
