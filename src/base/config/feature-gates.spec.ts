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
import { deprecationWarnings, OptionsError, parseOptions } from './parse-options.js';

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
      ['WatchBookmark=false', "WatchBookmark can't be set to false: it is locked to true"],
    ] as const) {
      assert.equal(featureGatesProblem([pair]), problem);
    }
    assert.throws(
      () => parse('--feature-gates=Nonsense=true,WatchBookmark=false'),
      (error: unknown) =>
        error instanceof OptionsError && /Nonsense; WatchBookmark can't be set/.test(error.problems.join()),
    );
  });

  it('warns of gates that come to an end', () => {
    assert.deepEqual(featureGateWarnings(['WatchList=true']), []);
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

  it('describes every gate', () => {
    const text = describeFeatureGates();
    for (const { name } of defaultFeatureGates.states()) assert.ok(text.includes(name), name);
  });
});
