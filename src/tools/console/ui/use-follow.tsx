import { useEffect } from 'preact/hooks';
import { shownVersion } from './moment.js';

/** A tab in the background gives its connection back after this time; browsers have few for one host. */
const hiddenMs = 60_000;

/** Runs something until the inputs or the moment that is shown change, or the page is left, except while the tab has been hidden for long. */
export function useWhileShown(run: (signal: AbortSignal) => Promise<void>, inputs: readonly unknown[]): void {
  useEffect(() => {
    let running: AbortController | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const start = () => {
      clearTimeout(timer);
      if (running !== undefined) return;
      running = new AbortController();
      void run(running.signal);
    };
    const stop = () => {
      running?.abort();
      running = undefined;
    };
    const look = () => {
      if (document.hidden) timer = setTimeout(stop, hiddenMs);
      else start();
    };
    start();
    document.addEventListener('visibilitychange', look);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', look);
      stop();
    };
  }, [...inputs, shownVersion()]);
}
