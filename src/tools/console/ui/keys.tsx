/** A key and what it does where it is registered. */
export interface KeyBinding {
  readonly keys: readonly string[];
  readonly run: () => void;
}

const layers: (readonly KeyBinding[])[] = [];

/**
 * Adds keys; those added last win. Returns the function that removes them. To be called in a layout effect: drawn
 * elements have their keys, and removed elements have none.
 */
export function bindKeys(bindings: readonly KeyBinding[]): () => void {
  layers.push(bindings);
  return () => {
    layers.splice(layers.indexOf(bindings), 1);
  };
}

function isTyping(target: EventTarget | undefined): target is HTMLElement {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}

addEventListener('keydown', (event) => {
  // An editor has used the key, such as Escape for its offers.
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (document.querySelector('dialog[open]') !== null) return;
  // Outside of a shadow tree, the target of an event is the element that holds the tree.
  const [target] = event.composedPath();
  if (isTyping(target)) {
    if (event.key === 'Escape') target.blur();
    return;
  }
  // Enter and space belong to the focused button or link.
  const isOnControl = target instanceof HTMLButtonElement || target instanceof HTMLAnchorElement;
  if (isOnControl && (event.key === 'Enter' || event.key === ' ')) return;
  for (const layer of layers.toReversed()) {
    const binding = layer.find(({ keys }) => keys.includes(event.key));
    if (binding === undefined) continue;
    event.preventDefault();
    binding.run();
    return;
  }
});

export const keyHelp: readonly (readonly [keys: string, what: string])[] = [
  ['j, k or ↓, ↑', 'next, previous row'],
  ['g, G', 'first, last row'],
  ['Enter', 'open the row'],
  ['Space', 'select the row'],
  ['/', 'find in the table'],
  ['l, f', 'select by labels, by fields'],
  ['n', 'choose the namespace'],
  [':', 'go to a kind'],
  ['F', 'find objects of all kinds'],
  ['i, y, e, o, h, w', 'of an object: summary, YAML, events, relations, timeline, access'],
  ['L, x', 'of a pod or workload: logs; of a pod: terminal'],
  ['E', 'edit the object'],
  ['D', 'delete the object'],
  ['c', 'create objects from YAML'],
  ['s, m', 'the server, the map of the namespace'],
  ['T', 'the time machine'],
  ['t', 'light or dark'],
  ['Esc', 'leave a field, or go back'],
  ['?', 'this help'],
];
