import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Endpoint } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { type PortGroup, packSlices, type SlicePlan, type StoredSlice } from './pack-slices.js';

const web = [{ name: 'web', protocol: 'TCP' as const, port: 80 }];
const other = [{ name: 'web', protocol: 'TCP' as const, port: 81 }];

const endpoint = (id: number | string, ready = true): Endpoint => ({
  addresses: [`10.0.0.${id}`],
  conditions: { ready },
});

function group(ids: readonly (number | string)[], ports = web): PortGroup {
  return { family: 'IPv4', ports, endpoints: ids.map((id) => endpoint(id)) };
}

function slice(name: string, ids: readonly (number | string)[], ports: typeof web = web): StoredSlice {
  const endpoints = ids.map((id) => endpoint(id));
  return { metadata: { name }, addressType: 'IPv4', ports, endpoints } as unknown as StoredSlice;
}

const idsOf = ({ endpoints }: PortGroup) => endpoints.map(({ addresses }) => addresses?.[0]?.slice(7)).join(' ');

/** A plan in short: `+` creates, `name=` updates, `-name` deletes. */
function steps(plan: SlicePlan): string[] {
  return [
    ...plan.create.map((content) => `+ ${idsOf(content)}`.trim()),
    ...plan.update.map((one) => `${one.slice.metadata.name}= ${idsOf(one.content)}`.trim()),
    ...plan.delete.map(({ metadata }) => `-${metadata.name}`),
  ];
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('packSlices', () => {
  const cases: readonly (readonly [string, readonly StoredSlice[], readonly PortGroup[], readonly string[]])[] = [
    ['begins with full slices and a rest', [], [group(range(1, 7))], ['+ 1 2 3', '+ 4 5 6', '+ 7']],
    ['has nothing to do when all is there', [slice('a', [1, 2]), slice('b', [3])], [group([3, 2, 1])], []],
    ['keeps a group without endpoints in one empty slice', [], [group([], [])], ['+']],
    ['leaves that slice alone', [slice('a', [], [])], [group([], [])], []],
    ['keeps one such slice only', [slice('a', [], []), slice('b', [], [])], [group([], [])], ['-b']],
    ['turns the last slice into it', [slice('a', [1, 2])], [group([], [])], ['a=']],
    ['turns it into the first slice', [slice('a', [], [])], [group([1])], ['a= 1']],
    ['takes an endpoint out of its slice', [slice('a', [1, 2, 3]), slice('b', [4])], [group([1, 3, 4])], ['a= 1 3']],
    ['deletes a slice that ends up empty', [slice('a', [1, 2, 3]), slice('b', [4])], [group([1, 2, 3])], ['-b']],
    ['fills a slice that changes anyway', [slice('a', [1, 2]), slice('b', [3])], [group([1, 3, 4])], ['a= 1 4']],
    [
      'fills the fullest slice with room for all',
      [slice('a', [1]), slice('b', [2, 3])],
      [group(range(1, 4))],
      ['b= 2 3 4'],
    ],
    [
      'makes a slice where no one has room for all',
      [slice('a', [1, 2]), slice('b', [3, 4])],
      [group(range(1, 6))],
      ['+ 5 6'],
    ],
    [
      'unites slices that two writers filled at once',
      [slice('a', [1]), slice('b', [1, 2])],
      [group([1, 2])],
      ['a= 1 2', '-b'],
    ],
    [
      'removes an endpoint from the second slice that has it when there is no room for all',
      [slice('a', [1, 2]), slice('b', [1, 3, 4])],
      [group(range(1, 4))],
      ['b= 3 4'],
    ],
    ['takes what is too much out of a slice', [slice('a', range(1, 5))], [group(range(1, 5))], ['+ 4 5', 'a= 1 2 3']],
    ['separates groups of ports', [slice('a', [1, 2])], [group([1]), group([2], other)], ['+ 2', 'a= 1']],
    ['gives a slice other ports', [slice('a', [1, 2])], [group([1, 2], other)], ['a= 1 2']],
    ['deletes everything when nothing is wanted', [slice('a', [1]), slice('b', [2], other)], [], ['-a', '-b']],
  ];
  for (const [name, existing, groups, expected] of cases) {
    it(name, () => assert.deepEqual(steps(packSlices(existing, groups, 3)), expected));
  }

  it('writes an endpoint whose state changed into its slice', () => {
    const changed = { family: 'IPv4', ports: web, endpoints: [endpoint(1), endpoint(2, false)] } as const;
    const { update } = packSlices([slice('a', [1, 2])], [changed], 3);
    assert.deepEqual(
      update.map(({ content }) => content.endpoints),
      [[endpoint(1), endpoint(2, false)]],
    );
  });

  it('does not give a slice of one family to the other', () => {
    const six: PortGroup = { family: 'IPv6', ports: web, endpoints: [{ addresses: ['fd00::1'], conditions: {} }] };
    const plan = packSlices([slice('a', [1])], [six], 3);
    assert.deepEqual([plan.create.length, plan.update.length, plan.delete.length], [1, 0, 1]);
  });

  it('needs one write for one change among a thousand', () => {
    const slices = range(0, 9).map((i) => slice(`s${i}`, range(i * 100 + 1, i * 100 + 100)));
    const { create, update, delete: gone } = packSlices(slices, [group(range(2, 1000))], 100);
    assert.deepEqual([create.length, update.length, gone.length], [0, 1, 0]);
  });
});
