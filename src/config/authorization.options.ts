import { Flag } from './flag.js';
import { Check } from './validators.js';

/** The ways to decide whether a request may go on. */
export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'RBAC'] as const;

export type AuthorizationMode = (typeof authorizationModes)[number];

function modesProblem(values: readonly string[]): string | undefined {
  if (values.length === 0) return `needs at least one of ${authorizationModes.join(', ')}`;
  const unknown = values.filter((value) => !authorizationModes.some((mode) => mode === value));
  if (unknown.length > 0) return `has no mode ${unknown.join(', ')}; there are ${authorizationModes.join(', ')}`;
  return new Set(values).size === values.length ? undefined : 'names a mode twice';
}

/** What a request may do. */
export class AuthorizationOptions {
  @Flag({
    name: 'authorization-mode',
    type: 'list',
    unit: 'modes',
    usage: `Ordered list of ${authorizationModes.join(', ')}; the first that decides counts.`,
  })
  @Check('modes', modesProblem)
  readonly authorizationMode: readonly AuthorizationMode[] = ['AlwaysAllow'];
}
