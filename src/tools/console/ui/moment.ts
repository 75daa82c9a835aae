import { signal } from '@preact/signals';

/** A moment in the past. */
export interface Moment {
  /** In milliseconds since 1970. */
  readonly time: number;
  /** The version that was the newest then. */
  readonly version: string;
}

/** The moment that the page shows; undefined: now. */
export const moment = signal<Moment | undefined>(undefined);

/** The time that is asked for while its version is not known yet, in milliseconds since 1970. */
export const sought = signal<number | undefined>(undefined);

/** The version that is shown, for what has to be read again when it changes; empty: now. */
export function shownVersion(): string {
  return moment.value?.version ?? '';
}

/** The time in an address, as {@link withTime} puts it there. */
export function timeIn(fragment: string): number | undefined {
  const [, search = ''] = fragment.split('?');
  const at = new URLSearchParams(search).get('at');
  const time = at === null ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? undefined : time;
}

/** The address of the page with this time, or without a time. */
export function withTime(fragment: string, time: number | undefined): string {
  const [path = '', search = ''] = fragment.split('?');
  const query = new URLSearchParams(search);
  query.delete('at');
  if (time !== undefined) query.set('at', new Date(time).toISOString().replace('.000Z', 'Z'));
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}
