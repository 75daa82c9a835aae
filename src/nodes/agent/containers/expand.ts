import { StartSize } from './start-size.js';

/**
 * Replaces references `$(NAME)` by values. `$$` stands for one `$`, so that `$$(NAME)` is not replaced; references without a
 * value stay as they are written.
 *
 * @param size to which the values are added
 * @throws ContainerConfigError if that becomes too large
 */
export function expand(
  text: string,
  lookUp: (name: string) => string | undefined,
  size: StartSize = new StartSize(),
): string {
  let expanded = '';
  let at = 0;
  // A text may have very many references without an end.
  const lastEnd = text.lastIndexOf(')');
  for (;;) {
    const dollar = text.indexOf('$', at);
    if (dollar < 0 || dollar + 1 >= text.length) return expanded + text.slice(at);
    expanded += text.slice(at, dollar);
    const next = text[dollar + 1];
    if (next === '(') {
      if (lastEnd < dollar) {
        expanded += '$(';
        at = dollar + 2;
        continue;
      }
      const end = text.indexOf(')', dollar + 2);
      const value = lookUp(text.slice(dollar + 2, end)) ?? text.slice(dollar, end + 1);
      size.add(value);
      expanded += value;
      at = end + 1;
    } else {
      expanded += next === '$' ? '$' : `$${next}`;
      at = dollar + 2;
    }
  }
}
