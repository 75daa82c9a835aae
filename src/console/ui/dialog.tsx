import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog of the browser: it keeps the focus, and Escape closes it. */
export function Dialog({ title, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    element.current?.showModal();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={heading} onClose={close}>
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" onClick={() => element.current?.close()} aria-label="Close">
          ×
        </button>
      </header>
      {children}
    </dialog>
  );
}
