import { computed, signal } from '@preact/signals';
import { moment } from './moment.js';

/** The time, once a second; it stands still while the tab is hidden. */
export const realNow = signal(Date.now());

/** The time that ages are counted up to: that of the moment that the page shows. */
export const now = computed(() => moment.value?.time ?? realNow.value);

setInterval(() => {
  if (!document.hidden) realNow.value = Date.now();
}, 1000);
