import type { Signal } from '@preact/signals';

/** What happens to the dependents of an object that is deleted. */
const propagations = [
  ['Background', 'then what depends on it (Background)'],
  ['Foreground', 'after what depends on it (Foreground)'],
  ['Orphan', 'and leave what depends on it (Orphan)'],
] as const;

/** Chooses what happens to the dependents. */
export function PropagationChoice({ what, way }: { readonly what: string; readonly way: Signal<string> }) {
  return (
    <label>
      Delete {what}{' '}
      <select
        value={way.value}
        onChange={(event) => {
          way.value = event.currentTarget.value;
        }}
      >
        {propagations.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
