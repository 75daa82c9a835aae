import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planZones } from './zone-shares.js';

/** `a3 b1`: three times `a`, once `b`. */
function zones(text: string): string[] {
  return text
    .split(' ')
    .filter((part) => part !== '')
    .flatMap((part) => new Array<string>(Number(part.slice(1))).fill(part[0] === '?' ? '' : (part[0] ?? '')));
}

function shares(text: string): ReadonlyMap<string, number> {
  const parts = new Map(text.split(' ').map((part) => [part[0] ?? '', Number(part.slice(1))]));
  const sum = [...parts.values()].reduce((all, one) => all + one, 0);
  return new Map([...parts].map(([zone, part]) => [zone, part / sum]));
}

function counts(list: readonly string[]): string {
  const found = new Map<string, number>();
  for (const zone of list) found.set(zone, (found.get(zone) ?? 0) + 1);
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([zone, count]) => `${zone}${count}`)
    .join(' ');
}

describe('the zones that use endpoints', () => {
  const planned: readonly (readonly [endpoints: string, shares: string, plan: string])[] = [
    ['a2 b2', 'a1 b1', 'a2 b2'],
    ['a3 b1', 'a1 b1', 'a2 b2'],
    ['a6 b5', 'a1 b1', 'a6 b5'],
    ['a10 b8', 'a1 b1', 'a10 b8'],
    ['a11 b7', 'a1 b1', 'a10 b8'],
    ['a18', 'a2 b1', 'a13 b5'],
    ['a3 b3 c3', 'a1 b1 c1', 'a3 b3 c3'],
    ['a9', 'a1 b1 c1', 'a3 b3 c3'],
    ['x4 a2', 'a1 b1', 'a3 b3'],
    ['x9', 'a2 b1', 'a6 b3'],
  ];
  for (const [endpoints, by, plan] of planned) {
    it(`${endpoints} by ${by} are ${plan}`, () => {
      const given = zones(endpoints);
      const found = planZones(given, shares(by));
      assert.ok('zones' in found, JSON.stringify(found));
      assert.equal(counts(found.zones), plan);
      // No more endpoints serve another zone than necessary.
      const own = (zone: string) => found.zones.filter((used, i) => used === zone && given[i] === zone).length;
      for (const zone of new Set(given)) {
        const most = Math.min(
          given.filter((one) => one === zone).length,
          found.zones.filter((one) => one === zone).length,
        );
        assert.equal(own(zone), most, zone);
      }
    });
  }

  const refused: readonly (readonly [endpoints: string, shares: string | undefined, problem: RegExp])[] = [
    ['a4', undefined, /^Insufficient Node information: allocatable CPU or zone not specified on one or more nodes$/],
    ['a4', 'a1', /^Nodes only ready in one zone$/],
    ['a2', 'a1 b1 c1', /^Insufficient number of endpoints \(2 endpoints, 3 zones\)$/],
    ['a1 b1 c1 d1', 'a9 b2 c1 d1', /^Unable to allocate minimum required endpoints .* \(4 endpoints, 4 zones\)$/],
    ['a3 ?1', 'a1 b1', /^One or more endpoints do not have a zone specified$/],
  ];
  for (const [endpoints, by, problem] of refused) {
    it(`${endpoints} by ${by ?? 'nothing'} have none`, () => {
      const found = planZones(zones(endpoints), by === undefined ? undefined : shares(by));
      assert.ok('problem' in found, JSON.stringify(found));
      assert.match(found.problem, problem);
    });
  }
});
