/**
 * Replaces references `$(NAME)` by values. `$$` stands for one `$`, so that `$$(NAME)` is not replaced; references without a
 * value stay as they are written.
 */
export function expand(text: string, lookUp: (name: string) => string | undefined): string {
  let expanded = '';
  let at = 0;
  for (;;) {
    const dollar = text.indexOf('$', at);
    if (dollar < 0 || dollar + 1 >= text.length) return expanded + text.slice(at);
    expanded += text.slice(at, dollar);
    const next = text[dollar + 1];
    if (next === '(') {
      const end = text.indexOf(')', dollar + 2);
      if (end < 0) {
        expanded += '$(';
        at = dollar + 2;
        continue;
      }
      const reference = text.slice(dollar, end + 1);
      expanded += lookUp(text.slice(dollar + 2, end)) ?? reference;
      at = end + 1;
    } else {
      expanded += next === '$' ? '$' : `$${next}`;
      at = dollar + 2;
    }
  }
}
