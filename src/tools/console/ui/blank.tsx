import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons.js';

interface BlankProps {
  readonly icon?: IconName;
  readonly title: string;
  /** What to do next: a sentence, buttons, links. */
  readonly children?: ComponentChildren;
}

/** A placeholder for an empty list, with a hint what to do. */
export function Blank({ icon = 'search', title, children }: BlankProps) {
  return (
    <div class="blank">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <div class="blank-next">{children}</div>}
    </div>
  );
}

/** A placeholder for lines of text that are being loaded. */
export function Skeleton({ lines = 6 }: { readonly lines?: number }) {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class={`bone b${line % 5}`} />
      ))}
    </div>
  );
}
