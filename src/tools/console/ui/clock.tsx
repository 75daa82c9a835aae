import { signal } from '@preact/signals';

/** The time, once a second, for ages; it stands still while the tab is hidden. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
