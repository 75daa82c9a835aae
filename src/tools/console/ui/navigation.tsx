import { signal } from '@preact/signals';
import { moment, sought, timeIn, withTime } from './moment.js';
import { formatRoute, parseRoute, type Route } from './routes.js';

export const route = signal<Route>(parseRoute(location.hash));
sought.value = timeIn(location.hash);

let steps = 0;

addEventListener('hashchange', () => {
  steps++;
  arrive();
});

/** Shows what the address names. An address without a time stays in the moment that is shown. */
function arrive(): void {
  route.value = parseRoute(location.hash);
  const time = timeIn(location.hash);
  const shown = sought.value ?? moment.value?.time;
  if (time === shown) return;
  if (time === undefined) history.replaceState(null, '', withTime(location.hash, shown));
  else sought.value = time;
}

export function go(to: Route): void {
  open(formatRoute(to));
}

/**
 * Opens an address of the page. The page that it names is shown at once: the browser's event comes later, and keys may
 * be pressed before it.
 */
export function open(address: string): void {
  location.hash = address;
  arrive();
}

/** Goes back to what was shown before, but never off the page. */
export function back(): void {
  if (steps > 0) {
    // The step back itself is counted as a step, too.
    steps -= 2;
    history.back();
  } else if (route.value.page !== 'home') go({ page: 'home' });
}

/** Changes the address without a step to go back to. */
export function adjust(to: Route): void {
  history.replaceState(null, '', withTime(formatRoute(to), sought.value ?? moment.value?.time));
  route.value = to;
}

/** The namespace that was chosen last, for pages that are opened without one. */
export const chosenNamespace = signal('');
