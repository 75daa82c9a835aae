import { effect, signal } from '@preact/signals';
import { ApiFault } from './api-fault.js';
import { moment, sought, withTime } from './moment.js';
import { liveApi, session } from './session.js';
import type { VersionTime } from './writes-in.js';

/** Whether the slider is shown. */
export const isOpen = signal(false);
/** How far the past reaches back, and when which version was the newest; undefined while it is not known. */
export const past = signal<readonly VersionTime[] | undefined>(undefined);
/** Why there is no past to show, or why a moment can't be shown. */
export const pastProblem = signal('');

interface Times {
  readonly times: readonly { readonly time: string; readonly resourceVersion: string }[];
}

/** Reads how far the past reaches back. */
export async function readPast(signal?: AbortSignal): Promise<void> {
  try {
    const { times } = await liveApi.json<Times>('/history/times', signal === undefined ? {} : { signal });
    past.value = times.map(({ time, resourceVersion }) => ({
      time: Date.parse(time),
      version: Number(resourceVersion),
    }));
    if (moment.value === undefined && sought.value === undefined) pastProblem.value = '';
  } catch (error) {
    if (signal?.aborted === true) return;
    pastProblem.value = problemText(error);
  }
}

/** Asks for another moment; it is shown once its version is known. */
export function visit(time: number): void {
  sought.value = time;
  history.replaceState(null, '', withTime(location.hash, time));
}

/** Shows the present again. */
export function leavePast(): void {
  sought.value = undefined;
  moment.value = undefined;
  pastProblem.value = '';
  history.replaceState(null, '', withTime(location.hash, undefined));
}

// Also serves addresses with a time in them: a user who opens one sees what it means.
effect(() => {
  const time = sought.value;
  if (time === undefined || !session.value) return;
  isOpen.value = true;
  const stop = new AbortController();
  const at = encodeURIComponent(new Date(time).toISOString());
  liveApi.json<{ readonly resourceVersion: string }>(`/history/version?at=${at}`, { signal: stop.signal }).then(
    ({ resourceVersion }) => {
      moment.value = { time, version: resourceVersion };
      pastProblem.value = '';
      sought.value = undefined;
    },
    (error: unknown) => {
      if (stop.signal.aborted) return;
      const before = moment.peek();
      pastProblem.value = problemText(error);
      sought.value = undefined;
      history.replaceState(null, '', withTime(location.hash, before?.time));
    },
  );
  return () => stop.abort();
});

function problemText(error: unknown): string {
  const { message } = error as Error;
  if (!(error instanceof ApiFault)) return message;
  if (error.code === 403) {
    return 'You may not look into the past: that needs the verb get on the non-resource URLs /history/version and /history/times.';
  }
  if (error.code === 404) return 'This server can’t be asked about its past.';
  return message.replace(/^at: /, '');
}
