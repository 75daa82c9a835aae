import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface MenuProps {
  /** What the button shows. */
  readonly label: ComponentChildren;
  /** The name of the button, if its content is not text. */
  readonly name?: string;
  readonly title?: string;
  readonly kind?: 'plain' | 'main' | 'usual';
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that shows a sheet below it, until Escape, a click elsewhere, or a choice. */
export function Menu({ label, name, title, kind = 'usual', children }: MenuProps) {
  const isOpen = useSignal(false);
  const frame = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const sheet = useId();
  const close = () => {
    isOpen.value = false;
    button.current?.focus();
  };
  useEffect(() => {
    const outside = (event: Event) => {
      if (event.target instanceof Node && frame.current?.contains(event.target) !== true) isOpen.value = false;
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, []);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears what its controls do not take
    <span
      ref={frame}
      class="menu-frame"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen.value) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={button}
        type="button"
        class={kind === 'usual' ? '' : kind}
        aria-expanded={isOpen.value}
        aria-controls={sheet}
        aria-label={name}
        title={title}
        onClick={() => {
          isOpen.value = !isOpen.value;
        }}
      >
        {label}
      </button>
      {isOpen.value && (
        <div class="sheet" id={sheet}>
          {children(close)}
        </div>
      )}
    </span>
  );
}
