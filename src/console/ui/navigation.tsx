import { signal } from '@preact/signals';
import { formatRoute, parseRoute, type Route } from './routes.js';

export const route = signal<Route>(parseRoute(location.hash));

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash);
});

export function go(to: Route): void {
  location.hash = formatRoute(to);
}

/** Changes the address without a step to go back to. */
export function adjust(to: Route): void {
  history.replaceState(null, '', formatRoute(to));
  route.value = to;
}

/** The namespace that was chosen last, for pages that are opened without one. */
export const chosenNamespace = signal('');
