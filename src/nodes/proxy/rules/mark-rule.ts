import type { RuleSettings } from './rule-types.js';

/** The statement that marks a packet whose sender becomes the node. */
export function markRule({ masqueradeMark }: Pick<RuleSettings, 'masqueradeMark'>): string {
  return `meta mark set meta mark or ${hexMark(masqueradeMark)}`;
}

/** A mark as nftables shows it. */
export function hexMark(mark: number): string {
  return `0x${mark.toString(16).padStart(8, '0')}`;
}
