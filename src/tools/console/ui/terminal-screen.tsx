import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { FloodGate } from './flood-gate.js';
import { MarkLimit } from './mark-limit.js';
import { defineSheetElement } from './sheet-element.js';
import { ignoreHugeCounts } from './terminal-counts.js';

export interface ScreenSettings {
  /** Takes what is typed. */
  readonly input: (text: string) => void;
  readonly resized: (size: ScreenSize) => void;
  /** Leaves the screen by the keyboard: all other keys are for the program. */
  readonly leave: () => void;
}

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

/** A terminal in the page. */
export interface Screen {
  readonly write: (text: string) => void;
  /** Writes a line of the console's own. */
  readonly note: (text: string) => void;
  /** Empties the screen for another program. Without a terminal of their own, programs end lines by a line feed alone. */
  readonly reset: (isTerminal: boolean) => void;
  readonly size: () => ScreenSize;
  readonly focus: () => void;
  readonly dispose: () => void;
}

/** Sequences that would change the page, the clipboard or what a click does: titles, links, clipboard, pictures, notes. */
const ignored = [0, 1, 2, 7, 8, 9, 52, 99, 777, 1337] as const;

const colours = { background: '#16141f', foreground: '#e7e4f2', cursor: '#b3a8ff', selectionBackground: '#4f3fd188' };

/** Makes a terminal in an element, as large as the element. What programs write stays on its screen. */
export function makeScreen(host: HTMLElement, { input, resized, leave }: ScreenSettings): Screen {
  defineSheetElement();
  const terminal = new Terminal({
    theme: colours,
    fontFamily: 'ui-monospace, "SF Mono", "Cascadia Code", "DejaVu Sans Mono", monospace',
    fontSize: 13,
    scrollback: 5000,
    cursorBlink: true,
    // Reports of titles and sizes would be typed into the program.
    windowOptions: {},
    linkHandler: null,
  });
  for (const code of ignored) terminal.parser.registerOscHandler(code, () => true);
  ignoreHugeCounts(terminal.parser);
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(host);
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.key !== 'F6') return true;
    if (event.type === 'keydown') leave();
    return false;
  });
  terminal.onData(input);
  terminal.onResize(({ cols, rows }) => resized({ columns: cols, rows }));
  fit.fit();
  const watched = new ResizeObserver(() => fit.fit());
  watched.observe(host);
  const marks = new MarkLimit();
  const gate = new FloodGate((text, done) => terminal.write(text, done));
  const note = (text: string) => gate.add(`\r\n\u001b[0;38;5;245m${text.replace(/\p{C}/gu, ' ')}\u001b[0m\r\n`);
  return {
    write: (text) => gate.add(marks.pass(text)),
    note,
    reset: (isTerminal) => {
      terminal.options.convertEol = !isTerminal;
      terminal.reset();
    },
    size: () => ({ columns: terminal.cols, rows: terminal.rows }),
    focus: () => terminal.focus(),
    dispose: () => {
      watched.disconnect();
      terminal.dispose();
    },
  };
}
