import { signal } from '@preact/signals';

export const helpShown = signal(false);

export function showHelp(isShown: boolean): void {
  helpShown.value = isShown;
}
