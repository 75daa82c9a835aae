import { OptionsError } from '../../../base/config/options-error.js';

/** Variables in the form that systemd and `node --env-file` read alike. @throws OptionsError for a value that neither could read */
export function formatEnvironment(variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, value]) => {
    // Quoted this way nothing in between has a meaning.
    if (/['\n\r]/.test(value))
      throw new OptionsError([`${name} must have no quote and no line break: write %27 for a quote`]);
    return `${name}='${value}'\n`;
  });
  return lines.join('');
}

/** The variables in a text of {@link formatEnvironment}. */
export function parseEnvironment(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').flatMap((line) => {
    const [, name, value] = /^(\w+)='([^']*)'$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(lines);
}
