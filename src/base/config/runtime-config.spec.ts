import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterOptions } from './cluster.options.js';
import { OptionsError } from './options-error.js';
import { parseOptions } from './parse-options.js';
import { RuntimeConfig, runtimeConfigWarnings } from './runtime-config.js';

function parse(argv: readonly string[], environment: Record<string, string> = {}): readonly string[] {
  return parseOptions({ groups: { cluster: ClusterOptions }, argv, environment }).cluster.runtimeConfig;
}

function problemsOf(text: string): readonly string[] {
  try {
    parse([`--runtime-config=${text}`]);
  } catch (error) {
    assert.ok(error instanceof OptionsError);
    return error.problems;
  }
  return [];
}

const resources = [
  { group: '', version: 'v1', resource: 'pods' },
  { group: 'apps', version: 'v1', resource: 'deployments' },
  { group: 'apps', version: 'v1', resource: 'replicasets' },
  { group: 'policy', version: 'v1beta1', resource: 'podsecuritypolicies' },
  { group: 'x.io', version: 'v1alpha1', resource: 'things' },
];

/** Which of the resources above are served, by plural name. */
const cases: readonly (readonly [config: string, served: readonly string[]])[] = [
  ['', ['pods', 'deployments', 'replicasets', 'podsecuritypolicies']],
  ['api/all', ['pods', 'deployments', 'replicasets', 'podsecuritypolicies', 'things']],
  ['api/alpha=true', ['pods', 'deployments', 'replicasets', 'podsecuritypolicies', 'things']],
  ['api/beta=false', ['pods', 'deployments', 'replicasets']],
  ['api/ga=0', ['podsecuritypolicies']],
  ['api/all=false,v1', ['pods']],
  ['v1=true,api/all=false', ['pods']],
  ['api/all=false,api/beta=true', ['podsecuritypolicies']],
  ['v1=false', ['deployments', 'replicasets', 'podsecuritypolicies']],
  ['v1=false,v1=true', ['pods', 'deployments', 'replicasets', 'podsecuritypolicies']],
  ['v1=false,v1/pods', ['pods', 'deployments', 'replicasets', 'podsecuritypolicies']],
  ['apps/v1/replicasets=false', ['pods', 'deployments', 'podsecuritypolicies']],
  ['apps/v1/replicasets,apps/v1=false,api/beta=false', ['pods', 'replicasets']],
  ['x.io/v1alpha1=,api/alpha=false,api/beta=FALSE', ['pods', 'deployments', 'replicasets', 'things']],
  ['api/legacy=false', ['pods', 'deployments', 'replicasets', 'podsecuritypolicies']],
];

describe('--runtime-config', () => {
  for (const [config, served] of cases) {
    it(`${JSON.stringify(config)} serves ${served.join(', ')}`, () => {
      const runtimeConfig = RuntimeConfig.of(parse(config === '' ? [] : [`--runtime-config=${config}`]));
      assert.deepEqual(
        resources.filter((resource) => runtimeConfig.isServed(resource)).map(({ resource }) => resource),
        served,
      );
      assert.deepEqual(runtimeConfig.unknownKeys(resources), []);
    });
  }

  it('serves versions that are off by default only when a key names them', () => {
    const beta = { group: 'x.io', version: 'v1beta1', resource: 'things' };
    const served = (...pairs: string[]) => RuntimeConfig.of(pairs).isServed(beta, { isOffByDefault: true });
    assert.equal(served(), false);
    assert.equal(served('api/alpha=true'), false);
    for (const key of ['api/all', 'api/beta', 'x.io/v1beta1', 'x.io/v1beta1/things'])
      assert.equal(served(key), true, key);
    assert.equal(served('api/beta', 'x.io/v1beta1=false'), false);
  });

  it('serves versions that the API release does not have only when a key has their name', () => {
    const beta = { group: 'x.io', version: 'v1beta1', resource: 'things' };
    const served = (...pairs: string[]) => RuntimeConfig.of(pairs).isServed(beta, { isOnlyByName: true });
    for (const pairs of [[], ['api/all'], ['api/beta'], ['x.io/v1'], ['x.io/v1beta1', 'x.io/v1beta1/things=false']])
      assert.equal(served(...pairs), false, pairs.join());
    for (const key of ['x.io/v1beta1', 'x.io/v1beta1/things']) assert.equal(served(key), true, key);
  });

  it('takes the core group by its path, too', () => {
    const pods = { group: '', version: 'v1', resource: 'pods' };
    const isServed = (...pairs: string[]) => RuntimeConfig.of(pairs).isServed(pods);
    assert.deepEqual(problemsOf('api/v1,api/v1/pods=false'), []);
    assert.deepEqual(RuntimeConfig.of(['api/v1', 'api/v1/pods=false']).unknownKeys([pods]), []);
    assert.equal(isServed('api/all=false', 'api/v1'), true);
    assert.equal(isServed('api/v1=false'), false);
    assert.equal(isServed('api/v1/pods=false'), false);
    assert.deepEqual(RuntimeConfig.of(['api/v2']).unknownKeys([pods]), [
      '--runtime-config v2: no such version or resource',
    ]);
  });

  it('is appended to when given again, and has an environment variable', () => {
    assert.deepEqual(parse(['--runtime-config=v1=false', '--runtime-config', 'api/beta=false,apps/v1']), [
      'v1=false',
      'api/beta=false',
      'apps/v1',
    ]);
    assert.deepEqual(parse([], { PLINTH_RUNTIME_CONFIG: 'api/all=true' }), ['api/all=true']);
  });

  it('refuses meaningless keys and values, and reports all of them at once', () => {
    const text = 'v1=maybe,apps,api/gamma,/v1,apps/v1/a/b,Apps/v1,=true,v1x';
    assert.deepEqual(problemsOf(text), [
      `--runtime-config ${text}: v1 must be true or false; ` +
        ['apps', 'api/gamma', '/v1', 'apps/v1/a/b', 'Apps/v1', '', 'v1x']
          .map((key) => `${JSON.stringify(key)} is not a key such as api/beta, v1 or <group>/<version>`)
          .join('; '),
    ]);
    assert.deepEqual(problemsOf('api/all=false'), [
      '--runtime-config api/all=false: api/all=false alone serves nothing',
    ]);
    assert.deepEqual(problemsOf('api/all=false,v1'), []);
  });

  it('names every key that matches nothing', () => {
    const runtimeConfig = RuntimeConfig.of(['apps/v2', 'v1', 'apps/v1/pods=false', 'api/all', 'y.io/v1']);
    assert.deepEqual(runtimeConfig.unknownKeys(resources), [
      '--runtime-config apps/v2: no such version or resource',
      '--runtime-config apps/v1/pods: no such version or resource',
      '--runtime-config y.io/v1: no such version or resource',
    ]);
  });

  it('warns about the key that no longer has an effect', () => {
    assert.deepEqual(runtimeConfigWarnings(['api/all', 'v1=false']), []);
    assert.match(
      runtimeConfigWarnings(['v1', 'api/legacy=false']).join('\n'),
      /^api\/legacy is deprecated since release 0\.1, may be missing from release 0\.4 on: .*name the version instead$/,
    );
  });
});
