/** The longest text that a page shows in one place, in letters. */
const mostLetters = 100_000;
/** Shorter texts are shown as they are: nothing in them can hold up the page. */
const fewLetters = 1000;
/** More marks than this on one letter are left out: a browser needs minutes for a letter with a million. */
const manyMarks = /(\p{M}{32})\p{M}+/gu;

/**
 * A text as a page shows it. Whoever may write an object decides about the texts in it, and a browser lays each out at once: so very
 * long ones are cut, and say so.
 */
export function boundedText(text: string, most = mostLetters): string {
  if (text.length <= fewLetters && text.length <= most) return text;
  const shown = text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more letters)`;
  return shown.replace(manyMarks, '$1…');
}
