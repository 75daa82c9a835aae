import assert from 'node:assert/strict';
import { it } from 'node:test';
import { orderGroups } from './group-order.js';

it('lists built-in groups in their order before all others', () => {
  const names = [
    'aaa.test',
    'batch',
    'apps.test',
    'apps',
    'zzz.example.dev',
    '',
    'rbac.authorization.example.dev',
    'events.example.dev',
  ];
  const ordered = orderGroups(
    names.map((group) => ({ group, versions: ['v1'] })),
    'example.dev',
  );
  assert.deepEqual(
    ordered.map((g) => g.group),
    [
      '',
      'apps',
      'events.example.dev',
      'batch',
      'rbac.authorization.example.dev',
      'aaa.test',
      'apps.test',
      'zzz.example.dev',
    ],
  );
});
