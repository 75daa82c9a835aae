import { endOfValue } from './skim.js';

/** How many texts are remembered, and up to which length, in characters. */
const mostTexts = 16;
const longestText = 16 * 1024;

/**
 * Finds the text of objects within JSON. Where one of the last texts stands it is found by comparing: the text of an object
 * ends with its last brace, so nothing longer can begin with it.
 */
export class RecentTexts {
  /** The last used first. */
  private readonly texts: string[] = [];

  /** The text of the object that begins at `start`, in JSON as JSON.stringify writes it. */
  at(json: string, start: number): string {
    const { texts } = this;
    for (let i = 0; i < texts.length; i++) {
      const text = texts[i] as string;
      if (json.slice(start, start + text.length) !== text) continue;
      if (i > 0) {
        texts.splice(i, 1);
        texts.unshift(text);
      }
      return text;
    }
    const text = json.slice(start, endOfValue(json, start));
    if (text.length > longestText) return text;
    // A copy: a slice would keep all of the JSON in memory.
    texts.unshift(JSON.parse(JSON.stringify(text)));
    if (texts.length > mostTexts) texts.pop();
    return text;
  }
}
