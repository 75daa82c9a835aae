import { type DiffLine, textDiff } from './diff-lines.js';
import { ScrolledText } from './scrolled-text.js';

const classes: Readonly<Record<DiffLine['mark'], string>> = { '+': 'added', '-': 'removed', ' ': '', '…': 'quiet' };

export function DiffView({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  const lines = textDiff(before, after);
  if (lines.length === 0) return <p class="quiet">Nothing changes.</p>;
  return (
    <figure class="diff" aria-label={label}>
      <ScrolledText>
        {lines.map(({ mark, text }, index) => (
          <span key={`${index} ${mark}`} class={classes[mark]}>
            {mark} {text}
            {'\n'}
          </span>
        ))}
      </ScrolledText>
    </figure>
  );
}
