import type { RuleSettings } from './rule-types.js';

/** The statement that marks a packet for masquerading. */
export function markRule({ masqueradeMark }: Pick<RuleSettings, 'masqueradeMark'>): string {
  return `meta mark set meta mark or ${hexMark(masqueradeMark)}`;
}

/** A mark in the notation of nftables. */
export function hexMark(mark: number): string {
  return `0x${mark.toString(16).padStart(8, '0')}`;
}
