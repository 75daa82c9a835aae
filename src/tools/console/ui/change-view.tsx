import { ScrolledText } from './scrolled-text.js';
import { type Change, fieldText } from './timeline-fold.js';
import { toYaml } from './yaml-text.js';

/** The change of one field. */
export function ChangeView({ change: { op, path, from, to } }: { readonly change: Change }) {
  return (
    <figure class="diff" aria-label={`${op} ${path}`}>
      <figcaption>{fieldText(path) || 'the whole object'}</figcaption>
      <ScrolledText>
        {op !== 'add' && <span class="removed">- {valueText(from)}</span>}
        {op !== 'remove' && <span class="added">+ {valueText(to)}</span>}
      </ScrolledText>
    </figure>
  );
}

function valueText(value: unknown): string {
  return typeof value === 'object' && value !== null ? toYaml(value).trimEnd() : (JSON.stringify(value) ?? '');
}
