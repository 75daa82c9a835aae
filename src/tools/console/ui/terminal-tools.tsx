import type { Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import type { Decision } from './rights.js';
import { type TerminalMode, terminalModes } from './terminal-modes.js';

interface TerminalToolsProps {
  readonly form: RefObject<HTMLFormElement | null>;
  readonly mode: Signal<TerminalMode>;
  readonly container: Signal<string>;
  readonly containers: readonly string[];
  readonly command: Signal<string>;
  readonly image: Signal<string>;
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly isOpen: boolean;
  readonly start: () => void;
  readonly stop: () => void;
  readonly endInput: () => void;
}

const titles: Readonly<Record<TerminalMode, string>> = {
  exec: 'Run a program',
  attach: 'Attach to the container',
  debug: 'Add a debugging container',
};

/** Chooses what a terminal shows. */
export function TerminalTools(props: TerminalToolsProps) {
  const { form, mode, container, containers, command, image, decisions, isOpen, start, stop, endInput } = props;
  const decision = decisions[mode.value];
  const isAllowed = decision?.isAllowed !== false;
  return (
    <>
      <form
        ref={form}
        class="log-tools"
        onSubmit={(event) => {
          event.preventDefault();
          if (isAllowed) start();
        }}
      >
        <select
          aria-label="What to do"
          value={mode.value}
          onChange={(event) => {
            mode.value = event.currentTarget.value as TerminalMode;
          }}
        >
          {terminalModes.map((each) => (
            <option key={each} value={each}>
              {titles[each]}
            </option>
          ))}
        </select>
        {containers.length > 1 && (
          <select
            aria-label="Container"
            value={container.value}
            onChange={(event) => {
              container.value = event.currentTarget.value;
            }}
          >
            {containers.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        )}
        {mode.value === 'exec' && <Field label="Command" value={command} />}
        {mode.value === 'debug' && <Field label="Image" value={image} />}
        <button type="submit" class="main" aria-disabled={!isAllowed} title={decision?.why}>
          {isOpen ? 'Start anew' : 'Connect'}
        </button>
        <button type="button" disabled={!isOpen} onClick={endInput} title="Closes the standard input of the program">
          End input
        </button>
        <button type="button" disabled={!isOpen} onClick={stop}>
          Disconnect
        </button>
      </form>
      {mode.value === 'debug' && (
        <p class="quiet">
          A container with this image joins the pod, sees the processes of <strong>{container.value}</strong>, and stays
          in the pod's specification until the pod is gone.
        </p>
      )}
    </>
  );
}

function Field({ label, value }: { readonly label: string; readonly value: Signal<string> }) {
  return (
    <input
      type="search"
      aria-label={label}
      spellcheck={false}
      autocomplete="off"
      value={value.value}
      onInput={(event) => {
        value.value = event.currentTarget.value;
      }}
    />
  );
}
