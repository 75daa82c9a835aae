import type { Tone } from './status.js';

/** One shape for each tone, so that it can be read without colours. */
const shapes: Readonly<Record<Tone, string>> = {
  good: 'M6 1a5 5 0 1 0 .01 0zM3.6 6.2l1.7 1.7 3.2-3.6',
  busy: 'M6 1a5 5 0 1 0 .01 0zM6 3.2V6h2.4',
  warn: 'M6 1.2 11.2 10.5H.8zM6 4.6v2.6M6 8.8h.01',
  bad: 'M3.8 1h4.4L11 3.8v4.4L8.2 11H3.8L1 8.2V3.8zM4.2 4.2l3.6 3.6M7.8 4.2 4.2 7.8',
  idle: 'M6 1a5 5 0 1 0 .01 0zM3.8 6h4.4',
};

export function StatusMark({ tone }: { readonly tone: Tone }) {
  return (
    <svg class={`mark ${tone}`} viewBox="0 0 12 12" aria-hidden="true">
      <path d={shapes[tone]} />
    </svg>
  );
}

/** A word with its status, in a table or a text. */
export function StatusText({ tone, text }: { readonly tone: Tone; readonly text: string }) {
  return (
    <span class={`status ${tone}`}>
      <StatusMark tone={tone} />
      <span>{text}</span>
    </span>
  );
}
