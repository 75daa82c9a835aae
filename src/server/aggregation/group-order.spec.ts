import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { vendorNames } from '../../base/machinery/vendor.js';
import { ApiServiceIndex } from './api-service-index.js';
import type { KnownApiService } from './known-api-service.js';
import { LocalPriorities } from './local-priorities.js';

const remote = { namespace: 'n', service: 's', port: 443, caBundle: '', insecureSkipTLSVerify: false };

/** @param services `group/version groupPriority versionPriority`, remote unless it says `local` */
function indexOf(...services: string[]): ApiServiceIndex {
  const known = services.map((text): KnownApiService => {
    const [path = '', groupPriority, versionPriority, local] = text.split(' ');
    const [group = '', version = ''] = path.split('/');
    return {
      name: `${version}.${group}`,
      group,
      version,
      groupPriority: Number(groupPriority),
      versionPriority: Number(versionPriority),
      remote: local === undefined ? remote : undefined,
      isAvailable: true,
      reason: '',
    };
  });
  return new ApiServiceIndex(
    { all: () => known.values(), changes: 1 },
    new LocalPriorities(vendorNames('example.dev')),
  );
}

const ordered = (index: ApiServiceIndex, ...local: string[]) =>
  index
    .ordered(
      local.map((text) => {
        const [group = '', ...versions] = text.split(' ');
        return { group, versions: versions.length === 0 ? ['v1'] : versions };
      }),
    )
    .map(({ group, versions }) => `${group} ${versions.join(' ')}`);

describe('the order of groups', () => {
  it('lists built-in ones in their order before all others', () => {
    const groups = ordered(
      indexOf(),
      'aaa.test',
      'batch',
      'apps.test',
      'apps',
      'zzz.example.dev',
      'apiregistration.example.dev',
      'rbac.authorization.example.dev',
      'events.example.dev',
      'autoscaling v1 v2',
    );
    assert.deepEqual(groups, [
      'apiregistration.example.dev v1',
      'apps v1',
      'events.example.dev v1',
      'autoscaling v2 v1',
      'batch v1',
      'rbac.authorization.example.dev v1',
      'aaa.test v1',
      'apps.test v1',
      'zzz.example.dev v1',
    ]);
  });

  it('follows the priorities of APIServices, also for local groups', () => {
    const index = indexOf(
      'b.test/v1 2000 10',
      'b.test/v2alpha1 18500 20',
      'b.test/v3 100 10',
      'own.test/v1 3000 5 local',
    );
    assert.deepEqual(ordered(index, 'apps', 'own.test', 'a.test', 'b.test v1beta1'), [
      'b.test v1beta1 v2alpha1 v3 v1',
      'apps v1',
      'own.test v1',
      'a.test v1',
    ]);
  });

  it('keeps the group of APIServices first', () => {
    const index = indexOf('apiregistration.example.dev/v1 1 1', 'z.test/v1 20000 1');
    assert.deepEqual(ordered(index, 'apiregistration.example.dev'), ['apiregistration.example.dev v1', 'z.test v1']);
    assert.equal(index.remote('apiregistration.example.dev', 'v1'), undefined);
    assert.equal(index.remote('z.test', 'v1')?.name, 'v1.z.test');
    assert.equal(indexOf('/v1 1 1').remote('', 'v1'), undefined);
  });
});
