import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface WideProps {
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** What may be wider than there is room for: it scrolls on its own, and where it does, keys reach it. */
export function Wide({ class: name = '', children }: WideProps) {
  const frame = useRef<HTMLDivElement>(null);
  const scrolls = useSignal(false);
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return;
    const measure = () => {
      scrolls.value = current.scrollWidth > current.clientWidth;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    for (const child of current.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={frame} class={`wide ${name}`.trimEnd()} tabIndex={scrolls.value ? 0 : undefined}>
      {children}
    </div>
  );
}
