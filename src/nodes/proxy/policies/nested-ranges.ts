import { parseCidr } from '../../../base/config/network.js';
import type { Family } from '../rules/family.js';

/** The ranges of a family without those that lie in another one: the kernel refuses sets whose ranges overlap. */
export function outermostRanges(texts: readonly string[], family: Family): readonly string[] {
  const digit = family === 'IPv4' ? 4 : 6;
  const bits = digit === 4 ? 32 : 128;
  const ranges = texts
    .flatMap((text) => {
      const range = parseCidr(text);
      if (range?.family !== digit) return [];
      return [{ text, first: range.first, last: range.first + (1n << BigInt(bits - range.prefix)) - 1n }];
    })
    .sort((a, b) =>
      a.first === b.first ? Number(b.last > a.last) - Number(b.last < a.last) : a.first < b.first ? -1 : 1,
    );
  const kept: typeof ranges = [];
  for (const range of ranges) {
    const before = kept.at(-1);
    if (before === undefined || range.first > before.last) kept.push(range);
  }
  return kept.map(({ text }) => text);
}

interface Ports {
  readonly first: number;
  readonly last: number;
}

/** Ranges of ports, sorted, without two that overlap or touch. */
export function mergedPorts(ranges: readonly Ports[]): readonly Ports[] {
  const merged: { first: number; last: number }[] = [];
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else merged.push({ first, last });
  }
  return merged;
}
