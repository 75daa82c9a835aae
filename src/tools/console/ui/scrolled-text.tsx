import type { ComponentChildren } from 'preact';

interface ScrolledTextProps {
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** Text in lines that may be longer than there is room for; keys can scroll it. */
export function ScrolledText({ class: name, children }: ScrolledTextProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be reached by keys
    <pre class={name} tabIndex={0}>
      {children}
    </pre>
  );
}
