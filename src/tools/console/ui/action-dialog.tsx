import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';

interface ActionDialogProps {
  readonly title: string;
  readonly text?: string;
  readonly verb: string;
  readonly isDangerous?: boolean;
  /** Whether it can't be done as things stand. */
  readonly isBlocked?: boolean;
  readonly run: () => Promise<unknown>;
  readonly close: () => void;
  readonly children?: ComponentChildren;
}

/** Asks before something happens, and shows why it failed. */
export function ActionDialog(props: ActionDialogProps) {
  const { title, text, verb, isDangerous = false, isBlocked = false, run, close, children } = props;
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const submit = async () => {
    if (isBusy.value || isBlocked) return;
    isBusy.value = true;
    problem.value = '';
    try {
      await run();
      close();
    } catch (error) {
      problem.value = (error as Error).message;
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={title} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {text !== undefined && <p>{text}</p>}
        {children}
        <p role="alert" class="problem">
          {problem.value}
        </p>
        <p class="actions">
          <button type="submit" class={isDangerous ? 'danger solid' : 'main'} aria-disabled={isBusy.value || isBlocked}>
            {verb}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
