/** The description of the items of a list: `List of network policies.` */
export function listDoc(itemKind: string): string {
  const words = itemKind
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(' ')
    .map((word) => (/^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()));
  return `List of ${pluralOf(words.join(' '))}.`;
}

function pluralOf(words: string): string {
  if (/(ss|us|x|ch)$/.test(words)) return `${words}es`;
  if (words.endsWith('s')) return words;
  return /[^aeiou]y$/.test(words) ? `${words.slice(0, -1)}ies` : `${words}s`;
}
