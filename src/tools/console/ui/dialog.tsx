import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/**
 * A modal dialog of the browser: it keeps the focus, and Escape closes it. It opens and closes before the next key: the
 * browser's events for this come later.
 */
export function Dialog({ title, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const { current } = element;
    current?.showModal();
    // Gives the focus back.
    return () => current?.close();
  }, []);
  const leave = (event: Event) => {
    event.preventDefault();
    // The dialog has closed before the page receives the key, which is not meant for the page.
    event.stopPropagation();
    close();
  };
  return (
    <dialog
      ref={element}
      aria-labelledby={heading}
      onCancel={leave}
      onKeyDown={(event) => {
        if (event.key === 'Escape') leave(event);
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" onClick={close} aria-label="Close">
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}
